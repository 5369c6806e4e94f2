"""F1 on entities that nobody trained on, beside that on known ones, and beside popularity.

    assent build world --out benchmark
    assent train benchmark --model text --out run
    python benchmarks/new_entities.py run [--seed 0]

`assent evaluate run --split removed` asks the same queries, about the entities that building
removed: `answered` are those that have an answer, `all` are these, and others about the same
anchors that have none (`about_removed` says which). Thresholds are those that `assent tune` finds
on valid, among known entities. Beside them stand the test queries of the benchmark, about known
entities: the `answered` ones, and `all`, a mixture that building made. Popularity scores an entity
by how often it answers the slot in train; it can be asked about a new anchor, but has never seen a
new answer.
"""

import argparse
from dataclasses import replace
from typing import NamedTuple, Self

import assent
from assent.adapters.popularity import Popularity
from assent.building.about_removed import about_removed
from assent.core.arrays import Mask
from assent.core.counts import Counts, f1
from assent.verbs.removed import widened
from assent.verbs.tune import Asked

RULES = ("global", "per-relation")


class Tally(NamedTuple):
    """How many queries were decided about, and how: those with answers, and all of them."""

    answered: int
    asked: int
    of_answered: Counts
    of_all: Counts

    @classmethod
    def of(cls, evaluation: assent.Evaluation, about: Mask) -> Self:
        """Of the queries under this mask (query,)."""
        counts = evaluation.shortlist.counts(evaluation.accepted)
        answered = about & evaluation.queries.has_answers
        total = counts.take(answered).total(), counts.take(about).total()
        return cls(int(answered.sum()), int(about.sum()), *total)

    def line(self, title: str) -> str:
        numbers = "".join(f"{f1(counts):>10.4f}" for counts in (self.of_answered, self.of_all))
        return f"  {title:<24}{self.answered:>9,}{self.asked:>9,}{numbers}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run")
    parser.add_argument("--seed", type=int, default=0, help="of the queries without an answer")
    options = parser.parse_args()
    run = assent.load_run(options.run)
    benchmark, known = run.benchmark, run.benchmark.vocabulary.num_entities
    asked = about_removed(benchmark, options.seed)
    wide = replace(benchmark, vocabulary=asked.vocabulary, removed=None)
    models = {"text": (run.model, widened(run))}
    models["popularity"] = (Popularity(benchmark), Popularity(wide))
    new = asked.vocabulary.num_entities - known
    print(f"{new:,} new entities beside {known:,} known ones; F1")
    for rule in RULES:
        print(f"\n{rule:<26}{'answered':>9}{'all':>9}{'answered':>10}{'all':>10}")
        for name, (model, knows_new) in models.items():
            decider = assent.tune(Asked(benchmark, model), rule)
            print(name)
            of_test = assent.evaluate(Asked(benchmark, model), decider)
            print(Tally.of(of_test, of_test.queries.anchors >= 0).line("known entities, test"))
            of_new = assent.evaluate(Asked(asked, knows_new), decider)
            new_anchor = of_new.queries.anchors >= known
            print(Tally.of(of_new, new_anchor).line("the anchor is new"))
            print(Tally.of(of_new, ~new_anchor).line("the answers are new"))
            print(Tally.of(of_new, new_anchor | ~new_anchor).line("new entities"))


if __name__ == "__main__":
    main()
