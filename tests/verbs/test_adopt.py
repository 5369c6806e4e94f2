"""A model of LibKGE or PyKEEN becomes a run: the same scores by its own formula, all verbs."""

import json
import os
import pickle
from contextlib import suppress

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import assent
import toy
from assent.adapters.adopting import FORMULAS
from assent.cli import app
from assent.errors import AssentError, ConfigError, DataError
from assent.files.libkge_checkpoints import read_checkpoint
from assent.verbs.adopt import leaked
from elsewhere_oracles import (
    drawn,
    libkge_score,
    libkge_weights,
    write_checkpoint,
    write_export,
)

CASES = [  # formula, inverses, norm
    ("complex", False, 1.0),
    ("complex", True, 1.0),
    ("conve", True, 1.0),
    ("distmult", False, 1.0),
    ("distmult", True, 1.0),
    ("rescal", False, 1.0),
    ("rescal", True, 1.0),
    ("transe", False, 1.0),
    ("transe", False, 2.0),
    ("transe", True, 1.0),
]
DIM = 18  # a picture of 3 x 6


@pytest.fixture(scope="module")
def graph():
    return toy.built(toy.crowd(1, 24, 3, 8), removed=3)


@pytest.fixture
def theirs(graph):
    """LibKGE's names: in another order, and one more of each."""
    rng = np.random.default_rng(5)
    names = graph.vocabulary
    return tuple(
        tuple(map(str, rng.permutation([*own, "more"])))
        for own in (names.entities, names.relations)
    )


def checkpoint(path, theirs, formula, inverses=False, norm=1.0, *, packaged=True):
    rng = np.random.default_rng(3)
    weights = libkge_weights(formula, len(theirs[0]), len(theirs[1]), DIM, inverses, rng)
    own = {formula: {"class_name": "any", "l_norm": norm}}
    options = {"model": formula, **own}
    if inverses:
        options = {"model": "reciprocal_relations_model", **own}
        options["reciprocal_relations_model"] = {"base_model": {"type": formula}}
    write_checkpoint(path, options, weights, theirs if packaged else None)
    return weights


def dataset_folder(folder, theirs, facts):
    """A LibKGE dataset; `facts` (fact, 3) by its own ids."""
    folder.mkdir()
    (folder / "dataset.yaml").write_text("dataset:\n  name: toy\n", encoding="utf-8")
    for key, names in zip(("entity_ids", "relation_ids"), theirs, strict=True):
        lines = "".join(f"{place}\t{name}\n" for place, name in enumerate(names))
        (folder / f"{key}.del").write_text(lines, encoding="utf-8")
    lines = "".join("\t".join(map(str, fact)) + "\n" for fact in facts)
    (folder / "train.del").write_text(lines, encoding="utf-8")
    return folder


def every_query(names):
    return torch.cartesian_prod(torch.arange(names.num_entities), torch.arange(names.num_slots)).T


@pytest.mark.parametrize(("formula", "inverses", "norm"), CASES)
def test_scores_are_those_of_the_formula(graph, theirs, tmp_path, formula, inverses, norm):
    path, names = tmp_path / "model.pt", graph.vocabulary
    weights = checkpoint(path, theirs, formula, inverses, norm)
    run = assent.adopt(path, graph)
    anchors, slots = every_query(names)
    given = run.model.scores(anchors, slots)
    entity, relation = (
        [known.index(name) for name in own]
        for known, own in zip(theirs, (names.entities, names.relations), strict=True)
    )
    rng = np.random.default_rng(0)
    for query in rng.choice(len(anchors), 60, replace=False):
        anchor, slot = entity[anchors[query]], int(slots[query])
        row = relation[slot % names.num_relations]
        for answer in rng.choice(names.num_entities, 3, replace=False):
            fact = anchor, row, entity[answer]
            if slot >= names.num_relations:
                fact = fact[::-1] if not inverses else (anchor, row + len(theirs[1]), fact[2])
            score = libkge_score(formula, weights, *fact, norm)
            if formula == "transe":  # P = 1 - tanh(distance), or of its square for the L2 norm
                score = np.log(2) - np.log(np.expm1(2 * abs(score) ** norm))
            assert float(given[query, answer]) == pytest.approx(score, abs=2e-4, rel=2e-5)


def test_all_formulas_are_tested():
    assert {formula for formula, *_ in CASES} == {*FORMULAS}


def test_a_checkpoint_takes_its_names_from_its_dataset(graph, theirs, tmp_path):
    path = tmp_path / "checkpoint_best.pt"
    checkpoint(path, theirs, "complex", packaged=False)
    with pytest.raises(DataError, match=r"has no names .* --dataset"):
        assent.adopt(path, graph)
    names, test = graph.vocabulary, graph.facts("test")
    entity, relation = (
        [known.index(name) for name in own]
        for known, own in zip(theirs, (names.entities, names.relations), strict=True)
    )
    ids = [(entity[h], relation[r], entity[t]) for h, r, t in [*graph.train, *test[:2]]]
    folder = dataset_folder(tmp_path / "data", theirs, ids)
    run = assent.adopt(tmp_path, graph, out=tmp_path / "run", dataset=folder)
    with_names = tmp_path / "package.pt"
    checkpoint(with_names, theirs, "complex")
    again = assent.adopt(with_names, graph)
    assert again.model.digest() == run.model.digest()
    event = json.loads((tmp_path / "run" / "trace.jsonl").read_text().splitlines()[0])
    assert event["learned"] == {"valid": 0, "test": 2} and event["library"] == "LibKGE"


