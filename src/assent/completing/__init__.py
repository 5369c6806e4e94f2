"""Every query that the graph may ask -> new facts, with evidence."""
