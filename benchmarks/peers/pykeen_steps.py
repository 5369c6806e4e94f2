"""Run by PyKEEN's own environment: queries a second of LCWA training, and peak memory.

python pykeen_steps.py FACTS.npy NUM_ENTITIES NUM_RELATIONS MODEL DIM BATCH QUERIES
"""

import json
import logging
import resource
import sys
import time
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

import numpy as np  # noqa: E402
import torch  # noqa: E402
from pykeen.models import model_resolver  # noqa: E402
from pykeen.training import LCWATrainingLoop  # noqa: E402
from pykeen.triples import CoreTriplesFactory  # noqa: E402

OPTIONS = {
    "complex": lambda dim: {"embedding_dim": dim // 2},  # complex numbers there
    "conve": lambda dim: {"embedding_dim": dim},
    "transe": lambda dim: {"embedding_dim": dim, "scoring_fct_norm": 1},
    "distmult": lambda dim: {"embedding_dim": dim},
}


def main() -> None:
    path, *numbers = sys.argv[1:]
    num_entities, num_relations = int(numbers[0]), int(numbers[1])
    name, dim, batch, queries = numbers[2], *map(int, numbers[3:])
    torch.set_num_threads(2)
    facts = sample(torch.from_numpy(np.load(path).astype(np.int64)), queries)
    factory = CoreTriplesFactory.create(
        facts,
        num_entities=num_entities,
        num_relations=num_relations,
        create_inverse_triples=True,
    )
    model = model_resolver.make(
        name, triples_factory=factory, random_seed=0, loss="bcewithlogits", **OPTIONS[name](dim)
    )
    optimizer = torch.optim.Adam(model.parameters())
    loop = LCWATrainingLoop(model=model, triples_factory=factory, optimizer=optimizer)
    start = time.perf_counter()
    loop.train(triples_factory=factory, num_epochs=1, batch_size=batch, use_tqdm=False)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({"queries": num_queries(facts), "seconds": seconds, "memory": memory}))


def num_queries(facts: torch.Tensor) -> int:
    """Both directions counted."""
    return len(torch.unique(facts[:, :2], dim=0)) + len(torch.unique(facts[:, 1:], dim=0))


def sample(facts: torch.Tensor, queries: int) -> torch.Tensor:
    """So few facts that they make at most so many queries."""
    order = torch.randperm(len(facts), generator=torch.Generator().manual_seed(0))
    low, high = 1, len(facts)
    while low < high:
        middle = (low + high + 1) // 2
        fits = num_queries(facts[order[:middle]]) <= queries
        low, high = (middle, high) if fits else (low, middle - 1)
    return facts[order[:low]]


if __name__ == "__main__":
    main()
