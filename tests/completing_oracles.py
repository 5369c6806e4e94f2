"""Completion by slow, obvious loops over sets of facts."""

from dataclasses import replace
from itertools import product
from math import exp, log

import numpy as np

from assent.building.fitting import derived, learned, seen_in

TAIL, HEAD = 1, 2


def facts_known(benchmark):
    """Everything in train, valid and test, as a set of (head, relation, tail)."""
    count = benchmark.vocabulary.num_relations
    parts = [benchmark.train, benchmark.valid.facts(count), benchmark.test.facts(count)]
    return {tuple(fact) for part in parts for fact in part.tolist()}


def fitting(benchmark):
    """Whether no type speaks against it, [slot][entity]: given ones, or where silent, derived."""
    names = benchmark.vocabulary
    facts = np.array(sorted(facts_known(benchmark)), np.int32).reshape(-1, 3)
    seen = seen_in(facts, names.num_relations)
    tables = [derived(seen, names)]
    if benchmark.types is not None:
        tables.insert(0, learned(benchmark.types, seen, names))

    def fits(entity, slot):
        for types in tables:
            if types.slot_offsets[slot] < types.slot_offsets[slot + 1]:
                return not types.violate(np.array([entity]), np.array([slot]))[0]
        return True

    slots, entities = range(2 * names.num_relations), range(names.num_entities)
    return [[fits(entity, slot) for entity in entities] for slot in slots]


def new_facts(benchmark, scores, thresholds, review_above, mirrored=(), fewest=10):
    """{(head, relation, tail): (accepted, probability, score, threshold, sides)}, of all facts.

    `scores` (slot, anchor, entity); `mirrored`: relations whose facts count in both directions;
    `fewest`: the facts from which it is learned that a relation joins no entity to itself.
    """
    names = benchmark.vocabulary
    entities, count = names.num_entities, names.num_relations
    known = facts_known(benchmark)
    fits = fitting(benchmark)
    answers = {}
    for head, relation, tail in product(range(entities), range(count), range(entities)):
        if not (fits[relation][head] and fits[relation + count][tail]):
            continue
        if (head, relation, tail) in known:
            continue
        if head == tail and irreflexive(known, relation, fewest):
            continue
        for side, slot, anchor, entity in (
            (TAIL, relation, head, tail),
            (HEAD, relation + count, tail, head),
        ):
            score = float(scores[slot, anchor, entity])
            chance = 1 / (1 + exp(-score))
            accepted = bool(score > thresholds[slot])
            if accepted or chance >= review_above:
                answer = (accepted, chance, score, thresholds[slot], side)
                answers.setdefault((head, relation, tail), []).append(answer)
                if relation in mirrored and (tail, relation, head) not in known:
                    turned = (*answer[:4], TAIL + HEAD - side)
                    answers.setdefault((tail, relation, head), []).append(turned)
    return {fact: _joined(found) for fact, found in answers.items()}


def _joined(answers):
    """The surest that accepts, else the surest; and all sides that decided the same."""
    best = min(answers, key=lambda answer: (-answer[0], -answer[1], answer[4]))
    sides = {answer[4] for answer in answers if answer[0] == best[0]}
    return (*best[:4], sum(sides))


def functional(known, slot, num_relations, fewest, share):
    """Whether nearly all of the anchors of a slot have one answer."""
    answers = {}
    for head, relation, tail in known:
        if relation == slot % num_relations:
            anchor, answer = (head, tail) if slot < num_relations else (tail, head)
            answers.setdefault(anchor, set()).add(answer)
    single = sum(len(mine) == 1 for mine in answers.values())
    return len(answers) >= fewest and single >= share * len(answers)


def symmetric(known, relation, fewest, share):
    """Whether most facts of a relation stand in both directions."""
    mine = [(h, r, t) for h, r, t in known if r == relation and h != t]
    both = sum((t, r, h) in known for h, r, t in mine)
    return len(mine) >= fewest and both >= share * len(mine)


