"""Where new facts go: a place for each kind of them, checked before any work is done."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from assent.core.new_facts import NewFacts
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError
from assent.files.atomic import Together, left_behind, refuse_to_write, resolved
from assent.files.facts import (
    files_of,
    partial,
    refuse_suffix,
    refuse_unused,
    write_facts,
    write_refused,
)
from assent.files.provenance import About, store_graph
from assent.files.sparql import Store, is_store


@dataclass(frozen=True, slots=True)
class Destinations:
    """Files or SPARQL stores for the facts of a completion, and a file for those refused."""

    accepted: str
    review: str | None = None
    refused: Path | None = None
    is_partial: bool = False  # what was stopped goes beside what is whole

    @property
    def places(self) -> list[str]:
        """Of accepted facts; then of those to review, if these are wanted."""
        wanted = [place for place in (self.accepted, self.review) if place is not None]
        if not self.is_partial:
            return wanted
        return [place if is_store(place) else str(partial(Path(place))) for place in wanted]

    def files(self) -> list[Path]:
        """All files that are written."""
        refused = [] if self.refused is None else [self.refused]
        return [*chain.from_iterable(map(files_of, self.places)), *refused]

    def refuse_unfit(self, options: Iterable[str], overwrite: bool, note: Path) -> None:
        """Raises an error for a place that cannot be written to, or has no use for an option.

        By the `note`, a file that the same command left behind may be replaced.
        """
        for place in self.places:
            refuse_suffix(place)
        named = [*self.places, *([] if self.refused is None else [str(self.refused)])]
        refuse_unused(named, options)
        stores, files = list(filter(is_store, named)), self.files()
        different = {str(resolved(file)) for file in files} | set(stores)
        if len(different) < len(files) + len(stores):
            raise ConfigError(f"{', '.join(named)}: one file cannot hold two kinds of facts")
        for file in files:
            refuse_to_write(file, overwrite or left_behind(file, note))

    def refuse_names(self, names: Vocabulary) -> None:
        """Raises an error for a file that cannot hold facts about these names."""
        for place in self.places:
            refuse_suffix(place, names)

    def write(self, kinds: Sequence[NewFacts], about: About, files: Together) -> None:
        """Writes accepted facts, and those to review if these are wanted, to files."""
        for place, facts in zip(self.places, kinds, strict=False):
            if not is_store(place):
                write_facts(place, facts, about, files.beside)

    def send(self, kinds: Sequence[NewFacts], about: About) -> None:
        """Sends what `write` leaves out, to stores."""
        to_store = about._replace(graph=self._graph(about))
        for place, facts in zip(self.places, kinds, strict=False):
            if is_store(place):
                write_facts(place, facts, to_store)

    def write_refused(
        self, facts: NewFacts, reasons: Iterable[str], about: About, files: Together
    ) -> None:
        """Writes facts that were refused, and why, if these are wanted."""
        if self.refused is not None:
            write_refused(self.refused, facts, reasons, about.spreadsheet_safe, files.beside)

    def in_words(self, about: About) -> list[str]:
        """The places, as people are told of them."""
        graph = self._graph(about)
        return [
            f"{Store.of(place).url}, graph {graph}"
            if is_store(place)
            else " and ".join(map(str, files_of(place)))
            for place in self.places
        ]

    def _graph(self, about: About) -> str:
        return store_graph(about) + (".partial" if self.is_partial else "")
