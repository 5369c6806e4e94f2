"""Every verb in order, on a small graph some of whose facts are hidden."""

import assent
import toy
from assent.experiment import experiment

TINY = ["model.dim=8", "train.epochs=6", "train.evaluate_every=3", "train.threads=1"]


def test_what_is_found_again_was_hidden_and_is_not_in_the_benchmark(tmp_path):
    kb = toy.crowd(0, num_entities=60, num_relations=4, facts_each=8)
    assent.write(kb, tmp_path / "graph.tsv")
    told = {}
    page = experiment(
        tmp_path / "graph.tsv",
        tmp_path / "all",
        hide=0.2,
        changes=TINY,
        precision=0.05,
        show=lambda verb, result: told.update({verb: result}),
    )
    assert list(told) == [
        "read", "build", "audit", "train", "tune", "evaluate", "complete", "report", "review",
    ]  # fmt: skip
    assert page.exists() and told["report"] == page
    found, whole = told["complete"], toy.named_facts(kb.facts, kb.vocabulary)
    assert 0 < found.findable <= found.hidden < 0.4 * len(whole)
    accepted = [fact for fact in found.completion if fact["decision"] == "accepted"]
    assert len(found.right) == len(accepted)
    for fact, right in zip(accepted, found.right, strict=True):
        assert right == ((fact["head"], fact["relation"], fact["tail"]) in whole)
    assert (tmp_path / "all" / "run" / "facts.jsonl").exists()
    assert (tmp_path / "all" / "run" / "decider.json").exists()
    review = told["review"]
    assert review.folder == tmp_path / "all" / "run"
    assert (review.folder / "review" / "proposals.jsonl").exists()


def test_nothing_hidden_is_nothing_found_again(tmp_path):
    assent.write(toy.crowd(1, num_entities=40, num_relations=2, facts_each=6), tmp_path / "g.tsv")
    told = {}
    experiment(
        tmp_path / "g.tsv", tmp_path / "all", changes=TINY,
        show=lambda verb, result: told.update({verb: result}),
    )  # fmt: skip
    assert told["complete"].hidden == told["complete"].findable == told["complete"].right.sum() == 0
