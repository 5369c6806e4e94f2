"""The paper's experiments again: its models, its tables, our numbers beside its own."""
