"""What a path-based message-passing network knows, alone and heard by a judge; a trial, on valid.

    python benchmarks/message_passing.py RUN [--steps 2500] [--layers 3] [--seed 0]

In the manner of NBFNet and RED-GNN: for each query a state starts at the anchor and travels along
facts, layer by layer, and the states that arrive at the candidates are scored. The weights belong
to slots, none to an entity. RUN is a run of the benchmark whose shortlist is judged, with the
network's scores among the features and without.

No candidate is scored by a fact between it and the anchor, in training and in scoring alike. In
training some neighbours of the anchor are drawn, whatever they are to the query; the facts between
them and the anchor are hidden, and of all neighbours they alone are candidates. In scoring,
entities are dealt into groups, and for each group the same facts are hidden.
"""

import argparse
import time
from typing import NamedTuple

import numpy as np
from numba import njit

from assent.core.counts import f1
from assent.core.pairs import joined
from assent.core.queries import Queries, both_ways
from assent.core.scores import collect
from assent.core.shortlist import Shortlist
from assent.deciding.curves import best_single
from assent.deciding.features import Features
from assent.deciding.graph import LINKS
from assent.deciding.judge import PER_ANSWER, judged_by, train_forest
from assent.deciding.objectives import FBeta
from assent.deciding.shortlisting import Highest
from assent.scoring import score_split
from assent.verbs.deciders import features_from
from assent.verbs.runs import load_run

DIM = 16  # of a state
HIDDEN = 32  # units between a state and its score
MIXED = 8  # tables of slot weights that each query mixes
BLOCKS = 6  # of what a layer reads: the state below, three means, maximum, minimum
APART = 0.25  # of the neighbours of an anchor are hidden from it at a time
GROUPS = 4  # = 1 / APART
DRAWN = 100  # wrong candidates of a training query that fit its slot, and as many of all others
BATCH = 32
RATE = 0.005


class Graph(NamedTuple):
    """Train facts from both ends, by anchor and slot."""

    offsets: np.ndarray  # (entity + 1,)
    slots: np.ndarray  # (link,)
    ends: np.ndarray  # (link,)
    starts: np.ndarray  # (link,)
    inverse: np.ndarray  # (slot,)
    seen: np.ndarray  # (slot, entity)   how often it answers the slot

    @classmethod
    def of(cls, train: np.ndarray, num_entities: int, num_relations: int) -> "Graph":
        starts, slots, ends = both_ways(train, num_relations)
        order = np.lexsort((ends, slots, starts))
        starts, slots, ends = (np.ascontiguousarray(x[order]) for x in (starts, slots, ends))
        offsets = np.searchsorted(starts, np.arange(num_entities + 1))
        inverse = np.roll(np.arange(2 * num_relations), num_relations)
        seen = np.zeros((2 * num_relations, num_entities), np.float32)
        np.add.at(seen, (slots, ends), 1)
        return cls(offsets, slots, ends, starts, inverse, seen)

    @property
    def num_entities(self) -> int:
        return len(self.offsets) - 1

    def mask(self, entities: np.ndarray) -> np.ndarray:  # (entity,)
        among = np.zeros(self.num_entities, np.bool_)
        among[entities] = True
        return among

    def neighbours(self, anchor: int) -> np.ndarray:  # (link,)   some stand there twice
        return self.ends[self.offsets[anchor] : self.offsets[anchor + 1]]

    def answers(self, anchor: int, slot: int) -> np.ndarray:
        links = slice(self.offsets[anchor], self.offsets[anchor + 1])
        return self.ends[links][self.slots[links] == slot]


class Query(NamedTuple):
    """A query with its candidates, and the entities that are hidden from the anchor."""

    anchor: int
    slot: int
    apart: np.ndarray  # (entity,)
    candidates: np.ndarray  # (candidate,)


