"""A trained PyKEEN model as a scorer. PyKEEN itself is never imported."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from assent.adapters.logits import logits
from assent.core.benchmark import Benchmark
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError, DataError
from assent.files.pykeen_exports import write_export

BATCH = 32  # queries scored together: many interactions make a tensor (query, entity, dim)
TABLES = {"entities": "entity", "relations": "relation"}  # what PyKEEN calls its tables
SHOWN = 3  # missing names in an error

Ask = Callable[[Tensor], Tensor]  # pairs (query, 2) -> scores (query, PyKEEN's entity)


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A PyKEEN model and the triples factory that knows its names."""

    model: Any
    factory: Any
    batch: int = BATCH

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ConfigError(f"batch: expected 1 or more, found {self.batch}")
        if not all(hasattr(self.factory, name) for name in ("entity_to_id", "relation_to_id")):
            found = type(self.factory).__name__
            raise ConfigError(f"expected a TriplesFactory, which has names; found a {found}")
        for kind, size, names in (
            ("entities", "num_entities", self.factory.entity_to_id),
            ("relations", "num_real_relations", self.factory.relation_to_id),
        ):
            count = getattr(self.model, size, len(names))
            if count != len(names):
                raise DataError(
                    f"a model of {count} {kind}, but a factory of {len(names)}; "
                    "expected the factory that the model was trained with"
                )

    @property
    def title(self) -> str:
        """What reports call it."""
        return f"PyKEEN {type(self.model).__name__}"

    def on(self, benchmark: Benchmark) -> "PyKEENScorer":
        names = benchmark.vocabulary
        return PyKEENScorer(
            self.model,
            names,
            _ids(names.entities, self.factory.entity_to_id, "entities"),
            _ids(names.relations, self.factory.relation_to_id, "relations"),
            self.batch,
        )


def export(result: Any, folder: str | Path, factory: Any = None) -> Path:
    """Writes a trained model as safetensors and JSON, for `assent adopt`; returns the folder.

    `result` is what `pykeen.pipeline` gives, or a model with the `factory` that it was trained
    with. PyKEEN's own `trained_model.pkl` is a pickle, which assent does not open.
    """
    if factory is None:
        result, factory = result.model, result.training
    Trained(result, factory)  # refuses a factory of another model
    numbers, tensors = [], {}
    was_training = result.training
    result.eval()
    try:
        for name in ("entities", "relations"):
            table = getattr(result, f"{TABLES[name]}_representations")[0]().detach()
            if table.is_complex():
                numbers.append(name)
                table = torch.view_as_real(table)
            tensors[name] = table
    finally:
        result.train(was_training)
    facts = getattr(factory, "mapped_triples", None)
    if facts is not None:
        tensors["facts"] = facts
    document = {
        "model": type(result).__name__,
        "inverses": bool(result.use_inverse_triples),
        "norm": getattr(getattr(result, "interaction", None), "p", None),
        "complex": numbers,
        "entities": dict(factory.entity_to_id),
        "relations": dict(factory.relation_to_id),
    }
    write_export(Path(folder), document, tensors)
    return Path(folder)


def of(model: Any, factory: Any, batch: int = BATCH) -> Trained:
    """A model as `pykeen.pipeline` leaves it, and its training factory; `adapt` takes it.

    Entities and relations are matched by name; `batch` queries are scored at a time.
    """
    return Trained(model, factory, batch)


