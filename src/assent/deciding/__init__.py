"""From scores on valid to a decider: thresholds, a promise, probabilities, or a judge."""
