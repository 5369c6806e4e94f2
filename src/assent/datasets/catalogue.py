"""The named data sets: where their files are, and the checksums of their bytes."""

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from assent.errors import DataError


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file to download; an archive if it has members, and then only these are kept."""

    url: str
    sha256: str
    size: int | None  # in bytes
    name: str
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Derivation:
    """Files that are not published, and how they are made from published ones."""

    source: str  # name of the data set they are made from, besides the downloaded files
    make: Callable[[Path, Path], None]  # (folder with the downloads, folder of the source)
    sums: Mapping[str, str]  # name of each file it makes -> sha256


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named data set: either a folder of this package or files to download."""

    name: str
    title: str
    facts: int  # of all splits; of a published benchmark, its train facts
    licence: str
    files: tuple[RemoteFile, ...] = ()
    derivation: Derivation | None = None
    built_in: Path | None = None

    @property
    def size(self) -> int | None:
        """Bytes to download; None where a file's size is not known."""
        sizes = [file.size for file in self.files]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def contents(self) -> frozenset[str]:
        """The names in its folder when it is complete."""
        downloaded = [name for file in self.files for name in file.members or (file.name,)]
        derived = self.derivation.sums if self.derivation else ()
        return frozenset([*downloaded, *derived])


def train_file(folder: Path) -> Path | None:
    """The file of train facts in `folder`: `train.txt`, `train.tsv.gz`, ..."""
    # Where a file stands both plain and compressed, the plain one sorts first.
    return next(iter(sorted(folder.glob("train.*"))), None)


def derive_qaq(folder: Path, fb15k_237: Path) -> None:
    """Write FB14k-QAQ's `train.txt` and `removed_entities.txt`, which are not published."""
    removed = removed_entities(folder)
    source = train_file(fb15k_237)
    if source is None:
        raise DataError(f"{fb15k_237}: no train file; expected train.txt or train.txt.gz")
    # A fact that touches a removed entity left train; the others kept their order.
    kept = (line for line in _lines(source) if removed.isdisjoint(line.split("\t")[::2]))
    _write(folder / "train.txt", kept)
    _write(folder / "removed_entities.txt", sorted(removed))


def removed_entities(folder: Path) -> frozenset[str]:
    """The entities that were taken out of FB15k-237 to make FB14k-QAQ."""
    # The grouping files were written before the removal, the query files after it:
    # an anchor of the former that is nowhere in the latter was removed.
    return frozenset(_grouped_anchors(folder)) - frozenset(_asked_entities(folder))


def _grouped_anchors(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("grouping_answers_*.csv*")):
        lines = _lines(path)
        next(lines, None)  # the header
        yield from (line.split(",", 1)[0] for line in lines)


def _asked_entities(folder: Path) -> Iterator[str]:
    for path in sorted([*folder.glob("*_obj.txt*"), *folder.glob("*_subj.txt*")]):
        for line in _lines(path):
            # Anchor and answers change places between the two kinds of file.
            for column in line.split("\t")[::2]:
                yield from column.split()


