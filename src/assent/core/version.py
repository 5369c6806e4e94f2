"""The version of assent, which stands in every file that it writes."""

__version__ = "0.1.0"
