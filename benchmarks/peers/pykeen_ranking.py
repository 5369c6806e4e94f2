"""Run by PyKEEN's own environment: how many answers a second its evaluator ranks.

python pykeen_ranking.py WEIGHTS.npz MODEL SECONDS

Ranks as many of the facts as it can in so many seconds, with the batch that suits it best.
"""

import json
import logging
import sys
import time
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

import numpy as np  # noqa: E402
import torch  # noqa: E402
from pykeen.evaluation import RankBasedEvaluator  # noqa: E402
from pykeen.models import Model, model_resolver  # noqa: E402
from pykeen.triples import CoreTriplesFactory  # noqa: E402

METRICS = ["inverse_harmonic_mean_rank", "arithmetic_mean_rank", "median_rank"]
BATCHES = (8, 32, 64, 128)
TRIED = 128  # facts that each batch is tried on: the largest batch is filled


def main() -> None:
    path, name, seconds = sys.argv[1:]
    torch.set_num_threads(2)
    given = {key: torch.from_numpy(values) for key, values in np.load(path).items()}
    train, test = given["train"].long(), given["test"].long()
    model = of_weights(name, given["entities"], given["relations"], train)
    rank(model, test[:TRIED], train, BATCHES[0])  # warms up
    tried = {batch: rank(model, test[:TRIED], train, batch)[0] for batch in BATCHES}
    best = min(tried, key=lambda batch: tried[batch])
    count = min(len(test), int(TRIED * float(seconds) / tried[best]))
    took, mean = rank(model, test[:count], train, best)
    print(json.dumps({"facts": count, "seconds": took, "mean_rank": mean, "batch": best}))


def of_weights(
    name: str, entities: torch.Tensor, relations: torch.Tensor, train: torch.Tensor
) -> Model:
    """The model with these numbers; complex ones where the model has them."""
    factory = CoreTriplesFactory.create(
        train, num_entities=len(entities), num_relations=len(relations)
    )
    model = model_resolver.make(
        name, triples_factory=factory, embedding_dim=entities.shape[1], random_seed=0
    )
    for table, weights in (
        (model.entity_representations[0], entities),
        (model.relation_representations[0], relations),
    ):
        real = torch.view_as_real(weights).flatten(1) if weights.is_complex() else weights
        with torch.no_grad():
            own = next(iter(table.parameters()))
            own.copy_(real.reshape(own.shape))
    return model


def rank(model: Model, facts: torch.Tensor, train: torch.Tensor, batch: int) -> tuple[float, float]:
    """Seconds, and the filtered mean rank of both sides."""
    evaluator = RankBasedEvaluator(metrics=METRICS, add_defaults=False)
    start = time.perf_counter()
    found = evaluator.evaluate(
        model, facts, batch_size=batch, use_tqdm=False, additional_filter_triples=[train]
    )
    seconds = time.perf_counter() - start
    return seconds, float(found.get_metric("both.realistic.arithmetic_mean_rank"))


if __name__ == "__main__":
    main()
