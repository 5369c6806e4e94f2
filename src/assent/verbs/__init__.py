"""What users say, one file a verb: the same word is the Python function and the command."""
