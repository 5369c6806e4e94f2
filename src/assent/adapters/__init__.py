"""Scorers that were not trained here: popularity, a function, a PyKEEN model, files of scores."""
