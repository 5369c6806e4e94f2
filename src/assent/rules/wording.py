"""Facts and rules as people would say them, from the labels of relations and the names of types.

Labels are of four shapes, told apart by their words. Each shape is a group ("cities in Norway",
"those with Norway as country") and a claim about many ("3 of 4 are cities in Norway", "Norway
borders 3 of 4"), seen from the head or from the tail of the relation.

    verb        borders, belongs to metazone, founded, acted in
    member      member of, is a city in, citizen of
    state       educated at, is written in script, near city, starring
    noun        occupation, country of citizenship, has capital

Names that are no labels are split into words first: has_capital, hasCapital, ex:hasCapital.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from assent.core.arrays import Ids
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary, last_part

SOMETHING = "something"  # at the other end, whatever it is
THOSE = "entities"  # where no type is known that they share
SHARED = 0.95  # of the entities in question must have a type, if it is to name them
PREPOSITIONS = (
    *("of", "in", "at", "by", "to", "on", "from", "with", "for", "into", "after", "under"),
    *("near", "within", "about", "over", "between", "against", "through", "during", "before"),
    *("out", "up"),
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
    r"accepts|adapts|advises|affects|allows|applies|assesses|attends|borders|brings|broadcasts|"
    r"buys|carries|causes|celebrates|complicates|composes|connects|consists|contains|controls|"
    r"covers|creates|crosses|degrades|deploys|depicts|describes|detects|diagnoses|directs|"
    r"disrupts|distinguishes|employs|encodes|exhibits|follows|forms|gets|gives|governs|hires|"
    r"holds|hosts|includes|indicates|influences|inhibits|joins|knows|leads|likes|lists|loves|"
    r"makes|manages|measures|meets|mentions|observes|offers|operates|orders|owns|pays|performs|"
    r"plays|portrays|precedes|prefers|prevents|produces|publishes|reads|records|regulates|"
    r"replaces|represents|requires|sells|serves|shares|shows|speaks|sponsors|starts|studies|"
    r"succeeds|supervises|supports|surrounds|takes|teaches|translates|traverses|treats|uses|"
    r"visits|watches|wears|wins|writes"
)
PLAIN = re.compile(r"[A-Za-z][A-Za-z ,'()-]{0,78}")  # a label that can be part of a sentence
PARTICIPLES = re.compile(
    r"born|built|held|known|led|made|met|paid|put|set|shown|sold|spoken|sung|"
    r"taught|won|worn|written"
    r"|[a-z]+(ed|oven|awn)"
)
# What the head did, not what was done to it: acted in, graduated from.
INTRANSITIVE = re.compile(
    r"acted|appeared|arrived|belonged|collaborated|collided|competed|died|emigrated|ended|fought|"
    r"graduated|happened|immigrated|lived|moved|occurred|participated|performed|played|resigned|"
    r"resulted|retired|served|starred|started|studied|worked"
)
TOLD_AFTERWARDS = re.compile(r"built|held|led|made|met|paid|put|set|sold|taught|won|[a-z]+ed")
DOING = re.compile(r"[a-z]{2,}[aeiouy][a-z]*ing")  # starring, featuring
NOUNS_IN_ING = re.compile(
    r".*(ling|thing|string|building|drawing|painting|meeting|wedding|setting|rating|ranking|"
    r"recording|holding|landing|opening|offering|ruling|crossing|writing|training|meaning|"
    r"housing|clothing|spelling|funding|publishing|engineering|manufacturing|spring)"
)
ADJECTIVES = ("part", "aware", "capable", "full", "independent", "typical")  # before "of"
IRREGULAR = {
    "child": "children",
    "person": "people",
    "man": "men",
    "woman": "women",
    "foot": "feet",
    "alumnus": "alumni",
    "criterion": "criteria",
    "phenomenon": "phenomena",
    **{same: same for same in ("series", "species", "headquarters", "news", "means", "offspring")},
}


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a relation says, as parts of sentences.

    `{}` stands for the entity at its other end, `{many}` for several at this end.
    """

    told: str  # after the head, before the tail's name: "{h} is a city in {}", whole
    heads: str  # a group: all heads of the tail {}
    are_heads: str  # the claim: "{many} are cities in {}"
    tails: str  # a group: all tails of the head {}
    are_tails: str

    def group(self, backwards: bool) -> str:
        return self.tails if backwards else self.heads

    def claim(self, backwards: bool) -> str:
        return self.are_tails if backwards else self.are_heads


