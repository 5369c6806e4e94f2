"""RDF statements sorted by what they mean: names, types, schema, the same entity, or facts."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from assent.core.facts import Split, Taken
from assent.core.schema import NOTHING_STATED, Schema, Statement
from assent.errors import DataError
from assent.files.formats import COLUMNS, Label, Parsed, Triple
from assent.files.gathering import TIMES, counted, repeated
from assent.files.ontology import (
    ABOUT_ITSELF,
    NO_TYPES,
    OWL,
    RDF,
    RDFS,
    SCHEMA_ORG,
    SKOS,
    SUBCLASS,
    UNDERSTOOD,
    XSD,
    Ontology,
    ontology_of,
)

NAMES = (RDFS + "label", SKOS + "prefLabel", *(home + "name" for home in SCHEMA_ORG))
TYPE = RDF + "type"
SAME = OWL + "sameAs"
PREFIXES = {  # where a file declares none of its own
    "rdf": RDF,
    "rdfs": RDFS,
    "owl": OWL,
    "xsd": XSD,
    "skos": SKOS,
    "schema": SCHEMA_ORG[0],
    "dbo": "http://dbpedia.org/ontology/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
}


@dataclass(frozen=True, slots=True)
class Taking:
    """How statements are taken that are more than facts."""

    language: tuple[str, ...] = ("en",)  # of names, the most wanted first
    type_relation: tuple[str, ...] = ()  # give types, as rdf:type does
    subclass_relation: tuple[str, ...] = ()  # put types above types, as rdfs:subClassOf does
    predict: tuple[str, ...] = ()  # are relations of the graph, whatever else they mean
    keep_same_as: bool = False  # entities that are the same stay apart


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What is told besides the facts."""

    labels: Mapping[str, str] = field(default_factory=dict)
    types: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema={"entity": pl.String, "type": pl.String})
    )
    schema: Schema = NOTHING_STATED
    taken: tuple[Taken, ...] = ()
    repeated: int = 0  # facts that the frames hold once, and a file more often


NOTHING_TOLD, USUAL = Told(), Taking()


class Merged(NamedTuple):
    """Entities that are the same as others."""

    names: Mapping[str, str]  # its name -> the name that it takes
    entities: int  # how many of them facts speak of


Frames = Mapping[Split, pl.DataFrame]


def understood(parts: Mapping[Split, Parsed], taking: Taking, where: str) -> tuple[Frames, Told]:
    """The facts of each split, and what the other statements tell about them."""
    is_rdf = any(part.is_rdf for part in parts.values())
    if not (is_rdf or taking.type_relation or taking.subclass_relation or taking.predict):
        frames = {split: part.facts.select(COLUMNS) for split, part in parts.items()}
        return frames, Told(repeated=sum(repeated(part.facts) for part in parts.values()))
    frame = pl.concat(
        counted(part.facts).with_columns(split=pl.lit(int(split))) for split, part in parts.items()
    )
    roles = _Roles(frame, parts, taking, is_rdf)
    special = frame.filter(pl.col("relation").is_in(roles.special))
    # A predicted relation holds facts as well, but no declarations: these are about relations.
    predicted = special.filter(
        pl.col("relation").is_in(roles.predict) & ~_within(pl.col("tail"), NO_TYPES)
    )
    facts = pl.concat([frame.filter(~pl.col("relation").is_in(roles.special)), predicted])
    if not len(facts):
        raise DataError(f"{where}: no fact in it; every statement is a name, a type or schema")
    ontology = _ontology(special, parts, roles)
    merged = _merged(special, facts, roles, taking)
    types = _types(special, roles, ontology, merged.names)
    every = (label for part in parts.values() for label in part.labels)
    labels = _labels(every, taking, merged.names)
    taken = roles.taken(special, facts, parts, merged, taking)
    facts = facts.with_columns(_renamed(facts[end], merged.names) for end in ("head", "tail"))
    frames = {split: facts.filter(pl.col("split") == int(split)).select(COLUMNS) for split in parts}
    schema = ontology.schema | Schema(
        frozenset(Statement(name, "typeRelation") for name in roles.types & set(roles.predict))
    )
    return frames, Told(labels, types, schema, taken, repeated(facts))


