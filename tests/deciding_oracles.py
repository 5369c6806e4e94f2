"""Slow twins of deciding and measuring: loops over queries, each a set and a dictionary.

A decision is a function of relation and score. Counts are (correct, accepted, relevant).
"""

import itertools
import math
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from scipy.stats import beta

from assent.core.scores import ScoreBlock

Accepts = Callable[[int, float], bool]
Counted = tuple[int, int, int]
Value = Callable[[Counted], float]


class Asked(NamedTuple):
    """A query."""

    anchor: int
    relation: int
    letter: str  # C, I, N or F
    answers: set[int]
    scores: dict[int, float]  # of every candidate


def asked(made: Iterable[ScoreBlock]) -> list[Asked]:
    """The queries of all blocks."""
    found = []
    for part in made:
        for row, scores in enumerate(part.scores.tolist()):
            start, end = part.queries.offsets[row : row + 2]
            answers = set(part.queries.answers[start:end].tolist())
            letter = "CIF"[part.queries.subsets[row]]
            found.append(
                Asked(
                    int(part.queries.anchors[row]),
                    int(part.queries.relations[row]),
                    "N" if letter == "I" and not answers else letter,
                    answers,
                    {e: score for e, score in enumerate(scores) if score > -math.inf},
                )
            )
    return found


def by_relation(queries: Iterable[Asked]) -> dict[int, list[Asked]]:
    groups = defaultdict(list)
    for query in queries:
        groups[query.relation].append(query)
    return dict(groups)


def scores_in(queries: Iterable[Asked]) -> list[float]:
    """All scores, the highest first."""
    return sorted((score for query in queries for score in query.scores.values()), reverse=True)


# Counting


def above(thresholds: Sequence[float]) -> Accepts:
    """A threshold for each relation: what scores strictly higher is accepted."""
    return lambda relation, score: score > thresholds[relation]


def accepted(query: Asked, accepts: Accepts) -> set[int]:
    return {e for e, score in query.scores.items() if accepts(query.relation, score)}


def count(queries: Iterable[Asked], accepts: Accepts) -> Counted:
    correct = taken = relevant = 0
    for query in queries:
        mine = accepted(query, accepts)
        correct += len(mine & query.answers)
        taken += len(mine)
        relevant += len(query.answers)
    return correct, taken, relevant


def f_beta(beta: float = 1.0) -> Value:
    def value(counted: Counted) -> float:
        correct, taken, relevant = counted
        whole = taken + beta**2 * relevant
        return (1 + beta**2) * correct / whole if whole else 0.0

    return value


def at_least(metric: str, share: float) -> Value:
    """-inf where the share is not reached."""

    def value(counted: Counted) -> float:
        correct, taken, relevant = counted
        precision = correct / taken if taken else math.nan
        recall = correct / relevant if relevant else math.nan
        reached, wanted = (precision, recall) if metric == "precision" else (recall, precision)
        return wanted if reached >= share else -math.inf

    return value


# Which candidates are kept


def rising(score: float) -> int:
    """The bits of a float32 as a number that rises with it."""
    (bits,) = struct.unpack(">I", struct.pack(">f", score or 0.0))
    return bits + 2**31 if bits < 2**31 else 2**32 - 1 - bits


def floor(queries: Iterable[Asked], most: int) -> float:
    """What a candidate must exceed to be one of fewer than `most`: the last of the highest."""
    highest = scores_in(queries)
    return highest[most - 1] if len(highest) >= most else -math.inf


def floors(queries: Sequence[Asked], num_slots: int, per_answer: int, fewest: int) -> list[float]:
    """The floor of each slot: its own or that of all slots, whichever is lower."""
    answers = sum(len(query.answers) for query in queries)
    of_all = floor(queries, max(per_answer * answers, fewest))
    found = []
    for slot in range(num_slots):
        mine = by_relation(queries).get(slot, [])
        most = per_answer * sum(len(query.answers) for query in mine)
        found.append(min(floor(mine, most) if most else math.inf, of_all))
    return found


# The best decisions, by trying all


def cuts(queries: Iterable[Asked]) -> list[float]:
    """Every decision there is for one threshold, as the lowest score that is accepted."""
    return [math.inf, *sorted(set(scores_in(queries)), reverse=True)]


def best_single(queries: Sequence[Asked], value: Value) -> tuple[float, Counted]:
    """The highest value, and the decision that accepts least for it."""
    tried = [count(queries, lambda _, score, cut=cut: score >= cut) for cut in cuts(queries)]
    best = max(map(value, tried))
    return best, next(counted for counted in tried if value(counted) == best)


def best_together(queries: Sequence[Asked], value: Value) -> float:
    """The highest value of all combinations of a threshold for each relation."""
    tried = [
        {count(mine, lambda _, score, cut=cut: score >= cut) for cut in cuts(mine)}
        for mine in by_relation(queries).values()
    ]
    return max(value(total(combination)) for combination in itertools.product(*tried))


def shrunk(queries: Sequence[Asked], beta: float, shrink: float) -> dict[int, float]:
    """The lowest score that each relation accepts, when it is lent the decisions of all.

    Dinkelbach's turns, each relation trying every score there is. Of equal ones the highest.
    """
    relevant = sum(len(query.answers) for query in queries)

    def gain(some: Sequence[Asked], cut: float) -> float:
        correct, taken, _ = count(some, lambda _, score: score >= cut)
        return (1 + beta**2) * correct - level * taken

    def best(mine: Sequence[Asked]) -> float:
        tried = [
            gain(mine, cut) + shrink * gain(queries, cut) / max(relevant, 1)
            for cut in cuts(queries)
        ]
        return cuts(queries)[tried.index(max(tried))]

    level = 0.0
    while True:
        chosen = {relation: best(mine) for relation, mine in by_relation(queries).items()}
        counted = count(queries, lambda relation, score, chosen=chosen: score >= chosen[relation])
        if (reached := f_beta(beta)(counted)) <= level:
            return chosen
        level = reached


