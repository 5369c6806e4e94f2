"""Two small trained runs of one benchmark, tuned, for tests that move or damage them."""

import assent
import toy

QUICK = ("model.dim=4", "train.epochs=3", "train.evaluate_every=1", "train.checkpoint_minutes=0")
QUICK = (*QUICK, "train.threads=1")


def learned(folder, out, *changes, **options):
    return assent.train(folder, "complex", out=out, changes=[*QUICK, *changes], **options)


def trained_pair(folder):
    """A benchmark and two runs of it, which differ in their seeds."""
    kb = toy.crowd(0, num_entities=40, num_relations=3, facts_each=6)
    assent.save(toy.built(kb), folder / "benchmark")
    for seed, name in enumerate(("run", "other")):
        run = learned(folder / "benchmark", folder / name, f"train.seed={seed}")
        assent.save_decider(assent.tune(run, rule="global"), folder / name, run.benchmark)
