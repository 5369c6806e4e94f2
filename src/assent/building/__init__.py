"""From a knowledge base to a benchmark of queries, and the audit of such a benchmark."""
