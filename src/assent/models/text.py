"""Text: an entity is what is written about it, so that entities nobody trained on have vectors."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from assent.core.texts import Texts
from assent.errors import ConfigError, DataError
from assent.geometry import Table
from assent.geometry.bags import Bag, bag_sums
from assent.models.bags import Lexicon
from assent.models.base import WHOLE
from assent.models.composed import Composed
from assent.models.embedding import DotSettings


@dataclass(frozen=True, slots=True)
class TextSettings(DotSettings):
    encoder: str = "ngrams"  # or wordllama, or the folder of a sentence-transformers model
    names: str = ""  # a file with texts about entities: TSV (entity, text) or JSON
    least: int = 2  # entities that share a word, an n-gram or a type: else it is not heard
    free: bool = True  # entities of the train facts also have vectors of their own
    free_dropout: float = 0.5  # share of the entities that a training step sees without these

    def __post_init__(self) -> None:
        DotSettings.__post_init__(self)  # a class with slots is made anew: no super()
        if self.least < 1:
            raise ConfigError(f"model.least: expected 1 or more, found {self.least}")


class Written(NamedTuple):
    """What is written about some entities, as tensors: bags of features, and given vectors."""

    offsets: Tensor  # (entity + 1,)
    features: Tensor  # (entity's feature,)
    amounts: Tensor  # (entity's feature,)
    given: Tensor  # (entity, width)  by an encoder; width 0: by none

    @classmethod
    def of(cls, texts: Texts, lexicon: Lexicon) -> Self:
        offsets, features, amounts = map(torch.from_numpy, lexicon.bags(texts))
        return cls(offsets, features, amounts, torch.tensor(texts.vectors, dtype=torch.float32))

    def of_entities(self, entities: Tensor) -> Self:
        """What is written about these of the entities (row,)."""
        starts = self.offsets[entities]
        counts = self.offsets[entities + 1] - starts
        offsets = functional.pad(counts.cumsum(0), (1, 0))
        places = torch.arange(int(offsets[-1]), device=offsets.device)
        places += torch.repeat_interleave(starts - offsets[:-1], counts)
        return type(self)(
            offsets, self.features[places], self.amounts[places], self.given[entities]
        )

    def and_of(self, other: Self) -> Self:
        """What is written about these entities, and then about those of the other."""
        offsets = torch.cat([self.offsets, other.offsets[1:] + self.offsets[-1]])
        return type(self)(offsets, *map(torch.cat, zip(self[1:], other[1:], strict=True)))


class Text(Composed, name="text"):
    """ComplEx over vectors that are sums of what is written about an entity.

    Each word, character n-gram and type that entities share has a vector, and what an encoder made
    of the text has a linear map. An entity's vector is the sum of these, weighed by TF-IDF, and so
    is its bias. With `free`, entities of the train facts have a vector of their own as well; for
    some entities it is left out in each step, so that the text learns to do without it.
    """

    Settings = TextSettings
    settings: TextSettings
    keys: Tensor  # (feature,)  the lexicon
    idf: Tensor  # (feature,)
    start: nn.Parameter | None  # (1,)  the bias of an entity of which nothing is known
    shared: nn.Parameter | None  # (feature, dim)
    shared_bias: nn.Parameter | None  # (feature, 1)
    mapped: nn.Parameter | None  # (width, dim)
    mapped_bias: nn.Parameter | None  # (width, 1)

    def __init__(self, num_entities: int, num_relations: int, settings: TextSettings) -> None:
        super().__init__(num_entities, num_relations, settings)
        biased, free = settings.entity_bias, settings.free
        self.start = nn.Parameter(torch.full((1,), settings.bias_start)) if biased else None
        self.bias = nn.Parameter(torch.zeros(num_entities)) if biased and free else None
        if not free:
            self.register_parameter("entities", None)
        self.read(Texts.plain([""] * num_entities))

    def read(self, texts: Texts) -> None:
        """Begins anew, with these texts (entity,)."""
        if len(texts) != self.num_entities:
            raise DataError(f"texts about {len(texts)} entities; expected {self.num_entities}")
        lexicon = Lexicon.of(texts, self.settings.least)
        written = Written.of(texts, lexicon)
        for name, numbers in (("keys", lexicon.keys), ("idf", lexicon.idf)):
            self.register_buffer(name, torch.from_numpy(numbers))
        for name, part in written._asdict().items():
            self.register_buffer(name, part)
        for name, count in (("shared", len(lexicon.keys)), ("mapped", written.given.shape[1])):
            self.register_parameter(name, self.drawn(count, self.settings.dim) if count else None)
            biased = count and self.settings.entity_bias
            bias = nn.Parameter(torch.zeros(count, 1)) if biased else None
            self.register_parameter(f"{name}_bias", bias)
        self.forget()

    def knowing(self, more: Texts) -> Self:
        """A copy that knows further entities, after its own, by these texts."""
        lexicon = Lexicon(self.keys.cpu().numpy(), self.idf.cpu().numpy())
        self.forget()
        copy = deepcopy(self)
        copy.num_entities += len(more)
        copy.written = self.written.and_of(
            Written(*(part.to(self.device) for part in Written.of(more, lexicon)))
        )
        for name in self.tables:
            if (table := getattr(self, name)) is not None:
                rows = table.new_zeros(len(more), *table.shape[1:])
                setattr(copy, name, nn.Parameter(torch.cat([table.detach(), rows])))
        return copy

    @property
    def written(self) -> Written:
        return Written(*(getattr(self, name) for name in Written._fields))

    @written.setter
    def written(self, written: Written) -> None:
        for name, part in written._asdict().items():
            setattr(self, name, part)

    def composed(self, which: slice | Tensor) -> Table:
        """The vectors and biases of these entities, summed up."""
        written = self.written
        own: Tensor | None = self.entities
        own_bias: Tensor | None = self.bias
        if not (isinstance(which, slice) and which == WHOLE):
            if isinstance(which, slice):
                which = torch.arange(len(written.given), device=self.device)[which]
            written = written.of_entities(which)
            own, own_bias = (None if x is None else x[which] for x in (own, own_bias))
        vectors = _summed(written, self.shared, self.mapped, self.settings.dim)
        bias = None
        if self.start is not None:
            bias = _summed(written, self.shared_bias, self.mapped_bias, 1)[:, 0] + self.start
        if own is not None:
            kept = self._counts(own)
            vectors = torch.addcmul(vectors, own, kept[:, None])
            if bias is not None and own_bias is not None:
                bias = torch.addcmul(bias, own_bias, kept)
        return Table(vectors, bias)

    def _counts(self, own: Tensor) -> Tensor:  # -> (entity,)
        """1 where an entity's own vector counts in this step, 0 where it does not."""
        share = self.settings.free_dropout if self.training else 0.0
        return (torch.rand(len(own), device=own.device) >= share).to(own.dtype)

    @contextmanager
    def only(self, tables: Sequence[nn.Parameter], entities: Tensor) -> Iterator[None]:
        whole = self.written
        with super().only(tables, entities):
            self.written = whole.of_entities(entities)
            try:
                yield
            finally:
                self.written = whole

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        """Sizes follow what is loaded: a model that has read nothing yet takes any text."""
        self.forget()
        for name in BUFFERS:
            if _differ(getattr(self, name), part := state.get(prefix + name)) and part is not None:
                setattr(self, name, torch.empty_like(part, device=self.device))
        for name in PARAMETERS:
            if _differ(getattr(self, name), part := state.get(prefix + name)):
                part = None if part is None else torch.empty_like(part, device=self.device)
                setattr(self, name, None if part is None else nn.Parameter(part))
        super()._load_from_state_dict(state, prefix, *rest)
        _check(self.written, self.keys, self.num_entities)


