"""The file formats that facts are read from and written to.

A format is one file of this folder. It ends in a table `FORMATS` with one line a suffix,

    ".nt": Format(read_nt, write=write_nt),

or, for folders that a certain file marks, in a table `FOLDERS`. Both are found from there:
reading, writing, help texts and error messages need no other change.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from assent.core.facts import Split
from assent.errors import DataError

if TYPE_CHECKING:  # importing polars takes a fifth of a second, which `--help` has no use for
    import polars as pl

COLUMNS = ("head", "relation", "tail")

LeftOut = Counter[str]  # why facts were left out -> how many
Triple = tuple[str, str, str]


class Kept(NamedTuple):
    """What else than IRIs is read as an entity, in formats that have such things."""

    literals: bool = False
    blank_nodes: bool = False


class Label(NamedTuple):
    """A name for an entity, a relation or a type, in a language or in none."""

    subject: str
    predicate: str
    text: str
    language: str


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """The statements of a file as they stand there, but for those that were left out."""

    facts: "pl.DataFrame"  # the COLUMNS, by name; perhaps how often each stands there (`gathering`)
    left_out: LeftOut = field(default_factory=Counter)
    labels: Sequence[Label] = ()
    descriptions: Sequence[Triple] = ()  # statements of RDF, RDFS and OWL with a blank node
    prefixes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    is_rdf: bool = False  # whether rdf:type and its like mean what RDF says


class Format(NamedTuple):
    """How one kind of file is read and written; a frame has the COLUMNS, by name."""

    read: Callable[[Path, Kept], Parsed]
    write: "Callable[[pl.DataFrame, Path, bool], None] | None" = None  # True: keep RDF terms
    gzipped: bool = True  # whether it may be gzipped
    # Adds what else is known of names: statements between names, and labels. None: holds facts.
    add_told: "Callable[[Iterable[Triple], Iterable[Label], Path, bool], None] | None" = None


_HERE = Path(__file__).parent
_LINE = re.compile(r'^    "(\.\w+)": Format\((.*)\),$', re.MULTILINE)
_ADDED: dict[str, Format] = {}


def register(suffix: str, form: Format) -> None:
    """Adds a format that has no file in this folder."""
    _ADDED[suffix] = form


def readable_suffixes() -> tuple[str, ...]:
    """The suffixes of files that can be read, found without importing what reads them."""
    return tuple(sorted({*_in_files(), *_ADDED}))


def writable_suffixes() -> tuple[str, ...]:
    """The suffixes of files that can be written, found without importing what writes them."""
    added = {suffix for suffix, form in _ADDED.items() if form.write}
    return tuple(sorted({suffix for suffix, writes in _in_files().items() if writes} | added))


def format_of(path: Path) -> Format:
    """The format of a file: that of the suffix before `.gz`, if it is gzipped."""
    return all_formats()[suffix_of(path)]


def suffix_of(path: Path) -> str:
    """The suffix that says what a file holds: that before `.gz`, if it is gzipped."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    gzipped = bool(suffixes) and suffixes[-1] == ".gz"
    suffix = "".join(suffixes[-2:-1] if gzipped else suffixes[-1:])
    known = all_formats()
    if suffix not in known or (gzipped and not known[suffix].gzipped):
        found = "".join(suffixes[-2:] if gzipped else suffixes[-1:]) or "none"
        plain = ", ".join(suffix for suffix, form in known.items() if not form.gzipped)
        raise DataError(
            f"{path}: unknown suffix {found}; choose from {' '.join(known)}, "
            f"all but {plain} also with .gz"
        )
    return suffix


def all_formats() -> dict[str, Format]:
    """Suffix -> format, in the order of the suffixes."""
    found = {suffix: form for table in _tables("FORMATS") for suffix, form in table.items()}
    return dict(sorted((found | _ADDED).items()))


def folder_readers() -> "dict[str, Callable[[Path], Mapping[Split, pl.DataFrame]]]":
    """Name of the file that marks a folder -> what reads such a folder."""
    return {marker: read for table in _tables("FOLDERS") for marker, read in table.items()}


@cache
def _in_files() -> dict[str, bool]:
    """Suffix -> whether it can be written, by the lines of the tables."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(_HERE.glob("*.py")))
    return {suffix: "write=" in rest for text in texts for suffix, rest in _LINE.findall(text)}


@cache
def _tables(name: str) -> list[dict[str, Any]]:
    """The tables of this name in all files of this folder."""
    modules = [
        import_module(f"{__package__}.{path.stem}")
        for path in sorted(_HERE.glob("*.py"))
        if f"\n{name}" in path.read_text(encoding="utf-8") and path != Path(__file__)
    ]
    return [getattr(module, name) for module in modules]