def test_the_command_line_goes_all_the_way(graph, theirs, tmp_path):
    assent.save(graph, tmp_path / "benchmark")
    checkpoint(tmp_path / "model.pt", theirs, "distmult")
    invoked(
        "adopt", tmp_path / "model.pt", "--benchmark", tmp_path / "benchmark",
        "--out", tmp_path / "run", says="distmult, trained by LibKGE",
    )  # fmt: skip
    run = tmp_path / "run"
    invoked("tune", run, says="decider")
    invoked("evaluate", run, says="F1")
    invoked("tune", run, "--rule", "judge", says="decider")
    invoked("report", run, "--out", tmp_path / "report.html", says="report.html")
    invoked("complete", run, "--precision", "0.5", "--out", tmp_path / "new.tsv", says="facts")
    invoked("ask", run, graph.vocabulary.entities[0], graph.vocabulary.relations[0], says="")
    with pytest.raises(ConfigError, match="another library trained this model"):
        assent.complete(assent.load_run(run), 0.5, refit=True)
    with pytest.raises(AssentError):
        assent.train(tmp_path / "benchmark", "distmult", out=run)


def invoked(*arguments, says):
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 0, (result.output, result.exception)
    assert says in result.output


class Evil:
    def __reduce__(self):
        return (print, ("ran",))


def test_a_checkpoint_that_could_run_code_is_refused(graph, tmp_path, capsys):
    torch.save({"model": Evil()}, tmp_path / "evil.pt")
    with pytest.raises(DataError, match="refused, as it holds more than tensors"):
        assent.adopt(tmp_path / "evil.pt", graph)
    (tmp_path / "trained_model.pkl").write_bytes(pickle.dumps(Evil()))
    for path in (tmp_path, tmp_path / "trained_model.pkl"):
        with pytest.raises(DataError, match=r"a pickle .*pykeen\.export"):
            assent.adopt(path, graph)
    assert "ran" not in capsys.readouterr().out


def test_damaged_and_strange_files_end_in_one_line(graph, theirs, tmp_path):
    path = tmp_path / "model.pt"
    checkpoint(path, theirs, "complex")
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(whole[: rng.integers(1, len(whole))] if rng.random() < 0.3 else whole)
        damaged[rng.integers(len(damaged))] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with suppress(AssentError):  # a flipped bit may as well leave a model that can be read
            assent.adopt(path, graph)
    for strange in ({}, [], {"model": 1}, {"model": ({}, {}), "config": 3}):
        torch.save(strange, path)
        with pytest.raises(DataError, match="not a checkpoint of LibKGE"):
            assent.adopt(path, graph)
    with pytest.raises(DataError, match="nothing to adopt"):
        assent.adopt(tmp_path / "nowhere", graph)


def test_a_view_that_claims_more_memory_than_there_is_is_refused(graph, theirs, tmp_path):
    weights = {"_entity_embedder._embeddings.weight": torch.ones(1).expand(1 << 30, 1 << 10)}
    write_checkpoint(tmp_path / "a.pt", {"model": "complex"}, weights, theirs)
    with pytest.raises(DataError, match="no plain tensors"):
        assent.adopt(tmp_path / "a.pt", graph)


def test_what_does_not_fit_is_said(graph, theirs, tmp_path):
    path = tmp_path / "model.pt"
    checkpoint(path, (theirs[0][2:], theirs[1]), "complex")
    with pytest.raises(DataError, match=r"lacks \d of the benchmark's 21 entities"):
        assent.adopt(path, graph)
    weights = libkge_weights("complex", 5, 4, DIM, False, np.random.default_rng(0))
    write_checkpoint(path, {"model": "complex"}, weights, theirs)
    with pytest.raises(DataError, match="numbers for 5 entities, but names for 22"):
        assent.adopt(path, graph)
    write_checkpoint(path, {"model": "rotate"}, weights, theirs)
    with pytest.raises(ConfigError, match="calls this model rotate; adopt knows complex"):
        assent.adopt(path, graph)
    rotten = libkge_weights("complex", 22, 4, DIM, False, np.random.default_rng(0))
    rotten["_entity_embedder._embeddings.weight"][3] = torch.nan
    write_checkpoint(path, {"model": "complex"}, rotten, theirs)
    with pytest.raises(DataError, match="numbers that are not"):
        assent.adopt(path, graph)


