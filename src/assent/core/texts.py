"""What is written about entities: names, types, descriptions; and the words in names and ids."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from assent.core.showing import brief
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError

Vectors = NDArray[np.floating[Any]]

WORD = re.compile(r"[^\W_]+")
HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")  # where a word of bornIn begins
LETTERS = re.compile(r"[^\W\d_]{3,}")
# What makes letters a word: identifiers that machines make up, Freebase's too, have no vowels.
VOWEL = re.compile(r"[aeiou]|[^\x00-\x7f]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """A text about each entity, the names of its types, and perhaps what an encoder made of them.

    A text begins with the entity's name; what describes it comes after.
    """

    names: tuple[str, ...]  # (entity,)  empty: nothing is known of it
    types: tuple[tuple[str, ...], ...]  # (entity,)
    vectors: Vectors  # (entity, width)  width 0: no encoder has read them

    __repr__ = brief

    def __post_init__(self) -> None:
        if not len(self.names) == len(self.types) == len(self.vectors):
            raise DataError(
                f"texts: {len(self.names)} names, but types of {len(self.types)} entities and "
                f"vectors of {len(self.vectors)}"
            )

    @classmethod
    def plain(cls, names: Sequence[str], types: Sequence[Sequence[str]] = ()) -> Self:
        """Names and types as they are; without types, no entity has any."""
        kinds = tuple(map(tuple, types)) or ((),) * len(names)
        return cls(tuple(names), kinds, np.empty((len(names), 0), np.float32))

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, types: Types | None = None, told: Sequence[str] = ()
    ) -> Self:
        """What a graph has: labels, the words in ids, types; and what else is `told` (entity,)."""
        labels = vocabulary.entity_labels or vocabulary.entities
        names = []
        for place, (name, label) in enumerate(zip(vocabulary.entities, labels, strict=True)):
            parts = ["" if label == name else label, *told[place : place + 1], in_words(name)]
            names.append(" ".join(part for part in parts if part))
        return cls.plain(names, _types_of(types, vocabulary.num_entities))

    def __len__(self) -> int:
        return len(self.names)

    def __bool__(self) -> bool:
        """Whether anything is known of any entity."""
        return any(self.names) or any(self.types)

    def summary(self) -> str:
        """Of how many entities something is known."""
        named, typed = (sum(map(bool, column)) for column in (self.names, self.types))
        return (
            f"texts: {named:,} of {len(self):,} entities have names in words, {typed:,} have types"
        )

    def sentences(self) -> list[str]:
        """Name and types of each entity in one line, for encoders of sentences."""
        return [
            ", ".join(part for part in (name, *types) if part)
            for name, types in zip(self.names, self.types, strict=True)
        ]

    def encoded(self, vectors: Vectors) -> Self:
        """The same texts, with what an encoder made of them."""
        return replace(self, vectors=vectors)

    def since(self, first: int) -> Self:
        """Those of all entities from this one on."""
        return type(self)(self.names[first:], self.types[first:], self.vectors[first:])


def words(text: str) -> list[str]:
    """The words of a text in lower case, without accents: `São Paulo` is sao, paulo."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return WORD.findall("".join(letter for letter in plain if not unicodedata.combining(letter)))


def in_words(name: str) -> str:
    """An id as words, `bornIn` as `born In`; empty if there is no word in it: `Q42`, `/m/06rf7`."""
    spaced = HUMP.sub(" ", name)
    if not any(VOWEL.search(letters) for letters in LETTERS.findall(spaced)):
        return ""
    return " ".join(WORD.findall(spaced))


def _types_of(types: Types | None, num_entities: int) -> tuple[tuple[str, ...], ...]:
    if types is None:
        return ()
    offsets = types.entity_offsets
    return tuple(
        tuple(types.names[kind] for kind in types.entity_types[offsets[e] : offsets[e + 1]])
        for e in range(num_entities)
    )
