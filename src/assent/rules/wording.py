"""Facts and rules as people would say them, from the labels of relations and the names of types.

Labels are of four shapes, told apart by their words. Each shape is a plural group ("cities in
Norway", "those with Norway as country") and a plural clause ("are cities in Norway", "have Norway
as country"), seen from the head or from the tail of the relation.

    verb        borders, has capital, belongs to metazone
    member      member of, is a city in, citizen of
    state       educated at, is written in script, near city
    noun        occupation, country of citizenship
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from assent.core.arrays import Ids
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary

ANYTHING = "anything"
THOSE = "entities"  # where no type is known that they share
SHARED = 0.95  # of the entities in question must have a type, if it is to name them
PREPOSITIONS = (
    *("of", "in", "at", "by", "to", "on", "from", "with", "for", "into", "after", "under"),
    *("near", "within", "about", "over", "between"),
)
AUXILIARIES = {
    "is": "are",
    "has": "have",
    "was": "were",
    "does": "do",
    "are": "are",
    "were": "were",
}
# First words that are verbs even if no preposition follows.
VERBS = re.compile(
    r"accepts|affects|allows|applies|borders|broadcasts|buys|carries|causes|celebrates|"
    r"contains|controls|covers|creates|deploys|describes|detects|directs|distinguishes|"
    r"employs|encodes|follows|forms|governs|hosts|includes|influences|inhibits|knows|"
    r"leads|likes|lists|loves|makes|manages|mentions|observes|offers|operates|orders|"
    r"owns|pays|plays|precedes|prefers|prevents|produces|publishes|reads|records|"
    r"regulates|replaces|represents|requires|sells|serves|shares|shows|speaks|sponsors|"
    r"starts|studies|succeeds|supports|teaches|treats|uses|visits|watches|wears|wins|"
    r"writes"
)
PARTICIPLES = re.compile(
    r"born|built|held|known|led|made|met|paid|put|set|shown|sold|spoken|sung|"
    r"taught|won|worn|written"
    r"|[a-z]+(ed|oven|awn)"
)
IRREGULAR = {
    "child": "children",
    "person": "people",
    "man": "men",
    "woman": "women",
    "foot": "feet",
}


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a relation says, as parts of sentences; `{}` stands for the entity at its other end."""

    told: str  # after the head, before the tail's name: "{h} is a city in {}", whole
    heads: str  # a group: all heads of the tail {}
    are_heads: str  # the clause: "are cities in {}"
    tails: str  # a group: all tails of the head {}
    are_tails: str

    def group(self, backwards: bool) -> str:
        return self.tails if backwards else self.heads

    def clause(self, backwards: bool) -> str:
        return self.are_tails if backwards else self.are_heads