@njit
def reached(graph, query, entities, wanted):
    """The entities of the layer below, then those that one more step leads to, if wanted."""
    places = np.full(len(graph.offsets) - 1, -1)
    found = np.empty(len(places), np.int32)
    found[: len(entities)] = entities
    for place, entity in enumerate(entities):
        places[entity] = place
    count = len(entities)
    for start in entities:
        for link in range(graph.offsets[start], graph.offsets[start + 1]):
            end = graph.ends[link]
            if places[end] < 0 and wanted[end] and not hidden(query, start, end):
                places[end] = count
                found[count] = end
                count += 1
    return found[:count]


@njit
def hidden(query, one, other):
    return (one == query.anchor and query.apart[other]) or (
        other == query.anchor and query.apart[one]
    )


@njit
def gather(graph, query, states, places, targets, weights):
    """What arrives at each target: sum, maximum, minimum, how often these two, and messages."""
    count, dim = len(targets), states.shape[1]
    summed = np.zeros((count, dim), states.dtype)
    high, low = np.zeros_like(summed), np.zeros_like(summed)
    highs, lows = np.ones_like(summed), np.ones_like(summed)
    messages = np.zeros(count, states.dtype)
    for row, target in enumerate(targets):
        for link in range(graph.offsets[target], graph.offsets[target + 1]):
            start = graph.ends[link]
            place = places[start]
            if place < 0 or hidden(query, start, target):
                continue
            weight = weights[graph.inverse[graph.slots[link]]]
            first = messages[row] == 0
            messages[row] += 1
            for d in range(dim):
                message = states[place, d] * weight[d]
                summed[row, d] += message
                if first or message > high[row, d]:
                    high[row, d], highs[row, d] = message, 1
                elif message == high[row, d]:
                    highs[row, d] += 1
                if first or message < low[row, d]:
                    low[row, d], lows[row, d] = message, 1
                elif message == low[row, d]:
                    lows[row, d] += 1
    return summed, high, low, highs, lows, messages


@njit
def gather_back(graph, query, states, places, targets, weights, high, low, slopes):
    """The slopes of states and weights from those of sums, maxima and minima, ties divided."""
    of_states, of_weights = np.zeros_like(states), np.zeros_like(weights)
    of_sum, of_high, of_low = slopes
    for row, target in enumerate(targets):
        for link in range(graph.offsets[target], graph.offsets[target + 1]):
            start = graph.ends[link]
            place = places[start]
            if place < 0 or hidden(query, start, target):
                continue
            slot = graph.inverse[graph.slots[link]]
            for d in range(states.shape[1]):
                message = states[place, d] * weights[slot, d]
                slope = of_sum[row, d]
                if message == high[row, d]:
                    slope += of_high[row, d]
                if message == low[row, d]:
                    slope += of_low[row, d]
                of_states[place, d] += slope * weights[slot, d]
                of_weights[slot, d] += slope * states[place, d]
    return of_states, of_weights


class Layer(NamedTuple):
    """What a layer computed, kept for its gradient."""

    states: np.ndarray  # (place, dim)    of the layer below
    places: np.ndarray  # (entity,)       in it; -1 = not reached
    targets: np.ndarray  # (row,)
    read: np.ndarray  # (row, BLOCKS * dim)
    arrived: tuple[np.ndarray, ...]
    degrees: np.ndarray  # (row, 1)       logarithms
    normal: np.ndarray  # (row, dim)
    spread: np.ndarray  # (row, 1)


