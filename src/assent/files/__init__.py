"""Bytes to nouns and back: the only place that opens data files."""
