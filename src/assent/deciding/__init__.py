"""From scores on valid to decisions: where to draw the line."""