class Wording:
    """The facts of a vocabulary in words."""

    def __init__(self, names: Vocabulary, types: Types | None, facts: Ids) -> None:
        self.names = names
        self._kinds = _Kinds(types, facts, names.num_relations)
        self._phrases: dict[int, Phrase] = {}

    def entity(self, entity: int) -> str:
        label = self.names.entity(entity)
        return _last_part(label) if label == self.names.entities[entity] else label

    def relation(self, relation: int) -> str:
        """A relation as it stands in a sentence."""
        return readable(self.names.relation(relation % self.names.num_relations))

    def told(self, head: int, relation: int, tail: int) -> str:
        """A fact: `Oslo is a city in Norway`."""
        return _put(self._phrase(relation).told, self.entity(tail), h=self.entity(head))

    def asked(self, anchor: int, slot: int) -> str:
        """A query: `Oslo is a city in ?`."""
        backwards, relation = divmod(slot, self.names.num_relations)
        head, tail = ("?", self.entity(anchor)) if backwards else (self.entity(anchor), "?")
        return _put(self._phrase(relation).told, tail, h=head)

    def step(self, start: int, slot: int, end: int) -> tuple[str, int]:
        """The fact that leads from start to end, and the entity that its sentence begins with."""
        backwards, relation = divmod(slot, self.names.num_relations)
        head, tail = (end, start) if backwards else (start, end)
        return self.told(head, relation, tail), head

    def group(self, slot: int, end: int | None) -> str:
        """All who have this slot with an entity, or with any: `cities in Norway`."""
        backwards, relation = divmod(slot, self.names.num_relations)
        kind, said = self._kinds.of_slot(slot), self._phrase(relation).group(bool(backwards))
        before, as_, noun = said.rpartition(" as ")
        if backwards and as_ and plural(noun) == kind:  # holidays that Peru observes as holiday
            said = before
        return _any(said, kind) if end is None else _put(said, self.entity(end), kind=kind)

    def clause(self, slot: int, end: int) -> str:
        """What they are: `are cities in Norway`."""
        backwards, relation = divmod(slot, self.names.num_relations)
        return _put(self._phrase(relation).clause(bool(backwards)), self.entity(end))

    def kind(self, slot: int) -> str:
        """What those are who have this slot: `countries`, or `entities`."""
        return self._kinds.of_slot(slot)

    def named(self, entities: Sequence[int]) -> str:
        """`Oslo`, `Oslo and Bergen`, `Oslo, Bergen and Tromsø`."""
        names = [self.entity(entity) for entity in entities]
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

    def _phrase(self, relation: int) -> Phrase:
        if relation not in self._phrases:
            self._phrases[relation] = phrase_of(self.relation(relation))
        return self._phrases[relation]


@cache
def phrase_of(label: str) -> Phrase:
    """The parts of sentences that a relation with this label gives."""
    label = label.replace("{", "(").replace("}", ")")
    words = label.split() or [label]
    first = words[0].lower()
    if first == "has" and len(words) > 1 and words[-1] not in PREPOSITIONS:
        return _noun(" ".join(words[2:] if words[1] in ("a", "an", "the") else words[1:]))
    if first in ("is", "was") and len(words) > 3 and words[1] in ("a", "an"):
        return _member(" ".join(words[2:]), first)
    if first in ("is", "was") and len(words) > 1:
        return _state(" ".join(words[1:]), first)
    if _is_verb(words):
        return _verb(label)
    if first in PREPOSITIONS or label == "part of":
        return _state(label, "is")
    if _is_participle(first) and (len(words) == 1 or words[1] in PREPOSITIONS):
        return _state(label, "is")
    core = words[: _core(words)]
    if any(VERBS.fullmatch(word) for word in core[1:]):  # week starts on
        return _noun(label)
    if _is_participle(core[-1]) and words[-1] not in PREPOSITIONS:  # drug used for treatment
        return _noun(label)
    rest = words[len(core) :]
    if rest == ["of"] or (rest[:1] != ["of"] and rest) or words[:2] == ["member", "of"]:
        return _member(label, "is")
    return _noun(label)


def _verb(label: str) -> Phrase:
    """`borders`, `belongs to metazone`: what the head does."""
    many, gap = _plural_verb(label), _gap(label)
    return Phrase(
        f"{{h}} {label} {{}}",
        f"{{kind}} that {many} {{}}",
        f"{many} {{}}",
        f"{{kind}} that {{}} {gap}",
        f"are among those that {{}} {gap.partition(' as ')[0]}",
    )


def _member(label: str, is_: str) -> Phrase:
    """`city in`, `member of political party`: the head is one of these."""
    words = label.split()
    place = _core(words)
    one, rest = " ".join(words[:place]), " ".join(words[place:])
    many = f"{plural(one)} {rest}"
    article = _article(one)
    are = AUXILIARIES[is_]
    return Phrase(
        f"{{h}} {is_} {article} {label} {{}}",
        f"{many} {{}}",
        f"{are} {many} {{}}",
        f"{{kind}} with {{}} as {article} {one}",
        f"have {{}} as {article} {one}",
    )


