"""Tokens of reviewers: one each, kept, and read by nobody else."""

import stat

import pytest

from assent.errors import ConfigError, DataError
from assent.reviewing.page.tokens import FILE, tokens_of


def test_a_reviewer_keeps_the_token_and_a_new_one_gets_another(tmp_path):
    first = tokens_of(["anna"], tmp_path)
    both = tokens_of(["ben", "anna"], tmp_path)
    assert both["anna"] == first["anna"] != both["ben"] and list(both) == ["ben", "anna"]
    assert tokens_of(["ben"], tmp_path) == {"ben": both["ben"]}
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_without_the_file_all_tokens_are_new(tmp_path):
    first = tokens_of(["anna"], tmp_path)
    (tmp_path / FILE).unlink()
    assert tokens_of(["anna"], tmp_path) != first


@pytest.mark.parametrize("names", [[], ["a", "a"], [""], [" a"], ["a\n"], ["x" * 61], ["\u202ea"]])
def test_a_reviewer_has_a_name_of_their_own(names, tmp_path):
    with pytest.raises(ConfigError, match="reviewer"):
        tokens_of(names, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"anna": 1}', b'{"anna": "short"}', b"\xff", b"[" * 100_000]
)
def test_a_damaged_file_is_not_guessed_at(content, tmp_path):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(DataError, match="delete it"):
        tokens_of(["anna"], tmp_path)


def test_a_link_in_place_of_the_file_that_is_written_is_not_followed(tmp_path):
    target = tmp_path / "elsewhere"
    (tmp_path / FILE).symlink_to(target)
    tokens_of(["anna"], tmp_path)
    assert not target.exists() and not (tmp_path / FILE).is_symlink()
