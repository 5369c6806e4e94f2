"""Nouns: immutable, checked once when made, numpy only."""
