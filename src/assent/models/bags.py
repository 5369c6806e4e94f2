"""Texts as bags of features: words, character n-grams of names, and types, weighed by TF-IDF."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Keys, found_in, offsets_of
from assent.core.texts import Texts, words

SIZES = (3, 4, 5)  # letters of an n-gram
NAMING = 5  # words at the start of a text whose n-grams count: the name, not what describes it
Numbers = NDArray[np.float32]


class Bags(NamedTuple):
    """The features of each entity; those of one kind are a vector of length 1."""

    offsets: Keys  # (entity + 1,)
    features: Keys  # (entity's feature,)  ascending for each entity
    amounts: Numbers  # (entity's feature,)


class _Occurrences(NamedTuple):
    """Who has which feature, each once."""

    entities: Keys  # (occurrence,)
    kinds: Keys  # (occurrence,)  a place in KINDS
    keys: Keys  # (occurrence,)  hash of the feature


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The features that entities share, by the hash of what they are."""

    keys: Keys  # (feature,)  ascending
    idf: Numbers  # (feature,)  log of how many entities there are for each that has it

    @classmethod
    def of(cls, texts: Texts, least: int) -> Self:
        """Of the features that `least` entities have, and not all of them: that says nothing."""
        keys, counts = np.unique(_occurrences(texts).keys, return_counts=True)
        shared = (counts >= least) & (counts < len(texts))
        return cls(keys[shared], np.log(len(texts) / counts[shared]).astype(np.float32))

    def bags(self, texts: Texts) -> Bags:
        """The features of these entities, as far as they are known here."""
        entities, kinds, keys = _occurrences(texts)
        known = found_in(self.keys, keys)
        entities, features = entities[known], np.searchsorted(self.keys, keys[known])
        vectors = entities * len(KINDS) + kinds[known]
        amounts = self.idf[features].astype(np.float64)
        amounts /= np.sqrt(np.bincount(vectors, amounts**2))[vectors]
        order = np.lexsort((features, entities))
        counts = np.bincount(entities, minlength=len(texts))
        return Bags(offsets_of(counts), features[order], amounts[order].astype(np.float32))


def _occurrences(texts: Texts) -> _Occurrences:
    hash_of = cache(_hash)
    entities: list[int] = []
    kinds: list[int] = []
    keys: list[int] = []
    for entity, (name, types) in enumerate(zip(texts.names, texts.types, strict=True)):
        for kind, found in enumerate(KINDS.values()):
            distinct = {hash_of(kind, feature) for feature in found(name, types)}
            keys += distinct
            entities += [entity] * len(distinct)
            kinds += [kind] * len(distinct)
    return _Occurrences(*(np.array(column, np.int64) for column in (entities, kinds, keys)))


def _hash(kind: int, feature: str) -> int:
    digest = hashlib.blake2b(f"{kind} {feature}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _words(name: str, types: Iterable[str]) -> Iterable[str]:
    return words(name)


def _ngrams(name: str, types: Iterable[str]) -> Iterator[str]:
    for word in words(name)[:NAMING]:
        marked = f"<{word}>"
        for size in SIZES:
            yield from (marked[first : first + size] for first in range(len(marked) - size + 1))


def _types(name: str, types: Iterable[str]) -> Iterable[str]:
    return types


KINDS = {"words": _words, "n-grams": _ngrams, "types": _types}