class Network:
    """Its parameters, their gradients, and a query forward and backward."""

    def __init__(self, graph: Graph, layers: int, seed: int, dtype: type = np.float32) -> None:
        self.graph, self.layers = graph, layers
        rng, slots = np.random.default_rng(seed), len(graph.inverse)

        def normal(scale: float, *shape: int) -> np.ndarray:
            return rng.normal(0, scale, shape)

        parameters = {
            "start": normal(1, slots, DIM),
            "mix": normal(1, slots, MIXED),
            "weights": normal(0.7, layers, slots, DIM),
            "tables": normal(0.5 / MIXED**0.5, MIXED, layers, slots, DIM),
            "linear": normal((2 * DIM) ** -0.5, layers, BLOCKS * DIM, DIM),
            "bias": np.zeros((layers, DIM)),
            "gain": np.ones((layers, DIM)),
            "shift": np.zeros((layers, DIM)),
            "first": normal(DIM**-0.5, DIM + 2, HIDDEN),
            "first_bias": normal(0.1, slots, HIDDEN),
            "second": normal(0.1, HIDDEN),
            "direct": normal(0.02, slots, DIM),
            "least": np.full(slots, -5.0),
        }
        self.parameters = {name: value.astype(dtype) for name, value in parameters.items()}
        self.slopes = {name: np.zeros_like(value) for name, value in self.parameters.items()}

    def scores(self, query: Query) -> np.ndarray:  # (candidate,)
        graph, p = self.graph, self.parameters
        self.query = query
        self.weights = p["weights"] + np.tensordot(p["mix"][query.slot], p["tables"], 1)
        dtype = self.weights.dtype
        near, entities = graph.neighbours(query.anchor), np.array([query.anchor], np.int32)
        lost = np.bincount(near[query.apart[near]], minlength=graph.num_entities)
        degrees = np.diff(graph.offsets) - lost
        everyone = np.ones(graph.num_entities, np.bool_)
        lead_there = graph.mask(query.candidates)
        for candidate in query.candidates:
            lead_there[graph.neighbours(candidate)] = True
        states, self.tape = p["start"][query.slot][None], []
        for layer in range(self.layers):
            places = np.full(graph.num_entities, -1)
            places[entities] = np.arange(len(entities))
            if layer == self.layers - 1:
                targets = query.candidates
            else:
                wanted = lead_there if layer == self.layers - 2 else everyone
                targets = reached(graph, query, entities, wanted)
            arrived = gather(graph, query, states, places, targets, self.weights[layer])
            summed, high, low, _, _, messages = arrived
            own = np.where(places[targets, None] >= 0, states[places[targets]], dtype.type(0))
            mean = summed / np.maximum(messages, 1)[:, None]
            degree = np.log1p(degrees[targets, None]).astype(dtype)
            read = np.hstack(
                [own, mean, mean * np.log1p(messages)[:, None], mean * degree, high, low]
            )
            raw = read @ p["linear"][layer] + p["bias"][layer]
            raw -= raw.mean(1, keepdims=True)
            spread = np.sqrt((raw * raw).mean(1, keepdims=True) + dtype.type(1e-5))
            normal = raw / spread
            kept = (states, places, targets, read, arrived, degree, normal, spread)
            self.tape.append(Layer(*kept))
            states = own + np.maximum(normal * p["gain"][layer] + p["shift"][layer], 0)
            entities = targets
        seen = graph.seen[query.slot][query.candidates]
        among = np.isin(query.candidates, graph.answers(query.anchor, query.slot))
        self.last = np.column_stack([states, np.log1p(seen - among), degree]).astype(dtype)
        self.units = np.maximum(self.last @ p["first"] + p["first_bias"][query.slot], 0)
        return self.units @ p["second"] + states @ p["direct"][query.slot] + p["least"][query.slot]

    def back(self, slopes: np.ndarray) -> None:
        """Adds the gradient for the slopes (candidate,) of the last scores."""
        p, s, slot = self.parameters, self.slopes, self.query.slot
        s["least"][slot] += slopes.sum()
        s["second"] += slopes @ self.units
        s["direct"][slot] += slopes @ self.last[:, :DIM]
        units = np.where(self.units > 0, slopes[:, None] * p["second"], 0)
        s["first"] += self.last.T @ units
        s["first_bias"][slot] += units.sum(0)
        states = units @ p["first"][:DIM].T + slopes[:, None] * p["direct"][slot]
        weights = np.zeros_like(self.weights)
        for layer in reversed(range(self.layers)):
            t = self.tape[layer]
            active = np.where(t.normal * p["gain"][layer] + p["shift"][layer] > 0, states, 0)
            s["gain"][layer] += (active * t.normal).sum(0)
            s["shift"][layer] += active.sum(0)
            raw = active * p["gain"][layer]
            raw -= raw.mean(1, keepdims=True) + t.normal * (raw * t.normal).mean(1, keepdims=True)
            raw /= t.spread
            s["linear"][layer] += t.read.T @ raw
            s["bias"][layer] += raw.sum(0)
            own, mean, by_count, by_degree, of_high, of_low = np.split(
                raw @ p["linear"][layer].T, BLOCKS, axis=1
            )
            _, high, low, highs, lows, messages = t.arrived
            count = messages[:, None]
            of_sum = (mean + by_count * np.log1p(count) + by_degree * t.degrees) / np.maximum(
                count, 1
            )
            below, weights[layer] = gather_back(
                self.graph, self.query, t.states, t.places, t.targets, self.weights[layer],
                high, low, (of_sum, of_high / highs, of_low / lows),
            )  # fmt: skip
            here = t.places[t.targets] >= 0
            np.add.at(
                below, t.places[t.targets[here]], (own + states)[here]
            )  # some are drawn twice
            states = below
        s["start"][slot] += states[0]
        s["weights"] += weights
        s["tables"] += p["mix"][slot][:, None, None, None] * weights
        s["mix"][slot] += p["tables"].reshape(MIXED, -1) @ weights.ravel()


