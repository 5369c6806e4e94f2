"""Rules of the graph: mined from its facts, applied to candidates, told as evidence."""
