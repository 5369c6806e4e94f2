"""Proposals -> a random sample, labels, and the set that may be promised; free of the web."""
