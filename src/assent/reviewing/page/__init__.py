"""The page of a review: a small server on this machine, and what a browser shows of it."""