def irreflexive(known, relation, fewest):
    """Whether a relation joins no entity to itself."""
    mine = [(h, t) for h, r, t in known if r == relation]
    return len(mine) >= fewest and all(h != t for h, t in mine)


def only_best(facts, one_tail, one_head, known):
    """Takes the surest fact again and again, unless an end has its one answer already.

    `facts`: {(head, tail): (accepted, probability)}; `known`: pairs.
    """
    taken = set(known)
    kept = set()
    for head, tail in sorted(facts, key=lambda pair: (*(-x for x in facts[pair]), sorted(pair))):
        if one_tail and any(h == head for h, _ in taken):
            continue
        if one_head and any(t == tail for _, t in taken):
            continue
        taken.add((head, tail))
        kept.add((head, tail))
    return kept


def links(facts, num_relations):
    """(start, slot, end) of facts between two entities, from both ends."""
    apart = [(h, r, t) for h, r, t in facts if h != t]
    return apart + [(t, r + num_relations, h) for h, r, t in apart]


def paths_between(facts, num_relations, start, end):
    """{(slot, slot or -1): the entities in the middle} of all paths from start to end."""
    steps = links(facts, num_relations)
    found = {(slot, -1): [-1] for s, slot, e in steps if (s, e) == (start, end)}
    for s, first, middle in steps:
        for m, second, e in steps:
            if s == start and m == middle and e == end and start != end:
                found.setdefault((first, second), []).append(middle)
    return found


def path_counts(facts, num_relations, num_entities, path, relation):
    """Pairs that a path joins and that stand in the relation, and pairs that it joins."""
    pairs = [
        (start, end)
        for start, end in product(range(num_entities), repeat=2)
        if start != end and path in paths_between(facts, num_relations, start, end)
    ]
    return sum((start, relation, end) in facts for start, end in pairs), len(pairs)


def path_rules(facts, num_relations, num_entities, fact):
    """{(slot, slot or -1): (first middle, support, cases)} that speak for a fact.

    The fact itself, if it is known, does not count.
    """
    head, relation, tail = fact
    found = {}
    for path, middles in paths_between(facts, num_relations, head, tail).items():
        support, cases = path_counts(facts, num_relations, num_entities, path, relation)
        own = fact in facts
        if path != (relation, -1) and head != tail and support - own >= 2:
            found[path] = (min(middles), support - own, cases - own)
    return found


def constant_rules(facts, num_relations, num_entities, anchor, slot, entity):
    """{(slot, entity) or (slot,): (support, cases)} that speak for (anchor, slot, entity)."""
    steps = set(links(facts, num_relations))
    if anchor == entity:
        return {}

    def has(who, body):
        return body in steps_of(who) or body in {(s,) for s, _ in steps_of(who)}

    def steps_of(who):
        return {(s, e) for start, s, e in steps if start == who}

    own = (anchor, slot, entity) in steps
    mine = steps_of(anchor)
    bodies = (mine - {(slot, entity)}) | ({(s,) for s, _ in mine} - {(slot,)})
    found = {}
    for body in bodies:
        cases = [who for who in range(num_entities) if has(who, body)]
        support = [who for who in cases if (slot, entity) in steps_of(who)]
        if len(support) - own >= 2:
            found[body] = (len(support) - own, len(cases) - own)
    return found


def how_common(facts, num_relations, num_entities, anchor, slot, entity):
    """Of those who have the slot, how many have it with the entity; the fact itself apart."""
    steps = set(links(facts, num_relations)) - {(anchor, slot, entity)}
    if anchor == entity:
        return 0, 1
    having = {start for start, s, _ in steps if s == slot}
    return sum((who, slot, entity) in steps for who in having), len(having)


