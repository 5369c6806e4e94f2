"""How well rules alone rank the facts of a graph's own test split: filtered MRR and Hits@k.

    python benchmarks/ranking_rules.py [GRAPH] [--facts N] [--split valid] [--discount D]

GRAPH (fb15k-237, wn18rr, codex-s, or a folder) comes with train, valid and test. Rules are mined
from train; each test fact is asked for from both ends; all known facts are left out of the ranking,
and an answer stands in the middle of those that score the same. `--facts` draws so many test facts.
"""

import argparse
import time

import numpy as np
import torch

import assent
from assent.core.facts import Split
from assent.core.pairs import joined
from assent.core.queries import Queries, both_ways
from assent.core.scores import collect
from assent.measuring.ranking import HITS, Standings
from assent.rules.model import RuleModel, RuleSettings
from assent.scoring import score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", nargs="?", default="fb15k-237")
    parser.add_argument("--facts", type=int, default=0)
    parser.add_argument("--split", choices=("valid", "test"), default="test")
    parser.add_argument("--discount", type=float, default=RuleSettings().discount)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    graph = assent.read(options.graph)
    names = graph.vocabulary
    sizes = names.num_entities, names.num_relations

    def grouped(facts: np.ndarray) -> Queries:
        return Queries.grouped(*both_ways(facts, names.num_relations))

    train, valid = (graph.facts[graph.splits == split] for split in (Split.TRAIN, Split.VALID))
    asked = graph.facts[graph.splits == Split[options.split.upper()]]
    if options.facts:
        drawn = np.random.default_rng(0).permutation(len(asked))[: options.facts]
        asked = asked[np.sort(drawn)]
    direct = not joined(train, grouped(valid), names.num_entities).held_out
    model = RuleModel(*sizes, RuleSettings(discount=options.discount))
    start = time.process_time()
    model.learn(train, direct)
    mined = time.process_time()
    queries = grouped(asked)
    standings = Standings(queries, grouped(graph.facts), names.num_entities)
    collect(score(model, queries, grouped(train)), standings)
    scored = time.process_time()
    ranks = standings.filtered().realistic()
    hits = ", ".join(f"Hits@{k} {(ranks <= k).mean():.4f}" for k in HITS)
    print(f"{options.graph}: {len(asked):,} {options.split} facts from both ends, direct {direct}")
    print(f"  MRR {(1 / ranks).mean():.4f}, {hits}")
    print(
        f"  processor time: mining {mined - start:.0f} s, "
        f"{len(queries):,} queries {scored - mined:.0f} s"
    )


if __name__ == "__main__":
    main()
