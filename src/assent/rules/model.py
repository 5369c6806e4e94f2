"""Rules as a model: the score of a candidate is the log-odds that its rules add up to."""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor

from assent.core.arrays import Ids, frozen
from assent.errors import ConfigError, DataError
from assent.geometry import threads
from assent.rules.columns import spoken_for
from assent.rules.ends import EACH
from assent.rules.firing import Firing, fire, item_of
from assent.rules.graph import Graph, inverse_of
from assent.rules.mining import Progress, RuleSet, mine
from assent.rules.spoken import Spoken, forget
from assent.rules.together import (
    COUNTED,
    DISCOUNT,
    FAINT,
    SLOTS_WEIGHT,
    against,
    as_log_odds,
    weights_of_kinds,
)

POPULAR = 0.01  # how far it is believed that an entity answers because it often does
SUREST = 7.0  # log-odds that rules can come to where they only have a say: a probability of .999
MOST_ENDS = 1_000  # rules with a constant after two steps that may be kept of each item
SHORT = 2  # steps of the paths that have a say; three cost far more time


@dataclass(frozen=True, slots=True)
class RuleSettings:
    steps: int = 3  # of the longest paths
    min_support: int = 2  # pairs or entities that a rule was right about, at least
    min_coverage: float = 0.0  # share of the relation's facts that a rule was right about, at least
    prior: float = 5.0  # cases against a rule, before any is counted
    discount: float = DISCOUNT  # of each rule after the surest: 0 believes that alone, 1 all alike
    slots_weight: float = SLOTS_WEIGHT  # of rules about whom an entity has some slot with
    file: str = ""  # of rules in AnyBURL's format, to be taken instead of mining
    ends: int = EACH  # rules with a constant after two steps, of each item; 0: none
    minutes: float = 0.0  # of mining, at most; 0: as many as it takes

    def __post_init__(self) -> None:
        for name, low, high in (
            ("steps", 1, 3),
            ("min_support", 1, math.inf),
            ("min_coverage", 0, 1),
            ("discount", 0, 1),
            ("slots_weight", 0, 1),
            ("ends", 0, MOST_ENDS),
            ("minutes", 0, math.inf),
        ):
            if not low <= (value := getattr(self, name)) <= high:
                raise ConfigError(f"model.{name}: expected {low} to {high}, found {value}")
        if not 0 < self.prior < math.inf:  # without any, rules that never failed would be certain
            raise ConfigError(f"model.prior: expected a number above 0, found {self.prior}")


