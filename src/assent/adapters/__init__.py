"""Scorers that were not trained here."""
