"""`python -m assent.cli`."""

from assent.cli import main

main()
