"""What a relation says, as parts of sentences, from its label.

Labels are of four shapes, told apart by their words. Each shape is a group ("cities in Norway",
"those with Norway as country") and a claim about many ("3 of 4 are cities in Norway", "Norway
borders 3 of 4"), seen from the head or from the tail of the relation.

    verb        borders, belongs to metazone, founded, acted in
    member      member of, is a city in, citizen of
    state       educated at, is written in script, near city, starring
    noun        occupation, country of citizenship, has capital
"""

import re
from dataclasses import dataclass
from functools import cache

from assent.rules.words import (
    ADJECTIVES,
    AUXILIARIES,
    INTRANSITIVE,
    PREPOSITIONS,
    TOLD_AFTERWARDS,
    VERBS,
    article,
    core,
    head_noun,
    is_doing,
    is_participle,
    is_plural,
    is_verb,
    plural,
    plural_verb,
    readable,
)

ARTICLES = ("a", "an", "the")
RELATIVES = ("that", "who")
PLAIN = re.compile(r"[A-Za-z][A-Za-z ,'()-]{0,78}")  # a label that can be part of a sentence


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a relation says, as parts of sentences.

    `{}` stands for the entity at its other end, `{many}` for several at this end, `{kind}` for what
    those at this end are, and `{who}` for "who" or "that" behind it.
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
    if first == "has" and len(words) > 2 and is_participle(words[1]):  # has won prize
        return _verb(label)
    if first == "has" and len(words) > 1 and words[-1] not in PREPOSITIONS:
        return _noun(" ".join(words[2:] if words[1] in ("a", "an", "the", "as") else words[1:]))
    if first in ("is", "was") and len(words) > 3 and words[1] in ("a", "an"):
        return _member(" ".join(words[2:]), first)
    of_noun = words[2:3] == ["of"] and not (is_participle(words[1]) or words[1] in ADJECTIVES)
    if first in ("is", "was") and of_noun:  # is citizen of
        return _member(" ".join(words[1:]), first)
    if first in ("is", "was") and len(words) > 1:
        return _state(" ".join(words[1:]), first)
    if is_verb(words):
        return _verb(label)
    if first in PREPOSITIONS or label == "part of":
        return _state(label, "is")
    before = len(words) > 1 and words[1] in (*PREPOSITIONS, "as")  # the tail, as a preposition
    if (before and INTRANSITIVE.fullmatch(first)) or (
        len(words) == 1 and TOLD_AFTERWARDS.fullmatch(first)
    ):
        return _verb(label)
    if (before or len(words) == 1) and (is_participle(first) or is_doing(first)):
        return _state(label, "was" if first == "born" else "is")
    if first.endswith("ly") and len(words) > 2 and is_participle(words[1]):
        return _state(label, "is")  # conceptually related to
    kernel = words[: core(words)]
    if any(VERBS.fullmatch(word) for word in kernel[1:]):  # week starts on
        return _noun(label)
    if is_participle(kernel[-1]) and words[-1] not in PREPOSITIONS:  # drug used for treatment
        return _noun(label)
    rest = words[len(kernel) :]
    if rest == ["of"] or (rest[:1] != ["of"] and rest) or words[:2] == ["member", "of"]:
        return _member(label, "is")
    return _noun(label)


@cache
def around_tail(label: str, tail: str = "") -> tuple[str, str]:
    """What a fact says between its head and its tail, and after it: `has` Oslo `as capital`.

    A label that is not made of plain words stands between them as it is. What the name of the tail
    ends in is not said twice, if it is given.
    """
    words = readable(label)
    if not PLAIN.fullmatch(words):
        return label, ""
    between, after = _without_twice(phrase_of(words).told, tail)
    return between.removeprefix("{h}").strip(), after.strip()


