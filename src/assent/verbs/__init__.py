"""What users say, one file a verb: the same word is the Python function and the command.

Only verbs join stages; `runs.py` and `deciders.py` hold what several of them share.
"""
