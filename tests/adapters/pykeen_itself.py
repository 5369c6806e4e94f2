"""Run by an environment that has PyKEEN: trains tiny models, ranks with PyKEEN's own evaluator.

python pykeen_itself.py FOLDER

Reads FOLDER/graph.json. For each model writes what PyKEEN scores (under its own ids), what our
adapter makes of it (under ours), and PyKEEN's metrics.
"""

import json
import logging
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

import numpy as np  # noqa: E402
import torch  # noqa: E402
from pykeen.evaluation import RankBasedEvaluator  # noqa: E402
from pykeen.models import model_resolver  # noqa: E402
from pykeen.training import SLCWATrainingLoop  # noqa: E402
from pykeen.triples import TriplesFactory  # noqa: E402

from assent.adapters import pykeen as adapter  # noqa: E402
from assent.core.benchmark import Benchmark  # noqa: E402
from assent.core.queries import Queries, both_ways  # noqa: E402
from assent.core.vocabulary import Vocabulary  # noqa: E402


def main() -> None:
    folder = Path(sys.argv[1])
    graph = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
    torch.set_num_threads(1)
    for name, inverse in graph["models"]:
        train, test = (factory_of(graph, split, inverse) for split in ("train", "test"))
        model = trained(name, train)
        where = folder / f"{name}-{inverse}"
        np.savez(where.with_suffix(".npz"), **scores(model), ours=adapted(model, train, graph))
        found = RankBasedEvaluator().evaluate(
            model,
            test.mapped_triples,
            additional_filter_triples=[train.mapped_triples],
            batch_size=8,
            use_tqdm=False,
        )
        where.with_suffix(".json").write_text(json.dumps(found.to_dict(), default=float))


def factory_of(graph: dict, split: str, inverse: bool) -> TriplesFactory:
    return TriplesFactory.from_labeled_triples(
        np.array(graph[split]),
        entity_to_id=graph["entity_to_id"],
        relation_to_id=graph["relation_to_id"],
        create_inverse_triples=inverse and split == "train",
    )


def trained(name: str, train: TriplesFactory) -> torch.nn.Module:
    """One epoch; then rounded, so that many candidates score the same."""
    model = model_resolver.make(name, triples_factory=train, embedding_dim=4, random_seed=0)
    optimizer = torch.optim.Adam(model.parameters())
    loop = SLCWATrainingLoop(model=model, triples_factory=train, optimizer=optimizer)
    loop.train(triples_factory=train, num_epochs=1, batch_size=16, use_tqdm=False)
    with torch.no_grad():
        for weights in model.parameters():
            weights.copy_((weights * 2).round() / 2)
    return model


@torch.no_grad()
def scores(model: torch.nn.Module) -> dict[str, np.ndarray]:
    """All (relation, anchor, entity) as PyKEEN itself predicts them, tails and heads."""
    relations = torch.arange(model.num_real_relations).repeat_interleave(model.num_entities)
    anchors = torch.arange(model.num_entities).repeat(model.num_real_relations)
    shape = (model.num_real_relations, model.num_entities, model.num_entities)
    return {
        "tails": model.predict_t(torch.stack([anchors, relations], 1)).reshape(shape).numpy(),
        "heads": model.predict_h(torch.stack([relations, anchors], 1)).reshape(shape).numpy(),
    }


def adapted(model: torch.nn.Module, train: TriplesFactory, graph: dict) -> np.ndarray:
    """The same (slot, anchor, entity) under our ids, through the adapter."""
    names = Vocabulary(tuple(graph["entities"]), tuple(graph["relations"]))
    none = np.empty((0, 3), np.int32)
    nothing = Queries.grouped(*both_ways(none, names.num_relations))
    benchmark = Benchmark(names, none, nothing, nothing, False)
    scorer = adapter.of(model, train, batch=5).on(benchmark)
    slots, anchors = 2 * names.num_relations, names.num_entities
    asked = torch.cartesian_prod(torch.arange(slots), torch.arange(anchors))
    return scorer.scores(asked[:, 1], asked[:, 0]).reshape(slots, anchors, -1).numpy()


if __name__ == "__main__":
    main()
