"""Decision rules by name and in words, known without loading them: help shows them at once."""

import sys

RULE_NAMES = {
    "global": "one threshold for all relations",
    "per-relation": "a threshold for each relation",
    "precision": "thresholds that promise a precision",
    "paper-global": "one threshold, from the paper's grid",
    "paper-relation": "a threshold for each relation, by the paper's search",
    "judge": "trees that learned to decide",
}


def rule_names() -> tuple[str, ...]:
    """The rules there are: those of this file, and those that anyone added to `RULES` since."""
    loaded = sys.modules.get("assent.deciding.rules")
    return tuple(loaded.RULES if loaded else RULE_NAMES)


def rule_name(rule: str) -> str:
    """A decision rule in words."""
    return RULE_NAMES.get(rule, rule)


def rules_in_words() -> list[str]:
    """Every decision rule, with what it finds."""
    return [f"{rule} ({rule_name(rule)})" if rule in RULE_NAMES else rule for rule in rule_names()]