def _state(label: str, is_: str) -> Phrase:
    """`educated at`, `in metazone`: how the head is to the tail."""
    are, gap = AUXILIARIES[is_], _gap(f"{is_} {label}")
    that = "" if _is_participle(label.split()[0]) else f"that {are} "
    return Phrase(
        f"{{h}} {is_} {label} {{}}",
        f"{{kind}} {that}{label} {{}}",
        f"{are} {label} {{}}",
        f"{{kind}} that {{}} {gap}",
        f"are among those that {{}} {gap}",
    )


def _noun(label: str) -> Phrase:
    """`occupation`, `notable works`: what the tail is to the head."""
    words = label.split() or [label]
    if not words[_head_noun(words)].strip(",").isalpha():  # P31, film/genre: has no plural
        has, those = f"{{}} as {label}", f"that {{}} has as {label}"
        told, group = f"{{h}} has {{}} as {label}", f"{{kind}} with {has}"
        return Phrase(told, group, f"have {has}", f"{{kind}} {those}", f"are among those {those}")
    among = _is_plural(label)
    many = label if among else plural(label)
    has = f"{{}} among their {label}" if among else f"{{}} as {label}"
    one = f"{{}} among its {label}" if among else f"{{}} as {label}"
    return Phrase(
        f"{{h}} has {one}",
        f"{{kind}} with {has}",
        f"have {has}",
        f"{many} of {{}}",
        f"are {many} of {{}}",
    )


def readable(name: str) -> str:
    """A name of a relation as words: without the path before it, and without underscores."""
    return _last_part(name).replace("_", " ").strip() or name


def one_of(kind: str) -> str:
    """A type as one thing of it: `a city`, `an airport`."""
    name = readable(kind).lower()
    return f"{_article(name)} {name}"


def _article(noun: str) -> str:
    return "an" if noun[:1].lower() in "aeiou" else "a"


def plural(phrase: str) -> str:
    """The plural of a noun with what follows it: `heads of state`, `cities in`."""
    words = phrase.split() or [phrase]
    place = _head_noun(words)
    words[place] = _plural_word(words[place])
    return " ".join(words)


def _core(words: Sequence[str]) -> int:
    """How many words come before the first preposition."""
    return next((n for n, word in enumerate(words) if n and word in PREPOSITIONS), len(words))


def _head_noun(words: Sequence[str]) -> int:
    """The place of the noun that a phrase is about: `heads` of state, `languages` spoken."""
    end = next((n for n, word in enumerate(words, 1) if word.endswith(",")), _core(words))
    end = min(end, _core(words))
    return end - 2 if end > 1 and _is_participle(words[end - 1].rstrip(",")) else end - 1


