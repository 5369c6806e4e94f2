"""Run by PyKEEN's own environment: trains ComplEx, and leaves its weights now and then.

python pykeen_quality.py FACTS ENTITIES RELATIONS DIM BATCH RATE SPREAD EPOCHS EVERY SECONDS OUT

FACTS is an .npz file: train, valid and known, the facts that are no candidates. SPREAD is the
standard deviation of the numbers that training starts from, or "own": PyKEEN's default start and
regularizer. After EVERY epochs OUT has the weights, EPOCH.npz, with the seconds of processor time
that training took until then. It ends after EPOCHS epochs, or with the first that comes after
SECONDS; the last file has the mean reciprocal rank on valid by PyKEEN's own evaluator, too.
"""

import logging
import sys
import time
import warnings
from functools import partial
from pathlib import Path

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

import numpy as np  # noqa: E402
import torch  # noqa: E402
from pykeen.evaluation import RankBasedEvaluator  # noqa: E402
from pykeen.models import Model, model_resolver  # noqa: E402
from pykeen.training import LCWATrainingLoop  # noqa: E402
from pykeen.triples import CoreTriplesFactory  # noqa: E402


def main() -> None:
    path, entities, relations, dim, batch, rate, spread, epochs, every, seconds, out = sys.argv[1:]
    torch.set_num_threads(1)
    with np.load(path) as arrays:
        facts = {name: torch.from_numpy(arrays[name].astype(np.int64)) for name in arrays}
    factory = CoreTriplesFactory.create(
        facts["train"],
        num_entities=int(entities),
        num_relations=int(relations),
        create_inverse_triples=True,
    )
    start = partial(torch.nn.init.normal_, std=1.0 if spread == "own" else float(spread))
    changes = {} if spread == "own" else {"regularizer": None}
    model = model_resolver.make(
        "complex",
        triples_factory=factory,
        random_seed=0,
        loss="bcewithlogits",
        embedding_dim=int(dim) // 2,  # complex numbers there
        entity_initializer=start,
        relation_initializer=start,
        **changes,
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=float(rate))
    loop = LCWATrainingLoop(model=model, triples_factory=factory, optimizer=optimizer)
    spent = 0.0
    for epoch in range(int(every), int(epochs) + 1, int(every)):
        began = time.process_time()
        loop.train(  # epochs in all: it goes on where it was
            triples_factory=factory,
            num_epochs=epoch,
            batch_size=int(batch),
            use_tqdm=False,
            use_tqdm_batch=False,
            continue_training=epoch > int(every),
        )
        spent += time.process_time() - began
        found = {"seconds": spent}
        tables = model.entity_representations, model.relation_representations
        for name, table in zip(("entities", "relations"), tables, strict=True):
            found[name] = table[0]().detach().numpy()
        last = spent >= float(seconds) or epoch + int(every) > int(epochs)
        if last:
            found["mrr"] = mean_reciprocal_rank(model, facts)
        np.savez(Path(out) / f"{epoch:05d}.npz", **found)
        if last:
            return


def mean_reciprocal_rank(model: Model, facts: dict[str, torch.Tensor]) -> float:
    """Of valid, from both sides, by PyKEEN's own evaluator."""
    evaluator = RankBasedEvaluator(metrics=["inverse_harmonic_mean_rank"], add_defaults=False)
    ranked = evaluator.evaluate(
        model,
        facts["valid"],
        batch_size=64,
        use_tqdm=False,
        additional_filter_triples=[facts["known"]],
    )
    return float(ranked.get_metric("both.realistic.inverse_harmonic_mean_rank"))


if __name__ == "__main__":
    main()