def total(counts: Iterable[Counted]) -> Counted:
    return tuple(map(sum, zip(*counts, strict=True)))


# Appendix B.1


def sigmoid(score: float) -> float:
    return 1 / (1 + math.exp(-score))


def evaluate(queries: Sequence[Asked], tau: dict[int, float]) -> float:
    """F1 from scratch."""
    counted = count(queries, lambda relation, score: sigmoid(score) > tau[relation])
    return f_beta()(counted)


def paper_global(queries: Sequence[Asked], num_slots: int) -> dict[int, float]:
    best, chosen = 0.0, 0.5
    for step in range(11):
        reached = evaluate(queries, dict.fromkeys(range(num_slots), step / 10))
        if reached > best:
            best, chosen = reached, step / 10
    return dict.fromkeys(range(num_slots), chosen)


def paper_relation(queries: Sequence[Asked], num_slots: int) -> dict[int, float]:
    """Word for word."""
    frequency = {slot: len(by_relation(queries).get(slot, [])) for slot in range(num_slots)}
    tau = dict.fromkeys(range(num_slots), 0.5)
    f1 = 0.0
    i = 0
    while i < 2:
        for r in sorted(range(num_slots), key=lambda slot: -frequency[slot]):
            for t in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1):
                reached = evaluate(queries, {**tau, r: t})
                if reached > f1:
                    f1 = reached
                    tau[r] = t
        i = i + 1
    return tau


# Measures


def standing(query: Asked, answer: int, rivals: Iterable[int]) -> tuple[int, int]:
    """How many of these entities and the answer itself score higher than it, and the same.

    What is no candidate stands behind all that are, beside whatever else is none.
    """
    mine = query.scores.get(answer, -math.inf)
    others = [query.scores.get(e, -math.inf) for e in set(rivals) - {answer}]
    return sum(score > mine for score in others), 1 + sum(score == mine for score in others)


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float:
    won = sum((p > n) + (p == n) / 2 for p in positives for n in negatives)
    pairs = len(positives) * len(negatives)
    return won / pairs if pairs else math.nan


def average_precision(positives: Sequence[float], negatives: Sequence[float]) -> float:
    def precision_at(line: float) -> float:
        right, wrong = (sum(s >= line for s in side) for side in (positives, negatives))
        return right / (right + wrong)

    return mean([precision_at(score) for score in positives])


def mean(values: Sequence[float]) -> float:
    """Of those that are defined."""
    defined = [value for value in values if not math.isnan(value)]
    return sum(defined) / len(defined) if defined else math.nan


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


# Promises


def binomial_tail(correct: float, count: float, share: float) -> float:
    """How likely so many or more are right: a plain sum where the numbers are whole."""
    if not correct:
        return 1.0
    if float(count).is_integer() and float(correct).is_integer():
        whole = int(count)
        return sum(
            math.comb(whole, k) * share**k * (1 - share) ** (whole - k)
            for k in range(int(correct), whole + 1)
        )
    return float(beta.cdf(share, correct, count - correct + 1))


def worth(candidates: Sequence[tuple[float, bool, int]]) -> float:
    """Independent candidates that these are worth, if those of a query are right together."""
    sizes = Counter(row for _, _, row in candidates)
    return len(candidates) ** 2 / sum(size**2 for size in sizes.values())


def most_kept(candidates: Sequence[tuple[float, bool, int]], share: float, failure: float) -> int:
    """Candidates are (score, right, query)."""
    ranked = sorted(candidates, key=lambda candidate: -candidate[0])
    fewest = next(n for n in itertools.count(1) if share**n <= 0.3 * failure)
    ends = sorted({sum(other >= score for other, _, _ in ranked) for score, _, _ in ranked})
    start = next((end for end in ends if worth(ranked[:end]) >= fewest), math.inf)
    counts: list[int] = []
    for step in itertools.count():
        if start * 1.3**step > len(ranked):
            break
        count = next(end for end in ends if end >= start * 1.3**step)
        counts += [count] if count not in counts else []
    most, level = 0, 0.0
    for step, count in enumerate(counts):
        level += failure * 0.3 * 0.7**step
        taken = ranked[:count]
        correct = sum(right for _, right, _ in taken)
        if binomial_tail(correct * worth(taken) / count, worth(taken), share) <= level:
            most = count
        else:
            level = 0.0
    return most


def promised(
    queries: Sequence[Asked], num_slots: int, share: float, failure: float
) -> list[set[tuple[int, int]]]:
    """What each slot accepts: query and entity."""
    fewest = next(n for n in itertools.count(1) if share**n <= 0.3 * failure)
    slots = {slot: mine for slot, mine in by_relation(queries).items() if len(mine) >= fewest}
    groups = [{slot} for slot in slots]
    groups.append(set(by_relation(queries)) - set(slots))
    found: list[set[tuple[int, int]]] = [set() for _ in range(num_slots)]
    for group in groups:
        mine = [(place, query) for place, query in enumerate(queries) if query.relation in group]
        candidates = [
            (score, entity in query.answers, place)
            for place, query in mine
            for entity, score in query.scores.items()
        ]
        most = most_kept(candidates, share, failure)
        if most:
            lowest = sorted((score for score, _, _ in candidates), reverse=True)[most - 1]
            for place, query in mine:
                taken = {(place, e) for e, score in query.scores.items() if score >= lowest}
                found[query.relation] |= taken
    return found