def rival_answers(facts, num_relations, num_entities, anchor, slot, entity):
    """By form of rule, {answer: (support, cases) of each rule that speaks for it}.

    The anchor has no known answer.
    """
    steps, relation = set(links(facts, num_relations)), slot % num_relations
    found = {"constant": {}, "slot": {}, "path": {}}
    for answer in set(range(num_entities)) - {anchor, entity}:
        bodies = {(s, c) for start, s, c in steps if start == anchor}
        for form, mine in (
            ("constant", bodies),
            ("slot", {(s, None) for s, _ in bodies} | {(slot, None)}),
        ):
            for s, c in mine:
                cases = {who for who, t, e in steps if t == s and c in (e, None)}
                support = sum((who, slot, answer) in steps for who in cases)
                if support >= 2:
                    found[form].setdefault(answer, []).append((support, len(cases)))
        fact = (anchor, relation, answer) if slot == relation else (answer, relation, anchor)
        for _, *counts in path_rules(facts, num_relations, num_entities, fact).values():
            found["path"].setdefault(answer, []).append(tuple(counts))
    return found


def candidate_facts(benchmark, scores, schema):
    """{(head, relation, tail): (score, held out, joined)} of all facts that are decided about.

    `scores` (slot, anchor, entity); `schema` as it was learned.
    """
    names = benchmark.vocabulary
    count, train = names.num_relations, set(map(tuple, benchmark.train.tolist()))
    known = facts_known(benchmark)
    hidden = known - train
    ends = [frozenset((h, t)) for h, _, t in train]
    among = sum(frozenset((h, t)) in ends for h, _, t in hidden) / max(len(hidden), 1)
    twice = sum(ends.count(pair) > 1 for pair in ends) / max(len(ends), 1)
    two_kinds = among < twice / 2
    fits = fitting(benchmark)
    fits_train = fitting(
        replace(benchmark, valid=benchmark.valid.take([]), test=benchmark.test.take([]))
    )

    def one_answer(fact, facts):
        """Whether a query of the fact may have one answer only, and has another one in `facts`."""
        head, relation, tail = fact
        mine = {(h, t) for h, r, t in facts if r == relation}
        if schema.symmetric[relation]:
            mine |= {(t, h) for h, t in mine}
        return (schema.functional[relation] and any(h == head for h, _ in mine)) or (
            schema.functional[relation + count] and any(t == tail for _, t in mine)
        )

    def mean(head, relation, tail):
        return (scores[relation, head, tail] + scores[relation + count, tail, head]) / 2

    def eligible(head, relation, tail):
        return (
            fits[relation][head]
            and fits[relation + count][tail]
            and (head, relation, tail) not in train
            and not (head == tail and schema.irreflexive[relation])
        )

    entities, found = range(names.num_entities), {}
    for head, relation, tail in product(entities, range(count), entities):
        fact, reverse = (head, relation, tail), (tail, relation, head)
        if not eligible(*fact):
            continue
        joined = two_kinds and frozenset((head, tail)) in ends
        if fact in hidden:
            fit = fits_train[relation][head] and fits_train[relation + count][tail]
            if joined or not fit or one_answer(fact, train):
                continue
        elif one_answer(fact, known):
            continue
        score = mean(*fact)
        if schema.symmetric[relation] and eligible(*reverse):
            score = (score + mean(*reverse)) / 2
        found[fact] = (float(score), fact in hidden, joined)
    return found


def never_together(facts, num_relations, slot, relation, enough):
    """Whether slot and relation join enough pairs of two entities each, and no pair together."""
    pairs = {slot: set() for slot in range(2 * num_relations)}
    for head, known, tail in facts:
        if head != tail:
            pairs[known].add((head, tail))
            pairs[known + num_relations].add((tail, head))
    both = pairs[slot], pairs[relation]
    return min(map(len, both)) >= enough and not both[0] & both[1]


# What a relation lacks