def _verb(label: str) -> Phrase:
    """`borders`, `belongs to metazone`: what the head does."""
    many, gap = plural_verb(label), _gap(label)
    return Phrase(
        f"{{h}} {label} {{}}",
        f"{{kind}} {{who}} {many} {{}}",
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
    place = core(words)
    one, rest = " ".join(words[:place]), " ".join(words[place:])
    many = f"{plural(one)} {rest}"
    an_one = f"{article(one)} {one}"
    are = AUXILIARIES[is_]
    return Phrase(
        f"{{h}} {is_} {article(one)} {label} {{}}",
        f"{many} {{}}",
        f"{{many}} {are} {many} {{}}",
        f"{{kind}} with {{}} as {an_one}",
        f"{{many}} have {{}} as {an_one}",
    )


def _state(label: str, is_: str) -> Phrase:
    """`educated at`, `in metazone`: how the head is to the tail."""
    are, gap = AUXILIARIES[is_], _gap(f"{is_} {label}")
    first = label.split()[0]
    who = "" if is_participle(first) or is_doing(first) else f"{{who}} {are} "
    heads, are_heads = f"{{kind}} {who}{label} {{}}", f"{{many}} {are} {label} {{}}"
    told = f"{{h}} {is_} {label} {{}}"
    if is_ == "was" and label == f"{first} by" and TOLD_AFTERWARDS.fullmatch(first):
        did = f"{first} {{}}"  # was directed by: people who directed it
        return Phrase(told, heads, are_heads, f"{{kind}} {{who}} {did}", f"{{many}} {did}")
    return Phrase(told, heads, are_heads, f"{{kind}} that {{}} {gap}", f"{{}} {gap} {{many}}")


def _noun(label: str) -> Phrase:
    """`occupation`, `notable works`: what the tail is to the head."""
    words = label.split() or [label]
    if not words[head_noun(words)].strip(",").isalpha():  # P31, film/genre: has no plural
        has, those = f"{{}} as {label}", f"that {{}} has as {label}"
        told, group = f"{{h}} has {{}} as {label}", f"{{kind}} with {has}"
        back = f"{{}} has {{many}} as {label}"
        return Phrase(told, group, f"{{many}} have {has}", f"{{kind}} {those}", back)
    among = is_plural(label)
    many = label if among else plural(label)
    as_ = f"{{}} as {'a ' if label == 'part' else ''}{label}"
    has = f"{{}} among their {label}" if among else as_
    one = f"{{}} among its {label}" if among else as_
    of = "by" if is_participle(words[-1]) else "of"  # awards received by Ada
    return Phrase(
        f"{{h}} has {one}",
        f"{{kind}} with {has}",
        f"{{many}} have {has}",
        f"{many} {of} {{}}",
        f"{{many}} are {many} {of} {{}}",
    )


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


def about_any(phrase: str, kind: str, who: str, other: str) -> str:
    """The phrase about anyone: `written in any script`, `who are citizens of any country`.

    `other` is what one thing at the other end is: "country"; empty if nobody knows.
    """
    words, noun, after = _apart(phrase, kind, who)
    for as_ in (" as a ", " as an ", " as ", " among their "):
        if after.startswith(as_):
            return " ".join([*words, "any", after.removeprefix(as_)])
    if after:  # it does something: cities that a person was born in
        return f"{' '.join(words)} {f'{article(other)} {other}' if other else 'something'}{after}"
    noun = noun or other
    return " ".join([*words, f"any {noun}" if noun else "anything"])


def about_many(phrase: str, kind: str, who: str, others: str) -> str:
    """The phrase about all of a group: `born in cities in Norway`, `that people were born in`."""
    words, _, after = _apart(phrase, kind, who)
    if words[-1] == "that":
        after = f" {plural_verb(after.strip())}"
    return f"{' '.join(words)} {others}{after}"


def noun_before(phrase: str) -> str:
    """What a phrase calls the entity at its other end: `in the language {}` says `language`."""
    return _apart(phrase, "all", "that")[1]


def _apart(phrase: str, kind: str, who: str) -> tuple[list[str], str, str]:
    """The words of a phrase, the noun that it ends in, and what stands behind the name.

    films that are in | language | (nothing)
    """
    before, after = phrase.split("{}")
    words = before.format(kind=kind, who=who).split()
    starts = [n + 1 for n, word in enumerate(words) if word in (*PREPOSITIONS, *RELATIVES)]
    last = max(starts, default=len(words))
    if words[last - 1] in RELATIVES:  # the verb itself comes before its object
        last += 2 if re.fullmatch("have|.*ly", " ".join(words[last : last + 1])) else 1
    if after or words[-1] == "as":
        return words, "", after
    noun = words[last:]
    while noun and noun[0] in ARTICLES:
        noun = noun[1:]
    return words[:last], " ".join(noun), after


def put(phrase: str, name: str, **others: str) -> str:
    """The phrase with this name; what the name itself ends in is not said twice.

    `in time zone` and `Seoul time zone` give `in Seoul time zone`.
    """
    before, after = _without_twice(phrase, name)
    return f"{before.format(**others)}{name}{after.format(**others)}"


def _without_twice(phrase: str, name: str) -> tuple[str, str]:
    """What stands before the name and after it, without what it ends in."""
    before, after = phrase.split("{}")
    words, said = name.split(), before.split()
    for count in range(min(len(words) - 1, len(said)), 0, -1):
        if [word.lower() for word in words[-count:]] == said[-count:]:
            said = said[:-count]
            before = " ".join(said) + " "
            break
    if said[-1:] == ["the"] and words[:1] in (["the"], ["The"]):  # in the | The Hague
        before = " ".join(said[:-1]) + " "
    if after.startswith(" as ") and f" {name.lower()}".endswith(f" {after[4:].lower()}"):
        after = ""
    return before, after
