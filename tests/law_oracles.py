"""A schema as law, by slow loops over names: what follows from facts, and what contradicts."""


def following(fact, schema):
    """All facts (head, relation, tail) that a fact states or implies, but for transitivity."""
    found, waiting = set(), [fact]
    rows = schema.statements
    while waiting:
        head, relation, tail = one = waiting.pop()
        if one in found:
            continue
        found.add(one)
        for subject, named, other in rows:
            if named == "subPropertyOf" and subject == relation:
                waiting.append((head, other, tail))
            if named == "symmetric" and subject == relation:
                waiting.append((tail, relation, head))
            if named == "inverseOf" and subject == relation:
                waiting.append((tail, other, head))
            if named == "inverseOf" and other == relation:
                waiting.append((tail, subject, head))
    return found


def closed(types, schema):
    """These types and all above them."""
    types = set(types)
    while True:
        more = {
            high for low, named, high in schema.statements if named == "subClassOf" and low in types
        }
        if more <= types:
            return types
        types |= more


def ends(relation, end, schema):
    return {row.object for row in schema.statements if row[:2] == (relation, end)}


def implied_types(fact, schema):
    """{entity: types} that a fact implies; of a union only what all its types share."""
    implied = {}
    for head, relation, tail in following(fact, schema):
        for entity, end in ((head, "domain"), (tail, "range")):
            if several := ends(relation, end, schema):
                shared = set.intersection(*(closed([kind], schema) for kind in several))
                implied.setdefault(entity, set()).update(shared)
        if (relation, "typeRelation", "") in schema.statements and relation == fact[1]:
            implied.setdefault(fact[0], set()).update(closed([fact[2]], schema))
    return implied


def clash(types, others, schema):
    """Whether one of these types is disjoint with one of the others."""
    return any(
        named == "disjointWith" and ((a in types and b in others) or (b in types and a in others))
        for a, named, b in schema.statements
    )


def reasons(fact, kept, known, types, schema):
    """Why a fact contradicts the schema, given the new facts that are `kept`; perhaps nothing.

    `types` are the stated ones of each entity, closed.
    """
    found = set()
    known_all = {one for other in known for one in following(other, schema)}
    kept_all = {one for other in kept for one in following(other, schema)}
    for head, relation, tail in following(fact, schema):
        for entity, end in ((head, "domain"), (tail, "range")):
            several = ends(relation, end, schema)
            if several and types[entity] and not several & types[entity]:
                found.add("domain" if entity == fact[0] else "range")
                if fact[0] == fact[2]:
                    found |= {"domain", "range"}
        for named, mine, place in (("functional", head, 0), ("inverseFunctional", tail, 2)):
            if (relation, named, "") not in schema.statements:
                continue
            this = (head, relation, tail)
            rivals = [one for one in known_all if one[1] == relation and one[place] == mine]
            if rivals and this not in rivals:
                found.add("functional")
            if any(one[1] == relation and one[place] == mine and one != this for one in kept_all):
                found.add("functional")
    implied = implied_types(fact, schema)
    for entity, kinds in implied.items():
        has = set(types[entity])
        if not has:
            for other in known:
                # A fact that gives a type is not what gives an entity without types its types.
                has |= implied_without_typing(other, schema).get(entity, set())
        for other in kept:
            has |= implied_types(other, schema).get(entity, set())
        if clash(kinds, has | kinds, schema):
            found.add("disjoint")
    return found


def implied_without_typing(fact, schema):
    rows = frozenset(row for row in schema.statements if row.property != "typeRelation")
    return implied_types(fact, type(schema)(rows))


def kept(facts, known, types, schema):
    """The facts, in the order of their rank, that contradict nothing before them."""
    accepted = []
    for fact in facts:
        if not reasons(fact, accepted, known, types, schema):
            accepted.append(fact)
    return accepted