def cost_of_sigmoid(scores, held_out, missing, a, b, held):
    """How improbable what was held out is under one sigmoid, and the sigmoid itself."""
    total = (held[0] * a * a + held[1] * (b - 1) ** 2) / 2
    for score, is_held_out in zip(scores.tolist(), held_out.tolist(), strict=True):
        odds = exp(min(a + b * score, 50.0))
        share = odds / (1 + (1 + missing) * odds)
        total -= log(share if is_held_out else 1 - share)
    return total


def integral_over_sigmoids(scores, held_out, missing, held, steps=81):
    """The log of the mean probability of what was held out, over a grid of sigmoids."""
    a, b = np.linspace(-9, 4, steps), np.linspace(0.0, 3.0, steps)
    logits = a[:, None, None] + b[None, :, None] * scores
    odds = np.exp(np.minimum(logits, 50))
    share = odds / (1 + (1 + missing) * odds)
    said = np.where(held_out, np.log(share), np.log1p(-share)).sum(axis=2)
    said -= (held[0] * a[:, None] ** 2 + held[1] * (b[None, :] - 1) ** 2) / 2
    top, cell = said.max(), (a[1] - a[0]) * (b[1] - b[0])
    whole = np.log(np.exp(said - top).sum() * cell) + top
    return whole + (np.log(held[0] * held[1]) - 2 * np.log(2 * np.pi)) / 2


def empirical_bayes(fits, turns=3000):
    """How probable each number is in each relation, by loops; one relation's worth is uniform."""
    count, size = fits.shape
    before = [1 / count] * count
    for _ in range(turns):
        after = [[before[n] * exp(fits[n, r]) for n in range(count)] for r in range(size)]
        after = [[value / sum(mine) for value in mine] for mine in after]
        before = [(sum(mine[n] for mine in after) + 1 / count) / (size + 1) for n in range(count)]
    return np.array(after).T


def holes(facts, lost, types_of, num_relations, most):
    """(slot, entities of its kind, those without an answer, shares with 1, 2, ... answers)."""
    answers = {}  # of each slot, how many each of its anchors has
    for head, relation, tail in facts:
        for slot, anchor in ((relation, head), (relation + num_relations, tail)):
            mine = answers.setdefault(slot, {})
            mine[anchor] = mine.get(anchor, 0) + 1
    for anchor, slot in lost:
        mine = answers.setdefault(slot, {})
        mine[anchor] = mine.get(anchor, 0) + 1
    kinds = {slot: set(mine) for slot, mine in answers.items()}
    for entity, types in enumerate(types_of):
        for kind in types:
            kinds.setdefault(2 * num_relations + kind, set()).add(entity)
    found = []
    for slot, mine in sorted(answers.items()):
        best, kind = 0.0, None
        for other, theirs in sorted(kinds.items()):
            own = other < 2 * num_relations and other % num_relations == slot % num_relations
            alike = len(theirs & set(mine)) / len(theirs | set(mine))
            if not own and alike > best:
                best, kind = alike, theirs
        if kind is not None:
            counts = [min(many, most) for many in mine.values()]
            shares = [counts.count(many) / len(counts) for many in range(1, most + 1)]
            found.append((slot, len(kind), len(kind - set(mine)), shares))
    return found


# What the stated schema entails


def entailed(facts, schema, names):
    """All facts that follow from a set of facts, again and again until nothing is new."""
    place = {name: number for number, name in enumerate(names.relations)}
    known = set(facts)
    while True:
        more = set()
        for head, relation, tail in known:
            name = names.relations[relation]
            if name in schema.subjects("symmetric"):
                more.add((tail, relation, head))
            if name in schema.subjects("transitive"):
                more |= {(head, relation, t) for h, r, t in known if (h, r) == (tail, relation)}
            for low, high in schema.about("subPropertyOf"):
                if low == name and high in place:
                    more.add((head, place[high], tail))
            for one, other in schema.about("inverseOf"):
                for low, high in ((one, other), (other, one)):
                    if low == name and high in place:
                        more.add((tail, place[high], head))
        more = {fact for fact in more if fact[0] != fact[2]} - known
        if not more:
            return known - set(facts)
        known |= more