def stated_in(part: Parsed, taking: Taking) -> Told:
    """The schema, types and labels of a file that is given for the sake of these."""
    labels = _labels(part.labels, taking, {})
    roles = _Roles(part.facts, {Split.TRAIN: part}, Taking(), is_rdf=True)
    special = part.facts.filter(pl.col("relation").is_in(roles.special))
    ontology = _ontology(special, {Split.TRAIN: part}, roles)
    return Told(labels, _types(special, roles, ontology, {}), ontology.schema)


class _Roles:
    """Which relations of a file are more, or other, than relations of the graph."""

    def __init__(
        self,
        frame: pl.DataFrame,
        parts: Mapping[Split, Parsed],
        taking: Taking,
        is_rdf: bool,
    ) -> None:
        self.known = frame["relation"].unique().sort().to_list()
        self.prefixes = dict(PREFIXES)
        for part in parts.values():
            self.prefixes |= part.prefixes
        labels = {label.predicate for part in parts.values() for label in part.labels}
        resolve = self._resolver({*self.known, *labels})
        self.types = {*map(resolve, taking.type_relation), *([TYPE] if is_rdf else [])}
        self.subclass = {*map(resolve, taking.subclass_relation), *([SUBCLASS] if is_rdf else [])}
        self.predict = [resolve(name) for name in taking.predict]
        for name in self.predict:
            if name not in self.known:
                raise DataError(f"{name}: all its statements have literals; keep these as well")
        own = {
            name
            for name in self.known
            if is_rdf and (name.startswith(ABOUT_ITSELF) or name in (*UNDERSTOOD, *NAMES))
        }
        self.special = sorted((self.types | self.subclass | own) & set(self.known))

    def short(self, name: str) -> str:
        """A name with a prefix, where one fits."""
        for prefix, home in self.prefixes.items():
            if prefix and home and name.startswith(home):
                return f"{prefix}:{name.removeprefix(home)}"
        return name

    def taken(
        self,
        special: pl.DataFrame,
        facts: pl.DataFrame,
        parts: Mapping[Split, Parsed],
        merged: Merged,
        taking: Taking,
    ) -> tuple[Taken, ...]:
        """What was taken for what, in the order in which people ask."""
        labels = Counter(label.predicate for part in parts.values() for label in part.labels)
        descriptions = Counter(row[1] for part in parts.values() for row in part.descriptions)
        declared = special.filter(
            pl.col("relation").is_in([TYPE]) & _within(pl.col("tail"), NO_TYPES)
        )
        by_relation = special.group_by("relation").agg(pl.sum(TIMES))
        counts = Counter(dict(by_relation.iter_rows())) + descriptions
        declarations = int(declared[TIMES].sum()) + descriptions[TYPE]
        counts[TYPE] -= declarations
        wanted = ", ".join([*taking.language, "no language", "any"])
        number = facts["relation"].n_unique()
        rows = [
            Taken(
                "statements about other relations",
                int(facts[TIMES].sum()),
                f"facts of {number:,} relations",
            )
        ]
        rows += [
            Taken(self.short(name), count, f"names ({wanted})")
            for name, count in sorted(labels.items())
        ]
        rows += [Taken("declarations of relations and types", declarations, "schema")]
        rows += [
            Taken(self.short(name), count, self._meaning(name, merged, taking))
            for name, count in sorted(counts.items())
            if name not in labels
        ]
        left = sum((part.left_out for part in parts.values()), Counter[str]())
        rows += [
            Taken(f"other statements with a {kind}", count, "left out")
            for kind, count in sorted(left.items())
        ]
        return tuple(row for row in rows if row.statements > 0)

    def _meaning(self, name: str, merged: Merged, taking: Taking) -> str:
        """What statements with this relation were taken for."""
        if name in self.types:
            meaning = "types"
        elif name in self.subclass:
            meaning = "types above types"
        elif name == SAME and taking.keep_same_as:
            meaning = "entities kept apart"
        elif name == SAME:
            meaning = f"one entity: {merged.entities:,} merged into others"
        else:
            meaning = "schema" if name in UNDERSTOOD else "left out"
        if name in self.predict:
            return "facts" if meaning == "left out" or name == SAME else f"{meaning}; and facts"
        return meaning

    def _resolver(self, known: set[str]) -> Callable[[str], str]:
        def resolve(name: str) -> str:
            prefix, colon, rest = name.partition(":")
            found = [name.strip("<>"), self.prefixes.get(prefix, "") + rest if colon else name]
            if prefix == "schema":  # both are in use
                found += [home + rest for home in SCHEMA_ORG]
            for one in found:
                if one in known:
                    return one
            raise DataError(
                f"{name}: no relation of the graph; give the name as it stands there, "
                f"or one of the prefixes {', '.join(sorted(filter(None, self.prefixes)))}"
            )

        return resolve