def drawn_query(graph: Graph, rng: np.random.Generator) -> tuple[Query, np.ndarray, np.ndarray]:
    """A query about a train fact, which of its candidates are right, and what each counts for."""
    link = rng.integers(len(graph.ends))
    anchor, slot = int(graph.starts[link]), int(graph.slots[link])
    near = np.unique(graph.neighbours(anchor))
    apart = graph.mask(near[rng.random(len(near)) < APART])
    apart[graph.ends[link]] = True
    known, joined_to = graph.mask(graph.answers(anchor, slot)), graph.mask(near)
    joined_to[anchor] = True
    right = np.flatnonzero(known & apart)
    wrong = np.flatnonzero(apart & ~known)
    fitting = np.flatnonzero(graph.seen[slot])
    share = max(1.0, len(fitting) / DRAWN)
    if share > 1:
        fitting = fitting[rng.integers(0, len(fitting), DRAWN)]
    others = rng.integers(0, graph.num_entities, DRAWN)
    others = others[graph.seen[slot][others] == 0]
    parts = (
        right,
        wrong[wrong != anchor],
        fitting[~joined_to[fitting]],
        others[~joined_to[others]],
    )
    counts = (1, 1 / APART, share, graph.num_entities / DRAWN)
    weights = np.repeat(np.float32(counts), [len(part) for part in parts])
    candidates = np.concatenate(parts).astype(np.int32)
    query = Query(anchor, slot, apart, candidates)
    return query, np.arange(len(candidates)) < len(right), weights / max(1, len(right))


def trained(network: Network, steps: int, seed: int) -> None:
    """Adam on binary cross-entropy, with a rate that falls to zero."""
    rng = np.random.default_rng(seed + 1)
    moments = {name: (np.zeros_like(v), np.zeros_like(v)) for name, v in network.slopes.items()}
    total, start = 0.0, time.process_time()
    for step in range(1, steps + 1):
        for _ in range(BATCH):
            query, right, weights = drawn_query(network.graph, rng)
            scores = network.scores(query)
            total += float((weights * (np.logaddexp(0, scores) - right * scores)).sum())
            network.back(weights * (1 / (1 + np.exp(-scores)) - right))
        rate = RATE * min(1, step / 100) * (1 - (step - 1) / steps)
        norm = np.sqrt(sum(float((v * v).sum()) for v in network.slopes.values()))
        shrunk = 1 / max(BATCH, norm / 5)
        for name, slope in network.slopes.items():
            mean, square = moments[name]
            mean += 0.1 * (shrunk * slope - mean)
            square += 0.02 * ((shrunk * slope) ** 2 - square)
            root = np.sqrt(square / (1 - 0.98**step)) + 1e-8
            network.parameters[name] -= rate / (1 - 0.9**step) * mean / root
            slope[...] = 0
        if step % 100 == 0:
            seconds = time.process_time() - start
            print(f"step {step}: loss {total / 100 / BATCH:.3f}, {seconds:.0f} s", flush=True)
            total = 0.0


