"""`python -m assent.cli`."""

from assent.__main__ import main

main()