def _within(column: pl.Expr, homes: Iterable[str]) -> pl.Expr:
    return pl.any_horizontal(column.str.starts_with(home) for home in homes)


def _ontology(special: pl.DataFrame, parts: Mapping[Split, Parsed], roles: _Roles) -> Ontology:
    """The schema of all files; a blank node is one of its own file."""
    triples: list[Triple] = special.select("head", "relation", "tail").rows()
    for split, part in parts.items():
        triples += [
            (_of_file(head, split), relation, _of_file(tail, split))
            for head, relation, tail in part.descriptions
        ]
    return ontology_of(triples, sorted(roles.subclass))


def _of_file(node: str, split: Split) -> str:
    return f"{node}@{int(split)}" if node.startswith("_:") else node


def _types(
    special: pl.DataFrame, roles: _Roles, ontology: Ontology, merged: Mapping[str, str]
) -> pl.DataFrame:
    """Rows (entity, type), those of intersections among them."""
    rows = special.filter(
        pl.col("relation").is_in(roles.types) & ~_within(pl.col("tail"), NO_TYPES)
    ).select(entity="head", type="tail")
    rows = rows.with_columns(_renamed(rows["entity"], merged)).unique(maintain_order=True)
    above = ontology.schema.supertypes()
    for name, parts in ontology.intersections.items():
        having = []
        for part in parts:
            below = [part, *(low for low, highs in above.items() if part in highs)]
            having.append(rows.filter(pl.col("type").is_in(below))["entity"].unique())
        both = having[0]
        for other in having[1:]:
            both = both.filter(both.is_in(other.to_list()))
        rows = pl.concat([rows, pl.DataFrame({"entity": both}).with_columns(type=pl.lit(name))])
    return rows


def _merged(special: pl.DataFrame, facts: pl.DataFrame, roles: _Roles, taking: Taking) -> Merged:
    """Which entities owl:sameAs makes one.

    They take the name of the one in the most facts, of several the first by letters.
    """
    same = special.filter(pl.col("relation") == SAME)
    if taking.keep_same_as or SAME in roles.predict or not len(same):
        return Merged({}, 0)
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while (up := leader.setdefault(name, name)) != name:
            leader[name] = leader[up]
            name = leader[name]
        return name

    for one, other in same.select("head", "tail").iter_rows():
        leader[find(one)] = find(other)
    groups: dict[str, list[str]] = defaultdict(list)
    for name in leader:
        groups[find(name)].append(name)
    ends = pl.concat([facts.select(TIMES, name=end) for end in ("head", "tail")])
    ends = ends.filter(pl.col("name").is_in(list(leader)))
    times = dict(ends.group_by("name").agg(pl.sum(TIMES)).iter_rows())
    names: dict[str, str] = {}
    for group in groups.values():
        first = min(group, key=lambda name: (-times.get(name, 0), name))
        # What is said about an entity under a name that no fact has is still said about it.
        names |= {name: first for name in group if name != first and first in times}
    return Merged(names, sum(name in times for name in names))


def _renamed(column: pl.Series, merged: Mapping[str, str]) -> pl.Series:
    return column.replace(merged) if merged else column


def _labels(labels: Iterable[Label], taking: Taking, merged: Mapping[str, str]) -> dict[str, str]:
    """The best name of each subject: by language, then by predicate, then the first by letters."""
    best: dict[str, tuple[tuple[int, ...], str, str]] = {}
    for subject, predicate, text, language in labels:
        text = " ".join(text.replace("\ufeff", "").split())  # one line
        if not text:
            continue
        name = merged.get(subject, subject)
        rank = (*_language_rank(language, taking.language), NAMES.index(predicate))
        best[name] = min(best.get(name, (rank, language, text)), (rank, language, text))
    return {name: text for name, (_, _, text) in best.items()}


def _language_rank(language: str, wanted: Sequence[str]) -> tuple[int, int]:
    """Wanted languages in their order, `en-GB` behind `en`; then no language; then any."""
    language = language.lower()
    for place, one in enumerate(wanted):
        if language == one.lower():
            return place, 0
        if language.startswith(one.lower() + "-"):
            return place, 1
    return len(wanted) + bool(language), 0