def asked(network: Network, anchor: int, slot: int, candidates: np.ndarray) -> np.ndarray:
    """The scores of candidates; each is hidden from the anchor, with all of its group.

    Known answers, which are no candidates, are not hidden.
    """
    graph = network.graph
    near = graph.mask(graph.neighbours(anchor)) & ~graph.mask(graph.answers(anchor, slot))
    groups = np.random.default_rng((anchor, slot)).integers(0, GROUPS, graph.num_entities)
    scores = np.empty(len(candidates), np.float32)
    for group in np.unique(groups[candidates]):
        rows = np.flatnonzero(groups[candidates] == group)
        query = Query(anchor, slot, near & (groups == group), candidates[rows].astype(np.int32))
        scores[rows] = network.scores(query)
    return scores


def ranked(network: Network, queries: Queries) -> float:
    """The mean reciprocal rank of the answers; what is known in train is left out."""
    graph, everyone = network.graph, np.arange(network.graph.num_entities)
    ranks = []
    for row in np.flatnonzero(queries.has_answers):
        anchor, slot = int(queries.anchors[row]), int(queries.relations[row])
        scores = asked(network, anchor, slot, everyone)
        scores[graph.answers(anchor, slot)] = -np.inf
        answers = queries.answers[queries.offsets[row] : queries.offsets[row + 1]]
        rest = np.delete(scores, answers)
        ranks += [1 + (rest > s).sum() + (rest == s).sum() / 2 for s in scores[answers]]
    return float((1 / np.array(ranks)).mean())


def heard(network: Network, shortlist: Shortlist) -> dict[str, np.ndarray]:
    """The network's columns for a judge: score, place among the query's, distance to its best."""
    scores = np.empty(len(shortlist))
    places, below = np.empty_like(scores), np.empty_like(scores)
    for row in np.unique(shortlist.rows):
        mine = np.flatnonzero(shortlist.rows == row)
        queries = shortlist.queries
        anchor, slot = int(queries.anchors[row]), int(queries.relations[row])
        scores[mine] = asked(network, anchor, slot, shortlist.entities[mine])
        places[mine] = np.argsort(np.argsort(-scores[mine], kind="stable"))
        below[mine] = scores[mine].max() - scores[mine]
    return {"paths": scores, "paths_place": places, "paths_below": below}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    run = load_run(options.run)
    benchmark, names = run.benchmark, run.benchmark.vocabulary
    graph = Graph.of(benchmark.train, names.num_entities, names.num_relations)
    network = Network(graph, options.layers, options.seed)
    print(f"{sum(v.size for v in network.parameters.values()):,} parameters", flush=True)
    trained(network, options.steps, options.seed)
    print(f"alone: MRR {ranked(network, benchmark.valid):.4f}", flush=True)
    highest = Highest(benchmark.valid, names.num_slots, PER_ANSWER, spread=True)
    collect(score_split(run, "valid"), highest)
    shortlist = highest.result()
    known = features_from([run])(shortlist)
    if joined(benchmark.train, benchmark.valid, names.num_entities).held_out:
        known = known.without(LINKS)
    columns = heard(network, shortlist)
    more = Features(
        known.names + tuple(columns), np.column_stack([known.values, *columns.values()])
    )
    for label, features in {"judge": known, "judge that hears the network": more}.items():
        judged = judged_by(train_forest(shortlist, features, names), shortlist, features)
        accepted = judged.scores.astype(np.float64) > best_single(judged, FBeta())
        print(f"{label}: F1 {f1(shortlist.counts(accepted).total()):.4f}", flush=True)


if __name__ == "__main__":
    main()
