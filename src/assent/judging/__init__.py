"""A learned decision: what is known of a candidate, and a judge that was trained on valid."""