class Wording:
    """The facts of a vocabulary in words."""

    def __init__(self, names: Vocabulary, types: Types | None, facts: Ids) -> None:
        self.names = names
        self._kinds = _Kinds(types, facts, names.num_relations)
        self._phrases: dict[int, Phrase] = {}

    def entity(self, entity: int) -> str:
        label = self.names.entity(entity)
        return last_part(label) if label == self.names.entities[entity] else label

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

    def claim(self, many: str, slot: int, end: int) -> str:
        """That several have the slot with an entity: `3 of 4 ports are cities in Norway`."""
        backwards, relation = divmod(slot, self.names.num_relations)
        said = self._phrase(relation).claim(bool(backwards))
        if said.startswith("{many}"):
            many = many[:1].upper() + many[1:]
        return _put(said, self.entity(end), many=many)

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
    if label.lower() in ("is a", "isa", "type"):
        return _kind_of()
    if label.lower() == "same as":
        return _state("the same as", "is")
    if first == "has" and len(words) > 2 and _is_participle(words[1]):  # has won prize
        return _verb(label)
    if first == "has" and len(words) > 1 and words[-1] not in PREPOSITIONS:
        return _noun(" ".join(words[2:] if words[1] in ("a", "an", "the") else words[1:]))
    if first in ("is", "was") and len(words) > 3 and words[1] in ("a", "an"):
        return _member(" ".join(words[2:]), first)
    of_noun = words[2:3] == ["of"] and not (_is_participle(words[1]) or words[1] in ADJECTIVES)
    if first in ("is", "was") and of_noun:  # is citizen of
        return _member(" ".join(words[1:]), first)
    if first in ("is", "was") and len(words) > 1:
        return _state(" ".join(words[1:]), first)
    if _is_verb(words):
        return _verb(label)
    if first in PREPOSITIONS or label == "part of":
        return _state(label, "is")
    before = len(words) > 1 and words[1] in (*PREPOSITIONS, "as")  # the tail, as a preposition
    if (before and INTRANSITIVE.fullmatch(first)) or (
        len(words) == 1 and TOLD_AFTERWARDS.fullmatch(first)
    ):
        return _verb(label)
    if (before or len(words) == 1) and (_is_participle(first) or _is_doing(first)):
        return _state(label, "was" if first == "born" else "is")
    if first.endswith("ly") and len(words) > 2 and _is_participle(words[1]):
        return _state(label, "is")  # conceptually related to
    core = words[: _core(words)]
    if any(VERBS.fullmatch(word) for word in core[1:]):  # week starts on
        return _noun(label)
    if _is_participle(core[-1]) and words[-1] not in PREPOSITIONS:  # drug used for treatment
        return _noun(label)
    rest = words[len(core) :]
    if rest == ["of"] or (rest[:1] != ["of"] and rest) or words[:2] == ["member", "of"]:
        return _member(label, "is")
    return _noun(label)


@cache
def around_tail(label: str) -> tuple[str, str]:
    """What a fact says between its head and its tail, and after it: `has` Oslo `as capital`.

    A label that is not made of plain words stands between them as it is.
    """
    words = readable(label)
    if not PLAIN.fullmatch(words):
        return label, ""
    between, after = phrase_of(words).told.split("{}")
    return between.removeprefix("{h}").strip(), after.strip()


def _verb(label: str) -> Phrase:
    """`borders`, `belongs to metazone`: what the head does."""
    many, gap = _plural_verb(label), _gap(label)
    return Phrase(
        f"{{h}} {label} {{}}",
        f"{{kind}} that {many} {{}}",
        f"{{many}} {many} {{}}",
        f"{{kind}} that {{}} {gap}",
        f"{{}} {gap.partition(' as ')[0]} {{many}}",
    )


def _kind_of() -> Phrase:
    """`is a`: the tail is a kind of things, and the head is one of them."""
    return Phrase(
        "{h} is a {}",
        "instances of {}",
        "{many} are instances of {}",
        "{kind} with {} as an instance",
        "{many} have {} as an instance",
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
        f"{{many}} {are} {many} {{}}",
        f"{{kind}} with {{}} as {article} {one}",
        f"{{many}} have {{}} as {article} {one}",
    )


def _state(label: str, is_: str) -> Phrase:
    """`educated at`, `in metazone`: how the head is to the tail."""
    are, gap = AUXILIARIES[is_], _gap(f"{is_} {label}")
    first = label.split()[0]
    that = "" if _is_participle(first) or _is_doing(first) else f"that {are} "
    return Phrase(
        f"{{h}} {is_} {label} {{}}",
        f"{{kind}} {that}{label} {{}}",
        f"{{many}} {are} {label} {{}}",
        f"{{kind}} that {{}} {gap}",
        f"{{}} {gap} {{many}}",
    )


