"""The catalogue fits the real files, and derives what nobody publishes."""

import dataclasses
import gzip
import os
from pathlib import Path

import pytest

from assent.datasets import (
    CATALOGUE,
    Dataset,
    Derivation,
    fetch,
    status,
)
from assent.datasets.catalogue import derive_qaq
from assent.errors import FetchError
from datasets.getting import HASTY, get, nothing_final
from datasets.loopback import (
    Loopback,
    Served,
    remote,
    sha256,
)

ROOT = Path(__file__).resolve().parents[2]
REAL_DATA = Path(os.environ.get("ASSENT_DATA") or ROOT.parent / "shared" / "data").resolve()


# Of the grouped entities, a and b are asked about, c and e are answers; r was removed.
QAQ = {
    "grouping_answers_obj.csv": "e1,rel,n\na,likes,1\nr,likes,1\ne,likes,0\n",
    "grouping_answers_subj.csv": "e2,rel,n\nb,likes,0\nc,likes,1\n",
    "valid_obj.txt": "a\tlikes\td e\n",
    "valid_subj.txt": "\tlikes\tb\n",
    "test_obj.txt": "d\tlikes\t\n",
    "test_subj.txt": "c\tlikes\td\n",
}
TRAIN = b"d\tlikes\ta\r\nr\tlikes\ta\r\na\tlikes\tr\r\na\tlikes\tb\r\n"
KEPT = b"d\tlikes\ta\na\tlikes\tb\n"


def tiny_qaq(server: Loopback, kept: bytes) -> dict[str, Dataset]:
    """FB14k-QAQ and FB15k-237 as above; `kept` is what the catalogue expects as train.txt."""
    server.files |= {name: Served(text.encode()) for name, text in QAQ.items()}
    server.files["train.txt"] = Served(TRAIN)
    files = tuple(remote(server, name, text.encode()) for name, text in QAQ.items())
    sums = {"train.txt": sha256(kept), "removed_entities.txt": sha256(b"r\n")}
    derivation = Derivation("source", derive_qaq, sums)
    source = Dataset("source", "", 4, "none", (remote(server, "train.txt", TRAIN),))
    return {"toy": Dataset("toy", "", 2, "none", files, derivation), "source": source}


def test_qaq_is_its_source_without_the_entities_that_are_grouped_but_never_asked(
    server: Loopback, tmp_path: Path
) -> None:
    catalogue = tiny_qaq(server, KEPT)
    rows = {row.name: row.download or 0 for row in status(catalogue)}
    folder = get(tmp_path, catalogue)
    assert (folder / "train.txt").read_bytes() == KEPT
    assert (folder / "removed_entities.txt").read_bytes() == b"r\n"
    assert (tmp_path / "source" / "train.txt").read_bytes() == TRAIN
    assert rows["toy"] == sum(asked.sent for asked in server.log)


def test_a_derived_file_with_the_wrong_sum_blames_the_source(
    server: Loopback, tmp_path: Path
) -> None:
    with pytest.raises(FetchError, match=r"train.txt made from .*source: expected .*, found"):
        get(tmp_path, tiny_qaq(server, b"something else"))
    assert nothing_final(tmp_path)


def test_a_source_that_cannot_be_read_is_named(server: Loopback, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "train.txt.gz").write_bytes(b"not gzip")
    with pytest.raises(FetchError, match=r"source: Not a gzipped file"):
        get(tmp_path, tiny_qaq(server, KEPT))


def real(name: str) -> Path:
    if not (REAL_DATA / name).is_dir():
        pytest.skip(f"no {name} in $ASSENT_DATA or ../shared/data")
    return REAL_DATA / name


def real_bytes(path: Path) -> bytes:
    """The file's content, which may stand there compressed."""
    return path.read_bytes() if path.exists() else gzip.decompress(Path(f"{path}.gz").read_bytes())


@pytest.mark.parametrize("name", ["codex-s", "fb14k-qaq"])
def test_the_catalogue_fits_the_real_files(name: str, server: Loopback, tmp_path: Path) -> None:
    dataset = CATALOGUE[name]
    for file in dataset.files:
        server.files[file.name] = Served(real_bytes(real(name) / file.name))
    files = tuple(dataclasses.replace(f, url=server.url(f.name)) for f in dataset.files)
    if dataset.derivation:
        source = dataset.derivation.source
        (tmp_path / source).symlink_to(real(source))
    catalogue = {**CATALOGUE, name: dataclasses.replace(dataset, files=files)}
    folder = fetch(name, tmp_path, settings=HASTY, catalogue=catalogue)
    splits = [folder / f"{split}.txt" for split in ("train", "valid", "test")]
    assert sum(p.read_bytes().count(b"\n") for p in splits if p.exists()) == dataset.facts
    assert {path.name for path in folder.iterdir()} == dataset.contents