def _plural_word(word: str) -> str:
    if word.lower() in IRREGULAR:
        return IRREGULAR[word.lower()]
    if re.search(r"[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    if re.search(r"(s|x|z|ch|sh)$", word):
        return f"{word}es"
    return f"{word}s"


def _is_plural(label: str) -> bool:
    """Whether a noun stands in the plural already: `languages spoken`, `notable works`."""
    words = label.split() or [label]
    return bool(re.search(r"[^suix]s$", words[_head_noun(words)]))


def _is_verb(words: Sequence[str]) -> bool:
    first = words[0].lower()
    if first in AUXILIARIES or VERBS.fullmatch(first):
        return True
    if first.endswith("ly") and len(words) > 1:
        return _is_verb(words[1:]) or (_is_participle(words[1]) and words[-1] in PREPOSITIONS)
    follows = words[1:2] and words[1] in (*PREPOSITIONS[1:], "a", "an", "the")
    return bool(follows and re.search(r"[^suix]s$", first))


def _is_participle(word: str) -> bool:
    return bool(PARTICIPLES.fullmatch(word.lower()))


def _plural_verb(label: str) -> str:
    """`borders` -> `border`, `is in` -> `are in`, `widely speaks` -> `widely speak`."""
    words = label.split()
    place = 1 if words[0].endswith("ly") and len(words) > 1 else 0
    verb = words[place]
    if verb in AUXILIARIES:
        verb = AUXILIARIES[verb]
    elif verb.endswith("ies") and len(verb) > 4:
        verb = f"{verb[:-3]}y"
    elif re.search(r"(ch|sh|ss|x|zz|o)es$", verb):
        verb = verb[:-2]
    elif verb.endswith("s") and not verb.endswith("ss"):
        verb = verb[:-1]
    return " ".join([*words[:place], verb, *words[place + 1 :]])


def _gap(label: str) -> str:
    """The verb without its object: `Oslo is in`, `Norway observes as holiday`."""
    words = label.split()
    last = max((n for n, word in enumerate(words) if word in PREPOSITIONS), default=None)
    if last is not None:
        return " ".join(words[: last + 1])
    verb = 2 if words[0].endswith("ly") else 1
    if len(words) <= verb or words[0] in AUXILIARIES:
        return label
    return " ".join([*words[:verb], "as", *words[verb:]])


def _any(phrase: str, kind: str) -> str:
    """The phrase about anyone: `written in any script`, `that border anything`."""
    before, after = phrase.split("{}")
    for as_ in (" as a ", " as an ", " as ", " among their "):
        if after.startswith(as_):
            return f"{before.format(kind=kind)}any {after.removeprefix(as_)}"
    words = before.format(kind=kind).split()
    starts = [n + 1 for n, word in enumerate(words) if word in (*PREPOSITIONS, "that")]
    last = max(starts, default=0)
    last += words[last - 1 : last] == ["that"]  # the verb itself comes before its object
    if after or last >= len(words):
        return f"{' '.join(words)} {ANYTHING}{after}"
    return " ".join([*words[:last], "any", *words[last:]])


def _put(phrase: str, name: str, **others: str) -> str:
    """The phrase with this name; what the name itself ends in is not said twice.

    `in time zone` and `Seoul time zone` give `in Seoul time zone`.
    """
    before, after = phrase.split("{}")
    words, said = name.split(), before.split()
    for count in range(min(len(words) - 1, len(said)), 0, -1):
        if [word.lower() for word in words[-count:]] == said[-count:]:
            before = " ".join(said[:-count]) + " "
            break
    if after.startswith(" as ") and f" {name.lower()}".endswith(f" {after[4:].lower()}"):
        after = ""
    return f"{before.format(**others)}{name}{after.format(**others)}"


def _last_part(name: str) -> str:
    """What comes last in an IRI or a path; other names as they are."""
    if "://" not in name and not name.startswith(("/", "urn:")):
        return name
    return re.split(r"[/#:]", name.rstrip("/#:"))[-1] or name


class _Kinds:
    """What those who have a slot are called: by the narrowest type that nearly all have."""

    def __init__(self, types: Types | None, facts: Ids, num_relations: int) -> None:
        self.types, self.facts, self.num_relations = types, facts, num_relations
        self._known: dict[int, str] = {}

    def of_slot(self, slot: int) -> str:
        if slot not in self._known:
            self._known[slot] = self._found(slot)
        return self._known[slot]

    def _found(self, slot: int) -> str:
        if self.types is None:
            return THOSE
        backwards, relation = divmod(slot, self.num_relations)
        mine = self.facts[self.facts[:, 1] == relation]
        members = np.unique(mine[:, 2 if backwards else 0])
        if not len(members):
            return THOSE
        offsets, types = self.types.entity_offsets, self.types.entity_types
        lists = [types[offsets[one] : offsets[one + 1]] for one in members.tolist()]
        share = np.bincount(np.concatenate(lists), minlength=len(self.types.names)) / len(members)
        sizes = np.bincount(types, minlength=len(self.types.names))
        for kind in np.lexsort((sizes, share < SHARED)).tolist():
            if share[kind] < SHARED:
                break
            name = readable(self.types.names[kind])
            if re.fullmatch(r"[^\W\d]+( [^\W\d]+)*", name):
                return plural(name.lower())
        return THOSE
