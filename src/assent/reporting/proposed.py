"""The facts that a run proposes: how many there are, and the surest of each relation."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from assent.core.benchmark import Benchmark
from assent.core.completions import Chain, Names
from assent.files.proposals import Proposal
from assent.reporting.cells import clipped, percent

EACH = 5  # of a relation
MOST = 150  # of all


class Reason(NamedTuple):
    chain: str  # the known facts, in words
    cases: str  # how often that goes with such a fact


class Shown(NamedTuple):
    fact: Names  # as people read it
    probability: float
    expected_precision: float | None
    reasons: Sequence[Reason]


class Proposed(NamedTuple):
    """What a file of proposals comes to."""

    total: int
    likely: float  # of them, those that are right by their own probabilities
    relations: int
    shown: Sequence[Shown]


def proposed(proposals: Iterable[Proposal], benchmarks: Sequence[Benchmark]) -> dict[str, Proposed]:
    """Decision -> what was proposed under it; one pass, and only the surest are kept."""
    counts, likely = Counter[str](), Counter[str]()
    best: dict[tuple[str, str], list[tuple[float, int, Proposal]]] = {}
    for number, proposal in enumerate(proposals):
        counts[proposal.decision] += 1
        likely[proposal.decision] += proposal.probability  # type: ignore[assignment]
        mine = best.setdefault((proposal.decision, proposal.fact[1]), [])
        # The earlier of two equal ones; a proposal itself is never compared.
        heapq.heappush(mine, (proposal.probability, -number, proposal))
        if len(mine) > EACH:
            heapq.heappop(mine)
    named = _labels(benchmarks)
    found = {}
    for decision in sorted(counts):
        kept = [entry for key, mine in best.items() if key[0] == decision for entry in mine]
        surest = heapq.nlargest(MOST, kept)
        found[decision] = Proposed(
            counts[decision],
            float(likely[decision]),
            sum(1 for key in best if key[0] == decision),
            [_shown(proposal, named) for *_, proposal in surest],
        )
    return found


def _labels(benchmarks: Sequence[Benchmark]) -> Callable[[Names], Names]:
    """Names as people read them, where one of the benchmarks has labels for them."""
    entities: dict[str, str] = {}
    relations: dict[str, str] = {}
    for names in (benchmark.vocabulary for benchmark in benchmarks):
        entities |= dict(zip(names.entities, names.entity_labels, strict=False))
        relations |= dict(zip(names.relations, names.relation_labels, strict=False))

    def named(fact: Names) -> Names:
        head, relation, tail = fact
        return (
            clipped(entities.get(head, head)),
            clipped(relations.get(relation, relation)),
            clipped(entities.get(tail, tail)),
        )

    return named


def _shown(proposal: Proposal, named: Callable[[Names], Names]) -> Shown:
    reasons = [_reason(chain, named) for chain in proposal.evidence]
    return Shown(named(proposal.fact), proposal.probability, proposal.expected_precision, reasons)


def _reason(chain: Chain, named: Callable[[Names], Names]) -> Reason:
    facts = ", ".join(" · ".join(named(fact)) for fact in chain.facts)
    share = f" ({percent(chain.support / chain.cases)})" if chain.cases else ""
    return Reason(facts, f"{chain.support:,} of {chain.cases:,} such pairs{share}")