BUFFERS = ("keys", "idf", *Written._fields)
PARAMETERS = ("shared", "shared_bias", "mapped", "mapped_bias")


def _summed(
    written: Written, shared: Tensor | None, mapped: Tensor | None, width: int
) -> Tensor:  # -> (entity, width)
    """Of each entity, the rows of its features, and what the map makes of its given vector."""
    offsets, features, amounts, given = written
    total = given.new_zeros(len(given), width)
    if shared is not None:
        total = bag_sums(Bag(offsets, features, amounts), shared)
    return total if mapped is None else torch.addmm(total, given, mapped)


def _differ(mine: Tensor | None, other: Tensor | None) -> bool:
    """Whether the other cannot be copied into mine."""
    if mine is None or other is None:
        return mine is not other
    return mine.shape != other.shape


def _check(written: Written, keys: Tensor, num_entities: int) -> None:
    """Refuses what a file may hold but no text comes to."""
    offsets, features, amounts, given = written
    fits = (
        len(offsets) == len(given) + 1 == num_entities + 1
        and len(features) == len(amounts) == int(offsets[-1])
        and int(offsets[0]) == 0
        and bool((offsets.diff() >= 0).all())
        and bool(((features >= 0) & (features < max(len(keys), 1))).all())
    )
    if not fits:
        raise DataError("text: what is saved about the entities does not fit together")
