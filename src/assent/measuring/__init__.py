"""How good scores and decisions are."""
