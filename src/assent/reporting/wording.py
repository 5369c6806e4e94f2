"""What became of a run, in a few sentences."""

from collections.abc import Sequence

from assent.core.counts import precision, recall
from assent.core.queries import SETS
from assent.measuring.classification import compared
from assent.reporting.cells import percent
from assent.reporting.results import difference_lines
from assent.reporting.subject import Subject

RULES = {
    "global": "one threshold for all relations",
    "per-relation": "a threshold for each relation",
    "paper-global": "one threshold, from the paper's grid",
    "paper-relation": "a threshold for each relation, by the paper's search",
    "precision": "thresholds that promise a precision",
    "judge": "a learned judge",
}


def decided_by(subject: Subject) -> str:
    rule = subject.found.rule
    return RULES.get(rule, rule)


def summary(subject: Subject) -> list[str]:
    """What it accepts, how much of that is right, and what it leaves empty."""
    found = subject.found
    counts, asked = found.classified.of("full"), len(found.queries)
    if not counts.accepted:
        return [f"Asked {asked:,} questions, it accepts nothing."]
    sentences = [
        f"Asked {asked:,} questions, it accepts {counts.accepted:,} facts; "
        f"{percent(precision(counts))} of them are right."
    ]
    if counts.relevant:
        sentences.append(
            f"It finds {percent(recall(counts))} of the {counts.relevant:,} answers "
            "that are there to find."
        )
    return [*sentences, *_left_empty(subject)]


def _left_empty(subject: Subject) -> list[str]:
    found = subject.found
    kinds = {"N": "questions that lost all answers", "F": "nonsensical ones"}
    parts = [
        f"{percent(found.classified.left_empty(name))} of the {words}"
        for name, words in kinds.items()
        if SETS[name](found.queries).any()
    ]
    return [f"It leaves {' and '.join(parts)} empty."] if parts else []


def differences(subjects: Sequence[Subject]) -> list[str]:
    """F1 of each of these runs of one benchmark beside the first; with intervals."""
    first, *others = subjects
    lines = []
    for other in others:
        pair = (first.found.classified, other.found.classified)
        (line,) = difference_lines({"full": compared(*pair)})
        lines.append(f"{other.name} beside {first.name}, {line}")
    return lines
