"""Knowledge-base completion that decides."""

__version__ = "0.1.0"
