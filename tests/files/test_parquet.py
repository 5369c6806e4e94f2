"""Columns of Parquet files are found by their names, or by their order."""

from itertools import permutations

import polars as pl
import pytest

from assent.errors import DataError
from assent.files.parquet import read_frame
from files.formats_by_hand import FACTS, check


@pytest.mark.parametrize("places", list(permutations(range(3))))
@pytest.mark.parametrize("header", ["head relation tail", "Subject Predicate Object", "s p o"])
def test_parquet_columns_of_known_names_stand_in_any_order(header, places, tmp_path):
    frame = pl.DataFrame(FACTS, schema=header.split(), orient="row")
    frame[:, list(places)].write_parquet(tmp_path / "kb.parquet")
    check(tmp_path / "kb.parquet")


@pytest.mark.parametrize("header", ["a b c", "head relation object", "Head head tail"])
def test_parquet_columns_of_other_names_stand_in_order(header, tmp_path):
    pl.DataFrame(FACTS, schema=header.split(), orient="row").write_parquet(tmp_path / "kb.parquet")
    check(tmp_path / "kb.parquet")


def test_a_link_that_leads_to_itself_is_refused_in_words(tmp_path):
    path = tmp_path / "graph.parquet"
    path.symlink_to(path)
    with pytest.raises(DataError, match=r"graph\.parquet: Too many levels of symbolic links"):
        read_frame(path)