def _lines(path: Path) -> Iterator[str]:
    """Lines without their ends, be they LF or CRLF; `.gz` is unpacked on the way."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="\n") as file:
        yield from (line.rstrip("\r\n") for line in file)


def _write(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


_SPLITS = ("train.txt", "valid.txt", "test.txt")
_CONVE = "https://github.com/TimDettmers/ConvE/raw/master"
_CODEX = "https://raw.githubusercontent.com/tsafavi/codex/master/data/triples/codex-s"
_QAQ = "https://raw.githubusercontent.com/marina-sp/classification_lp/master/FB14k-QAQ"


def _file(base: str, path: str, size: int, sha256: str) -> RemoteFile:
    return RemoteFile(f"{base}/{path}", sha256, size, path.rpartition("/")[2])


_WORLD = Dataset(
    name="world",
    title="countries, cities, languages, currencies, time zones",
    facts=14_411,
    licence="GeoNames CC BY 4.0, Unicode licence, holidays MIT, countrygroups CC0",
    built_in=Path(__file__).parent / "world",
)

_FB15K_237 = Dataset(
    name="fb15k-237",
    title="FB15k-237, from Freebase (Toutanova & Chen, 2015)",
    facts=310_116,
    licence="Freebase, CC BY 2.5",
    files=(
        RemoteFile(
            url=f"{_CONVE}/FB15k-237.tar.gz",
            sha256="311df7930f842a02979eaa7a802484a6afe62303c07f915f1e6edbc30cbe05e8",
            size=3_678_603,
            name="FB15k-237.tar.gz",
            members=_SPLITS,
        ),
    ),
)

_WN18RR = Dataset(
    name="wn18rr",
    title="WN18RR, from WordNet (Dettmers et al., 2018)",
    facts=93_003,
    licence="WordNet licence",
    files=(
        RemoteFile(
            url=f"{_CONVE}/WN18RR.tar.gz",
            sha256="1eb9152f804c140d163462c0d49f65e5a0b30ab5fbb375c5e3353c11a6249060",
            size=892_861,
            name="WN18RR.tar.gz",
            members=_SPLITS,
        ),
    ),
)

_CODEX_S = Dataset(
    name="codex-s",
    title="CoDEx-S, from Wikidata (Safavi & Koutra, 2020)",
    facts=36_543,
    licence="MIT; Wikidata, CC0",
    files=(
        _file(
            _CODEX,
            "train.txt",
            615_428,
            "64f93b7f314f3936a6f65739721429db3f6a7c8f5a1e1104ec3bb544f7434f59",
        ),
        _file(
            _CODEX,
            "valid.txt",
            34_323,
            "3831c0e57daef03c3a18cdd1a72e370b496f696c5218883d35c7d2ab8a6a772c",
        ),
        _file(
            _CODEX,
            "test.txt",
            34_252,
            "27127fcb34688c4778e88a39ef3c9b540807da846021e9d9685660ac1838aca1",
        ),
    ),
)

_FB14K_QAQ = Dataset(
    name="fb14k-qaq",
    title="FB14k-QAQ, 65,130 queries (Speranskaya et al., 2020)",
    facts=236_795,
    licence="MIT; Freebase, CC BY 2.5",
    files=(
        _file(
            _QAQ,
            "data/valid_obj.txt",
            1_453_110,
            "ac2a1ebd445802dc96c3f24ede73f4828826a8af1f4b5ad16195f2c7a39023dd",
        ),
        _file(
            _QAQ,
            "data/valid_subj.txt",
            1_029_363,
            "300669d9b73f11eb91183d4438b8a42f7be371dfc45b6c464c5648927fdc0ad9",
        ),
        _file(
            _QAQ,
            "data/test_obj.txt",
            1_452_107,
            "19e657f6c80e6922224ca36bee48fa59bae77b2e74cda3ed2f768de24c2b4390",
        ),
        _file(
            _QAQ,
            "data/test_subj.txt",
            1_019_731,
            "eabdd256a05ebd920390d77df401b1e8665af5c1def5e94ab555dd381708828e",
        ),
        _file(
            _QAQ,
            "supplementary/grouping_answers_obj.csv",
            2_263_262,
            "a8786040a79e244114b95dbfc77934a830e4311b7de7de31cb36a0148c422f1e",
        ),
        _file(
            _QAQ,
            "supplementary/grouping_answers_subj.csv",
            1_625_596,
            "6f491444b8d2b0c89d35ef241d29716010613e1835cd40bd33434488ea58fdf8",
        ),
    ),
    derivation=Derivation(
        source="fb15k-237",
        make=derive_qaq,
        sums={
            "train.txt": "b2a7e6a6cf3ecd9707867867a91d8f3102b8e623ebfc123f26f34779cdebe11d",
            "removed_entities.txt": (
                "1500294847317b98077f368fd2a4f96c64e811047778c929e65515bfa7c1454c"
            ),
        },
    ),
)

CATALOGUE: Mapping[str, Dataset] = {
    dataset.name: dataset for dataset in [_WORLD, _FB15K_237, _WN18RR, _CODEX_S, _FB14K_QAQ]
}
