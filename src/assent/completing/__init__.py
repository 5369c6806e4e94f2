"""From a model and a decider to new facts: every question the graph may ask, decided."""
