"""Files of scores are evaluated as the model that they came from; broken ones are refused."""

import io
import pickle

import numpy as np
import polars as pl
import pytest

import assent
from adapters.comparing import measured, scores_of
from assent.adapters import files
from assent.core.benchmark import SPLITS
from assent.errors import ConfigError, DataError

SIDES = ("tail", "head")
COLUMNS = ["side", "anchor", "relation", "entity", "score"]


@pytest.fixture
def matrices(ours, tmp_path):
    """The scores of each split as .npy."""
    paths = {split: tmp_path / f"{split}.npy" for split in SPLITS}
    for split, path in paths.items():
        np.save(path, scores_of(ours.model, ours.benchmark.queries(split)))
    return paths


def listed(run, split, keep=lambda scores: scores > -np.inf):
    """The candidates of a split, by name, in no particular order."""
    queries, names = run.benchmark.queries(split), run.benchmark.vocabulary
    scores = scores_of(run.model, queries)
    rows = [
        (
            SIDES[queries.relations[row] // names.num_relations],
            names.entities[queries.anchors[row]],
            names.relations[queries.relations[row] % names.num_relations],
            names.entities[entity],
            float(scores[row, entity]),
        )
        for row, entity in np.argwhere(keep(scores))
    ]
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    return frame.sample(fraction=1, shuffle=True, seed=0)


def test_matrices_are_measured_as_the_model_behind_them(ours, matrices):
    assert measured(assent.adapt(ours.benchmark, files.of(**matrices))) == measured(ours)


def test_matrices_of_other_types_and_orders_are_read_the_same(ours, matrices):
    for split, change in (("valid", lambda m: m.astype(">f8")), ("test", np.asfortranarray)):
        np.save(matrices[split], change(np.load(matrices[split])))
    assert measured(assent.adapt(ours.benchmark, files.of(**matrices))) == measured(ours)


def test_a_list_of_all_candidates_is_measured_as_the_model_behind_it(ours, tmp_path):
    for split in SPLITS:
        listed(ours, split).write_parquet(tmp_path / f"{split}.parquet")
    source = files.of(tmp_path / "valid.parquet", tmp_path / "test.parquet")
    assert measured(assent.adapt(ours.benchmark, source)) == measured(ours)


def test_one_list_may_serve_both_splits_and_a_matrix_stand_beside_it(ours, matrices, tmp_path):
    both = pl.concat([listed(ours, split) for split in SPLITS]).unique()
    both.write_parquet(path := tmp_path / "both.parquet")
    for source in (files.of(path, path), files.of(matrices["valid"], path)):
        assert measured(assent.adapt(ours.benchmark, source)) == measured(ours)


def test_what_is_not_listed_is_no_candidate(ours, tmp_path):
    frame = listed(ours, "test", keep=lambda scores: scores > -5.5)
    frame.write_parquet(path := tmp_path / "test.parquet")
    run = assent.adapt(ours.benchmark, files.of(test=path))
    given, whole = (scores_of(model, ours.benchmark.test) for model in (run.model, ours.model))
    assert np.array_equal(given, np.where(whole > -5.5, whole, -np.inf))
    assert 0 < np.isfinite(given).sum() < given.size


def test_without_valid_there_is_nothing_to_tune_on(ours, matrices):
    run = assent.adapt(ours.benchmark, files.of(test=matrices["test"]))
    assert assent.evaluate(run, assent.tune(ours)).f1() >= 0
    with pytest.raises(DataError, match=r"no scores for the .* of \(.*give a file for its split"):
        assent.tune(run)
    with pytest.raises(ConfigError, match="no file of scores"):
        files.of()


def test_a_query_asked_in_both_splits_has_one_score(ours, matrices):
    benchmark = ours.benchmark
    keys = [benchmark.queries(split).keys(benchmark.vocabulary.num_entities) for split in SPLITS]
    row = np.flatnonzero(np.isin(keys[1], keys[0]))[0]
    scores = np.load(matrices["test"])
    scores[row, 3] += 1e-6  # another batch, another rounding
    np.save(matrices["test"], scores)
    assent.adapt(benchmark, files.of(**matrices))
    scores[row, 3] = -np.inf  # masked for test, but valid may not know it
    np.save(matrices["test"], scores)
    with pytest.raises(DataError, match=r"is asked twice, and 'e3' scores .* and -inf; expected"):
        assent.adapt(benchmark, files.of(**matrices))


def refused(ours, path, message):
    """In one line that begins with the file."""
    with pytest.raises(DataError, match=message) as error:
        scores_of(assent.adapt(ours.benchmark, files.of(test=path)).model, ours.benchmark.test)
    assert str(error.value).startswith(str(path)) and "\n" not in str(error.value)


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


class Evil:
    def __reduce__(self):
        return (pytest.fail, ("unpickled",))


SHAPE = (37, 30)  # of the test split
WHOLE = npy(np.zeros(SHAPE, np.float32))
BROKEN = {
    "pickled objects": (npy(np.array([[Evil()]], object)), "Python objects"),
    "a pickle": (pickle.dumps(Evil()), "expected a .npy file of numbers"),
    "nothing": (b"", "expected a .npy file of numbers"),
    "part of a header": (WHOLE[:30], "expected a .npy file of numbers"),
    "part of a matrix": (WHOLE[:-1000], "expected a .npy file of numbers"),
    "a huge shape": (WHOLE.replace(b"(37, 30)", b"(9**9,)3"), "expected a .npy file of numbers"),
    "text": (b"1 2 3\n4 5 6\n", "expected a .npy file of numbers"),
    "an archive": (b"PK\x03\x04" + bytes(100), "expected a .npy file of numbers"),
    "turned": (npy(np.zeros(SHAPE[::-1])), r"shape \(30, 37\); expected \(37, 30\)"),
    "a vector": (npy(np.zeros(SHAPE[0])), "expected"),
    "words": (npy(np.full(SHAPE, "a")), "expected numbers"),
    "records": (npy(np.zeros(SHAPE, [("a", "f4")])), "expected numbers"),
    "truth values": (npy(np.zeros(SHAPE, bool)), "expected numbers"),
    "nan": (npy(np.full(SHAPE, np.nan)), "the score of 'e.*' is nan"),
    "inf": (npy(np.full(SHAPE, np.inf)), "is inf; expected a finite number, or -inf"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_matrix_is_refused_in_one_line(ours, tmp_path, broken):
    content, message = BROKEN[broken]
    assert (len(ours.benchmark.test), ours.benchmark.vocabulary.num_entities) == SHAPE
    path = tmp_path / "test.npy"
    path.write_bytes(content)
    refused(ours, path, message)


def changed(**values):
    """The first row says something else, and becomes the last."""
    row = {name: pl.lit(value) for name, value in values.items()}
    return lambda frame: pl.concat([frame[1:], frame[:1].with_columns(**row)], how="vertical")


CHANGES = {
    "a score of text": (lambda f: f.with_columns(score=pl.lit("1")), "holds String; expected num"),
    "no score": (changed(score=None), "the score is None; expected"),
    "nan": (changed(score=np.nan), "the score is nan; expected a finite number"),
    "inf": (changed(score=np.inf), "the score is inf; expected"),
    "too large": (changed(score=1e300), "the score is 1e\\+300; expected"),
    "a side": (changed(side="both"), "found 'both'; choose from tail, head"),
    "an anchor": (changed(anchor="nobody"), ":[0-9]+: found 'nobody'; not in the voc"),
    "a relation": (changed(relation="r9"), "found 'r9'"),
    "an entity": (changed(entity="e99"), "found 'e99'"),
    "no entity": (changed(entity=None), "the entity is empty"),
    "twice": (lambda f: pl.concat([f, f[:1]]), "stands in row 1 too; expected each candidate once"),
    "a column less": (lambda f: f.drop("side"), "no column 'side'; expected the columns side, anc"),
    "no rows": (lambda f: f[:0], "nothing in it; expected candidates"),
    "names in lists": (lambda f: f.with_columns(anchor=pl.lit([1])), "expected text"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_list_with_something_wrong_is_refused_in_one_line(ours, tmp_path, change):
    alter, message = CHANGES[change]
    path = tmp_path / "test.parquet"
    alter(listed(ours, "test")).write_parquet(path)
    refused(ours, path, message)


def test_candidates_of_a_query_that_nobody_asks_are_refused(ours, tmp_path):
    names = ours.benchmark.vocabulary
    asked = np.concatenate([ours.benchmark.queries(split).keys(SHAPE[1]) for split in SPLITS])
    anchor = names.entities[np.setdiff1d(np.arange(SHAPE[1]), asked)[0]]  # keys of relation 0
    values = {"side": "tail", "anchor": anchor, "relation": names.relations[0]}
    changed(**values)(listed(ours, "test")).write_parquet(path := tmp_path / "test.parquet")
    refused(ours, path, "which the benchmark does not ask")


@pytest.mark.parametrize("name", ["test.npy", "test.parquet"])
def test_a_file_that_is_not_there_or_a_folder_is_refused(ours, tmp_path, name):
    refused(ours, tmp_path / name, "(?i)no such file")
    (tmp_path / name).mkdir()
    refused(ours, tmp_path / name, "(?i)no such file|folder")


def test_other_suffixes_and_broken_parquet_are_refused(ours, tmp_path):
    refused(ours, tmp_path / "test.csv", r"unknown suffix .csv; choose from .npy, .parquet")
    (tmp_path / "test.parquet").write_bytes(b"PAR1 and no more")
    refused(ours, tmp_path / "test.parquet", "not a Parquet file")