@pytest.mark.parametrize("inverses", [False, True])
@pytest.mark.parametrize("formula", ["ComplEx", "DistMult", "TransE", "RESCAL"])
def test_an_export_of_pykeen_scores_like_its_formula(graph, theirs, tmp_path, formula, inverses):
    """PyKEEN has complex numbers side by side, and the inverse of relation r at 2 r + 1."""
    rng = np.random.default_rng(4)
    entities, relations = (len(names) for names in theirs)
    rows = relations * (2 if inverses else 1)
    tables = {"entities": drawn(rng, entities, 6), "relations": drawn(rng, rows, 6)}
    if formula == "RESCAL":
        tables["relations"] = drawn(rng, rows, 6, 6)
    numbers = ["entities", "relations"] if formula == "ComplEx" else []
    if numbers:
        tables = {name: table.view(-1, 3, 2) for name, table in tables.items()}
    document = {
        "model": formula, "inverses": inverses, "norm": 2, "complex": numbers,
        **{
            kind: {name: place for place, name in enumerate(names)}
            for kind, names in zip(("entities", "relations"), theirs, strict=True)
        },
    }  # fmt: skip
    facts = torch.zeros((1, 3), dtype=torch.int64)
    write_export(tmp_path / "export", document, tables | {"facts": facts})
    names, run = graph.vocabulary, assent.adopt(tmp_path / "export", graph)

    def score(head, row, tail):
        h, r, t = tables["entities"][head], tables["relations"][row], tables["entities"][tail]
        if formula == "ComplEx":
            h, r, t = map(torch.view_as_complex, (h, r, t))
            return float((h * r * t.conj()).sum().real)
        if formula == "RESCAL":
            return float(h @ r @ t)
        if formula == "DistMult":
            return float((h * r * t).sum())
        distance = float(torch.linalg.vector_norm(h + r - t)) ** 2
        return np.log(2) - np.log(np.expm1(2 * distance))

    for slot in range(names.num_slots):
        own = theirs[1].index(names.relations[slot % names.num_relations])
        for anchor, answer in rng.integers(0, names.num_entities, (10, 2)):
            one, other = (theirs[0].index(names.entities[place]) for place in (anchor, answer))
            asks_for_head = slot >= names.num_relations
            if inverses:
                expected = score(one, 2 * own + asks_for_head, other)
            else:
                expected = score(*((other, own, one) if asks_for_head else (one, own, other)))
            ids = (torch.tensor([place]) for place in (anchor, slot, answer))
            assert float(run.model.pairs(*ids)) == pytest.approx(expected, abs=1e-4, rel=1e-4)


def test_a_damaged_export_is_refused(graph, theirs, tmp_path):
    tables = {"entities": drawn(np.random.default_rng(0), 22, 4)}
    good = {"model": "DistMult", "inverses": False, "norm": None, "complex": []}
    good |= {
        kind: {name: place for place, name in enumerate(names)}
        for kind, names in zip(("entities", "relations"), theirs, strict=True)
    }
    cases = [
        ({**good, "entities": {"a": 3}}, "not an export"),
        ({**good, "inverses": None, "norm": "x"}, "not an export"),
        ({}, "not an export"),
        (good, "no table of relations"),
        ({**good, "complex": ["entities"]}, "without real and imaginary parts"),
        ({**good, "entities": [5]}, "not an export"),
    ]
    for place, (document, message) in enumerate(cases):
        write_export(tmp_path / str(place), document, tables)
        with pytest.raises(DataError, match=message):
            assent.adopt(tmp_path / str(place), graph)


def test_an_export_with_one_number_for_all_relations_is_refused(graph, theirs, tmp_path):
    ids = [{name: place for place, name in enumerate(names)} for names in theirs]
    document = {"model": "DistMult", "inverses": True, "norm": None, "complex": []}
    document |= dict(zip(("entities", "relations"), ids, strict=True))
    tables = {"entities": drawn(np.random.default_rng(0), 22, 4), "relations": torch.tensor(1.0)}
    write_export(tmp_path / "export", document, tables)
    with pytest.raises(DataError, match="no table of relations"):
        assent.adopt(tmp_path / "export", graph)


def test_what_was_learned_from_is_counted_only_where_it_is_known(graph, theirs, tmp_path):
    from assent.files.libkge_checkpoints import read_checkpoint

    checkpoint(tmp_path / "model.pt", theirs, "complex")
    assert leaked(read_checkpoint(tmp_path / "model.pt"), graph) is None


def test_a_pipe_in_place_of_the_numbers_does_not_hang(graph, tmp_path):
    document = {"model": "DistMult", "inverses": False, "norm": 2, "complex": []}
    folder = tmp_path / "export"
    write_export(folder, {**document, "entities": {}, "relations": {}}, {})
    (folder / "model.safetensors").unlink()
    os.mkfifo(folder / "model.safetensors")
    os.mkfifo(tmp_path / "checkpoint_best.pt")
    with pytest.raises(DataError, match=r"model\.safetensors: is a pipe"):
        assent.adopt(folder, graph)
    with pytest.raises(DataError, match="is a pipe"):
        read_checkpoint(tmp_path / "checkpoint_best.pt")
