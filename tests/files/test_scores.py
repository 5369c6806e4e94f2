"""Scores from elsewhere: what a file lists is a candidate, and nothing else is."""

import numpy as np
import polars as pl
import pytest

from assent.core.queries import Queries, Subset
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.scores import map_matrix, read_candidates

NAMES = Vocabulary(("ada", "ben", "cleo"), ("knows", "likes"))
ROWS = [
    ("tail", "ada", "knows", "ben", 1.5),
    ("tail", "ada", "knows", "cleo", -2.0),
    ("head", "ben", "likes", "ada", 0.25),
]


def put(path, rows):
    schema = ["side", "anchor", "relation", "entity", "score"]
    pl.DataFrame(rows, schema=schema, orient="row").write_parquet(path)
    return path


def test_listed_candidates_have_scores_and_all_others_are_none(tmp_path):
    listed = read_candidates(put(tmp_path / "scores.parquet", ROWS), NAMES)
    # ada knows ?, ? likes ben, ben knows ?
    asked = Queries.empty([0, 1, 1], [0, 3, 0], Subset.COMPLETE)
    no = -np.inf
    assert listed.of(asked).tolist() == [[no, 1.5, -2.0], [0.25, no, no], [no, no, no]]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("object", "ada", "knows", "ben", 1.0), ":4: found 'object'; choose from tail, head"),
        (("tail", "dan", "knows", "ben", 1.0), ":4: found 'dan'; choose from ada, ben, cleo"),
        (("tail", "ada", "hates", "ben", 1.0), ":4: found 'hates'; choose from knows, likes"),
        (("tail", "ben", "knows", "ada", np.inf), ":4: the score is inf; expected a finite"),
        (("tail", "ben", "knows", "ada", np.nan), ":4: the score is NaN; expected a finite"),
        (("tail", "ada", "knows", "ben", 1.0), ":4: .* stands in row 1 too"),
    ],
)
def test_a_wrong_row_is_refused_by_its_number(row, message, tmp_path):
    path = put(tmp_path / "scores.parquet", [*ROWS, row])
    with pytest.raises(DataError, match=f"(?i){message}"):
        read_candidates(path, NAMES)


def test_a_missing_column_is_refused_by_its_name(tmp_path):
    pl.DataFrame({"side": ["tail"]}).write_parquet(tmp_path / "scores.parquet")
    with pytest.raises(DataError, match="no column 'anchor'"):
        read_candidates(tmp_path / "scores.parquet", NAMES)


def test_a_matrix_stays_on_the_disk_and_objects_are_refused(tmp_path):
    np.save(tmp_path / "m.npy", np.eye(2, dtype=np.float32))
    assert isinstance(map_matrix(tmp_path / "m.npy"), np.memmap)
    np.save(tmp_path / "o.npy", np.array([None]), allow_pickle=True)
    with pytest.raises(DataError, match=r"expected a \.npy file of numbers"):
        map_matrix(tmp_path / "o.npy")
