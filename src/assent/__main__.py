"""`python -m assent`."""

from assent.cli import main

main()