class RuleModel:
    """A scorer that counts instead of learning: what training would need, it has not.

    With `direct`, other facts between anchor and entity speak for a candidate. Where a benchmark
    holds out pairs of entities, no answer has such facts, and they are not listened to.
    """

    Settings = RuleSettings

    def __init__(self, num_entities: int, num_relations: int, settings: RuleSettings) -> None:
        self.num_entities, self.num_relations = num_entities, num_relations
        self.settings = settings
        self.hear(frozen(np.empty((0, 3))), None, True)

    def learn(
        self,
        facts: Ids,
        direct: bool,
        seed: int = 0,
        minutes: float = math.inf,
        progress: Progress = lambda what, done, total: None,
    ) -> None:
        """Mines the rules of facts (fact, 3), in so many minutes at most."""
        minutes = min(minutes, self.settings.minutes or math.inf)
        rules = mine(
            facts, self.num_entities, self.num_relations, steps=self.settings.steps,
            min_support=self.settings.min_support, ends=self.settings.ends,
            prior=self.settings.prior, minutes=minutes, seed=seed, progress=progress,
        )  # fmt: skip
        self.hear(facts, rules.covering(self.settings.min_coverage), direct)

    def hear(self, facts: Ids, rules: RuleSet | None, direct: bool) -> None:
        """Takes these rules about these facts."""
        if rules is None:
            rules = mine(facts, self.num_entities, self.num_relations)
        self.facts, self.rules, self.direct = facts, rules, direct
        self.firing = Firing.of(rules, direct, self.settings.prior)
        sizes = rules.graph.sizes
        anchors = sizes[rules.graph.num_items :]  # (slot,)  that have it
        self.popularity = (  # (item,)
            POPULAR
            * sizes[: rules.graph.num_items]
            / (anchors[rules.graph.item_slots] + self.settings.prior)
        ).astype(np.float32)
        self.weights = weights_of_kinds(self.settings.slots_weight)

    def scores(self, anchors: Tensor, relations: Tensor) -> Tensor:  # -> (query, entity)
        asked, slots = anchors.cpu().numpy(), relations.cpu().numpy()
        out = np.empty((len(asked), self.num_entities), np.float32)

        def work(part: int, parts: int) -> None:
            rows = np.arange(part, len(asked), parts)
            spoken = Spoken.room(self.num_entities, self.num_entities)
            _score(rows, asked, slots, self.firing.links, self.firing.rules, self.direct, spoken,
                   self.weights, self.settings.discount, self.popularity, out)  # fmt: skip

        threads.side_by_side(work)
        return torch.from_numpy(out)

    def pairs(self, anchors: Tensor, relations: Tensor, entities: Tensor) -> Tensor:  # -> (fact,)
        asked = [ids.cpu().numpy().astype(np.int32) for ids in (anchors, relations, entities)]
        best, *_ = spoken_for(self.firing, *asked)
        out = np.empty(len(best), np.float32)
        _score_pairs(*asked, best, self.firing.links, self.weights, self.settings.discount,
                     self.popularity, out)  # fmt: skip
        return torch.from_numpy(out)

    def state_dict(self) -> dict[str, Tensor]:
        """The facts and the rules, as a file keeps them."""
        arrays = {"facts": self.facts, "direct": np.array([self.direct]), **self.rules.arrays()}
        return {name: torch.from_numpy(np.array(values)) for name, values in arrays.items()}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Takes facts and rules from a file, which may hold anything."""
        arrays = {name: tensor.numpy() for name, tensor in state.items()}
        facts, direct = arrays.pop("facts", None), arrays.pop("direct", None)
        if facts is None or direct is None or facts.ndim != 2 or facts.shape[1] != 3:
            raise DataError("rules: expected facts, and whether those between two entities speak")
        limits = np.array([self.num_entities, self.num_relations, self.num_entities])
        if ((facts < 0) | (facts >= limits)).any():
            raise DataError("rules: a fact about an entity or relation that is not there")
        facts = frozen(facts)
        graph = Graph.of(facts, self.num_entities, self.num_relations)
        self.hear(facts, RuleSet.of_arrays(graph, arrays), bool(direct[0]))

    def take(self, weights: Mapping[str, Tensor]) -> None:
        """The same; what it makes of them is its own."""
        self.load_state_dict(weights)

    def eval(self) -> "RuleModel":
        """Itself: there is nothing that only training does."""
        return self

    def digest(self) -> str:
        """A checksum of all that scores depend on."""
        settings = self.settings
        weighed = settings.prior, settings.discount, settings.slots_weight
        sha = hashlib.sha256(repr(("rules", *weighed)).encode())
        for name, tensor in sorted(self.state_dict().items()):
            sha.update(name.encode() + tensor.numpy().tobytes())
        return sha.hexdigest()


def rules_of(facts: Ids, num_entities: int, num_relations: int) -> RuleSet:
    """The rules that a judge hears."""
    return mine(facts, num_entities, num_relations, steps=SHORT)


def log_odds(
    facts: Ids, num_entities: int, num_relations: int
) -> Callable[[Ids], NDArray[np.float64]]:
    """What the rules of these facts (fact, 3) say to candidates (candidate, 3), as log-odds.

    No fact between the two ends of a candidate speaks: where pairs were held out, no held-out fact
    has one. The rules are mined when the first candidates come: constants and short paths.
    """
    model = RuleModel(num_entities, num_relations, RuleSettings(steps=SHORT))
    heard = False

    def of(candidates: Ids) -> NDArray[np.float64]:
        nonlocal heard
        if not heard:
            rules = mine(facts, num_entities, num_relations, steps=SHORT, ends=0)
            model.hear(facts, rules, direct=False)
            heard = True
        said = model.pairs(*torch.from_numpy(np.array(candidates)).unbind(1)).numpy()
        return np.clip(said.astype(np.float64), -SUREST, SUREST)

    return of


@njit(nogil=True, cache=True)
def _score(
    queries, anchors, slots, links, rules, direct, spoken, weights, discount, popularity, out
):
    num_slots = len(links.slot_items) - 1
    top = np.empty(COUNTED, np.float32)
    for query in queries:
        anchor, slot = anchors[query], slots[query]
        back = item_of(links, inverse_of(slot, num_slots), anchor)
        doubt = (1.0 - popularity[back] if back >= 0 else 1.0) * (1.0 - FAINT)
        out[query, :] = as_log_odds(doubt)
        for item in range(links.slot_items[slot], links.slot_items[slot + 1]):
            entity = links.item_entities[item]
            out[query, entity] = as_log_odds(doubt * (1.0 - popularity[item]))
        count = fire(anchor, slot, links, rules, direct, spoken)
        for row in range(count):
            entity = spoken.entities[row]
            item = item_of(links, slot, entity)
            left = doubt * (1.0 - popularity[item] if item >= 0 else 1.0)
            left *= against(spoken.best[row], weights, discount, top)
            out[query, entity] = as_log_odds(left)
        forget(spoken, count)


@njit(nogil=True, cache=True)
def _score_pairs(anchors, slots, entities, best, links, weights, discount, popularity, out):
    num_slots = len(links.slot_items) - 1
    top = np.empty(COUNTED, np.float32)
    for i in range(len(anchors)):
        back = item_of(links, inverse_of(slots[i], num_slots), anchors[i])
        doubt = (1.0 - popularity[back] if back >= 0 else 1.0) * (1.0 - FAINT)
        item = item_of(links, slots[i], entities[i])
        left = doubt * (1.0 - popularity[item] if item >= 0 else 1.0)
        out[i] = as_log_odds(left * against(best[i], weights, discount, top))