@dataclass(frozen=True, slots=True, eq=False)
class PyKEENScorer:
    """Asks for tails by `score_t`, for heads by `score_h` or the inverse relation.

    `score_*` give logits; `predict_*` might put a sigmoid on them.
    """

    model: Any
    vocabulary: Vocabulary
    entities: Tensor  # (entity,)    PyKEEN's ids of our entities
    relations: Tensor  # (relation,)  and of our relations
    batch: int

    @property
    def num_entities(self) -> int:
        return self.vocabulary.num_entities

    @torch.no_grad()
    def scores(self, anchors: Tensor, relations: Tensor) -> Tensor:  # -> (query, entity)
        scores = torch.empty(len(anchors), self.num_entities)
        was_training = self.model.training
        self.model.eval()
        try:
            for ask, pairs, places in self._sides(anchors, relations):
                for start in range(0, len(places), self.batch):
                    rows = places[start : start + self.batch]
                    given = ask(pairs[rows].to(self.model.device))
                    given = given[:, self.entities.to(given.device)]
                    asked = anchors[rows].numpy(), relations[rows].numpy()
                    mine = logits(given, *asked, self.vocabulary, "the PyKEEN model")
                    scores[rows] = torch.from_numpy(mine)
        finally:
            self.model.train(was_training)
        return scores

    @torch.no_grad()
    def pairs(self, anchors: Tensor, relations: Tensor, entities: Tensor) -> Tensor:  # -> (fact,)
        """The same numbers as in `scores`, for single candidates: a judge asks for them."""
        head = torch.from_numpy(self.vocabulary.asks_for_head(relations.numpy()))
        mine = torch.from_numpy(self.vocabulary.relations_of(relations.numpy()))
        known, by, found = self.entities[anchors], self.relations[mine], self.entities[entities]
        if self.model.use_inverse_triples:
            facts = torch.stack([known, 2 * by + head, found], dim=1)
        else:
            ends = torch.where(head, found, known), torch.where(head, known, found)
            facts = torch.stack([ends[0], by, ends[1]], dim=1)
        was_training = self.model.training
        self.model.eval()
        try:
            given = self.model.score_hrt(facts.to(self.model.device))
        finally:
            self.model.train(was_training)
        scores: Tensor = given.detach().float().cpu().reshape(len(anchors))
        if not bool(torch.isfinite(scores).all()):
            raise DataError("the PyKEEN model: scores that are no finite numbers")
        return scores

    def digest(self) -> str:
        """A checksum of all that scores depend on."""
        sha = hashlib.sha256(type(self.model).__name__.encode())
        sha.update(self.entities.numpy().tobytes() + self.relations.numpy().tobytes())
        for name, tensor in sorted(self.model.state_dict().items()):
            sha.update(name.encode() + tensor.detach().cpu().contiguous().numpy().tobytes())
        return sha.hexdigest()

    def _sides(self, anchors: Tensor, relations: Tensor) -> list[tuple[Ask, Tensor, Tensor]]:
        """What to call, with which pairs (query, 2), for which of the queries."""
        head = torch.from_numpy(self.vocabulary.asks_for_head(relations.numpy()))
        mine = torch.from_numpy(self.vocabulary.relations_of(relations.numpy()))
        known, by = self.entities[anchors], self.relations[mine]
        if self.model.use_inverse_triples:
            # PyKEEN then numbers a relation 2 r, and its inverse 2 r + 1.
            pairs = torch.stack([known, 2 * by + head], dim=1)
            return [(self.model.score_t, pairs, torch.arange(len(anchors)))]
        return [
            (self.model.score_t, torch.stack([known, by], dim=1), torch.nonzero(~head)[:, 0]),
            (self.model.score_h, torch.stack([by, known], dim=1), torch.nonzero(head)[:, 0]),
        ]


def _ids(names: tuple[str, ...], known: Mapping[str, int], kind: str) -> Tensor:
    missing = [name for name in names if name not in known]
    if missing:
        shown = ", ".join(map(repr, missing[:SHOWN])) + (", ..." if len(missing) > SHOWN else "")
        raise DataError(
            f"the PyKEEN factory lacks {len(missing)} of {len(names)} {kind}: {shown}; "
            "expected all of the benchmark's (TriplesFactory takes entity_to_id, relation_to_id)"
        )
    return torch.tensor([known[name] for name in names], dtype=torch.int64)
