"""Run by PyKEEN's own environment: trains ComplEx, and leaves its weights now and then.

python pykeen_quality.py FACTS ENTITIES RELATIONS DIM BATCH RATE EPOCHS EVERY SECONDS OUT

FACTS is an .npy file. After EVERY epochs OUT has the weights, EPOCH.npz, with the seconds of
processor time that training took until then. It ends after EPOCHS epochs, or with the first that
comes after SECONDS.
"""

import logging
import sys
import time
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

import numpy as np  # noqa: E402
import torch  # noqa: E402
from pykeen.models import model_resolver  # noqa: E402
from pykeen.training import LCWATrainingLoop  # noqa: E402
from pykeen.triples import CoreTriplesFactory  # noqa: E402


def main() -> None:
    path, entities, relations, dim, batch, rate, epochs, every, seconds, out = sys.argv[1:]
    torch.set_num_threads(1)
    factory = CoreTriplesFactory.create(
        torch.from_numpy(np.load(path).astype(np.int64)),
        num_entities=int(entities),
        num_relations=int(relations),
        create_inverse_triples=True,
    )
    model = model_resolver.make(
        "complex",
        triples_factory=factory,
        random_seed=0,
        loss="bcewithlogits",
        embedding_dim=int(dim) // 2,  # complex numbers there
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=float(rate))
    loop = LCWATrainingLoop(model=model, triples_factory=factory, optimizer=optimizer)
    spent = 0.0
    for epoch in range(int(every), int(epochs) + 1, int(every)):
        start = time.process_time()
        loop.train(  # epochs in all: it goes on where it was
            triples_factory=factory,
            num_epochs=epoch,
            batch_size=int(batch),
            use_tqdm=False,
            use_tqdm_batch=False,
            continue_training=epoch > int(every),
        )
        spent += time.process_time() - start
        tables = (
            representations[0]().detach().numpy()
            for representations in (model.entity_representations, model.relation_representations)
        )
        names = ("entities", "relations")
        np.savez(
            Path(out) / f"{epoch:05d}.npz", seconds=spent, **dict(zip(names, tables, strict=True))
        )
        if spent >= float(seconds):
            return


if __name__ == "__main__":
    main()