def _noun(label: str) -> Phrase:
    """`occupation`, `notable works`: what the tail is to the head."""
    words = label.split() or [label]
    if not words[_head_noun(words)].strip(",").isalpha():  # P31, film/genre: has no plural
        has, those = f"{{}} as {label}", f"that {{}} has as {label}"
        told, group = f"{{h}} has {{}} as {label}", f"{{kind}} with {has}"
        back = f"{{}} has {{many}} as {label}"
        return Phrase(told, group, f"{{many}} have {has}", f"{{kind}} {those}", back)
    among = _is_plural(label)
    many = label if among else plural(label)
    as_ = f"{{}} as {'a ' if label == 'part' else ''}{label}"
    has = f"{{}} among their {label}" if among else as_
    one = f"{{}} among its {label}" if among else as_
    of = "by" if _is_participle(words[-1]) else "of"  # awards received by Ada
    return Phrase(
        f"{{h}} has {one}",
        f"{{kind}} with {has}",
        f"{{many}} have {has}",
        f"{many} {of} {{}}",
        f"{{many}} are {many} {of} {{}}",
    )


def readable(name: str) -> str:
    """A name of a relation or type as words.

    Without the path or prefix before it, without underscores; hasCapital is `has capital`. Labels,
    which have spaces, stay as they are.
    """
    if " " in name.strip():
        return name.strip()
    last = last_part(name)
    last = re.sub(r"^([A-Za-z][\w.-]*[:/])+(?=[A-Za-z_])", "", last)
    words = re.sub(r"(?<=[a-z])(?<!^[a-z])(?=[A-Z])", " ", last.replace("_", " ")).split()
    split = len(words) > 1 and "_" not in last  # NASDAQ and GDP stay as they are
    words = [word.lower() if split and not word.isupper() else word for word in words]
    words[1:] = [word.lower() if word == "A" else word for word in words[1:]]
    return " ".join(words) or name


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
    if word.lower() in IRREGULAR.values():
        return word
    if re.search(r"[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    if re.search(r"(s|x|z|ch|sh)$", word):
        return f"{word}es"
    return f"{word}s"


def _is_plural(label: str) -> bool:
    """Whether a noun stands in the plural already: `languages spoken`, `notable works`."""
    words = label.split() or [label]
    noun = words[_head_noun(words)].rstrip(",").lower()
    if noun in IRREGULAR:
        return False
    return noun in IRREGULAR.values() or bool(re.search(r"[^suix]s$", noun))


def _is_verb(words: Sequence[str]) -> bool:
    first = words[0].lower()
    if first in AUXILIARIES or VERBS.fullmatch(first):
        return True
    if first.endswith("ly") and len(words) > 1:
        did = INTRANSITIVE.fullmatch(words[1]) or words[1] in ("paid", "held", "led", "met")
        return _is_verb(words[1:]) or bool(did and words[-1] in PREPOSITIONS)  # formerly paid in
    follows = words[1:2] and words[1] in (*PREPOSITIONS[1:], "a", "an", "the")
    return bool(follows and re.search(r"[^suix]s$", first))


def _is_participle(word: str) -> bool:
    return bool(PARTICIPLES.fullmatch(word.lower()))


def _is_doing(word: str) -> bool:
    """Whether it says what something does, as `starring`, and is no noun, as `building`."""
    return bool(DOING.fullmatch(word.lower())) and not NOUNS_IN_ING.fullmatch(word.lower())


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
    if words[0] == "has" and len(words) > 2:  # has won prize
        return " ".join(words[:2])
    if len(words) <= verb or words[0] in AUXILIARIES:
        return label
    return " ".join([*words[:verb], "as", *words[verb:]])


def _any(phrase: str, kind: str) -> str:
    """The phrase about anyone: `written in any script`, `that border something`."""
    before, after = phrase.split("{}")
    for as_ in (" as a ", " as an ", " as ", " among their "):
        if after.startswith(as_):
            return f"{before.format(kind=kind)}any {after.removeprefix(as_)}"
    words = before.format(kind=kind).split()
    starts = [n + 1 for n, word in enumerate(words) if word in (*PREPOSITIONS, "that")]
    last = max(starts, default=0)
    if words[last - 1 : last] == ["that"]:  # the verb itself comes before its object
        last += 2 if re.fullmatch("have|.*ly", " ".join(words[last : last + 1])) else 1
    if after or not 0 < last < len(words) or words[-1] == "as":
        return f"{' '.join(words)} {SOMETHING}{after}"
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
