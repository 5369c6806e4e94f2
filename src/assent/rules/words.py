"""Words of English: names as words, plurals, which words are verbs, and which nouns are people."""

import re
from collections.abc import Sequence
from functools import cache

from assent.core.vocabulary import last_part

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
PARTICIPLES = re.compile(
    r"born|bought|brought|built|caught|held|known|led|made|met|paid|put|sent|set|shown|sold|"
    r"spoken|sung|"
    r"taught|won|worn|written"
    r"|[a-z]+(ed|oven|awn)"
)
# What the head did, not what was done to it: acted in, graduated from.
INTRANSITIVE = re.compile(
    r"acted|appeared|arrived|belonged|collaborated|collided|competed|died|emigrated|ended|fought|"
    r"graduated|happened|immigrated|lived|moved|occurred|participated|performed|played|resigned|"
    r"resulted|retired|served|starred|started|studied|worked"
)
TOLD_AFTERWARDS = re.compile(
    r"bought|brought|built|caught|held|led|made|met|paid|put|sent|set|sold|taught|won|[a-z]+ed"
)
# What the head did, in forms that are no participles: wrote in genre, became.
PAST = re.compile(
    r"ate|became|began|broke|came|chose|drew|drove|fell|flew|gave|got|grew|hid|knew|ran|rode|rose|"
    r"sang|saw|shook|spoke|stole|swam|threw|took|went|woke|wore|wrote"
)
DOING = re.compile(r"[a-z]{2,}[aeiouy][a-z]*ing")  # starring, featuring
NOUNS_IN_ING = re.compile(
    r".*(ling|thing|string|building|drawing|painting|meeting|wedding|setting|rating|ranking|"
    r"recording|holding|landing|opening|offering|ruling|crossing|writing|training|meaning|"
    r"housing|clothing|spelling|funding|publishing|engineering|manufacturing|spring)"
)
# Types of people, by their last noun: "film actor", "/people/person". Q5 is Wikidata's human.
PERSON = re.compile(
    r"person|people|human|being|man|woman|child|boy|girl|father|mother|brother|sister|son|"
    r"daughter|husband|wife|spouse|citizen|inhabitant|celebrity|actor|actress|comedian|dancer|"
    r"director|screenwriter|filmmaker|photographer|writer|author|novelist|poet|journalist|artist|"
    r"painter|sculptor|architect|singer|musician|composer|pianist|politician|senator|minister|"
    r"president|monarch|king|queen|emperor|soldier|scientist|researcher|professor|physicist|"
    r"chemist|biologist|mathematician|philosopher|historian|economist|engineer|inventor|lawyer|"
    r"judge|physician|nurse|patient|teacher|student|employee|athlete|footballer|cyclist|swimmer|"
    r"saint|bishop|pope|priest|q5"
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
    **{hard: f"{hard}s" for hard in ("epoch", "monarch", "patriarch", "stomach")},
    **{same: same for same in ("series", "species", "headquarters", "news", "means", "offspring")},
}


_SINGULAR = {many: one for one, many in IRREGULAR.items()}


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
    return f"{article(name)} {name}"


def article(noun: str) -> str:
    return "an" if noun[:1].lower() in "aeiou" else "a"


def plural(phrase: str) -> str:
    """The plural of a noun with what follows it: `heads of state`, `cities in`."""
    words = phrase.split() or [phrase]
    place = head_noun(words)
    words[place] = _plural_word(words[place])
    return " ".join(words)


@cache
def is_person(kind: str) -> bool:
    """Whether things of this type are people, in the singular or the plural, as its name tells."""
    words = re.sub(r"[^a-z]*\d{2,}$", "", readable(kind).lower()).split()
    noun = words[head_noun(words)] if words else ""
    return any(
        PERSON.fullmatch(one) for one in (noun, noun.removesuffix("s"), _SINGULAR.get(noun, ""))
    )


def core(words: Sequence[str]) -> int:
    """How many words come before the first preposition."""
    return next((n for n, word in enumerate(words) if n and word in PREPOSITIONS), len(words))


def head_noun(words: Sequence[str]) -> int:
    """The place of the noun that a phrase is about: `heads` of state, `languages` spoken."""
    end = next((n for n, word in enumerate(words, 1) if word.endswith(",")), core(words))
    end = min(end, core(words))
    return end - 2 if end > 1 and is_participle(words[end - 1].rstrip(",")) else end - 1


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


def is_plural(label: str) -> bool:
    """Whether a noun stands in the plural already: `languages spoken`, `notable works`."""
    words = label.split() or [label]
    noun = words[head_noun(words)].rstrip(",").lower()
    if noun in IRREGULAR:
        return False
    return noun in IRREGULAR.values() or bool(re.search(r"[^suix]s$", noun))


def is_verb(words: Sequence[str]) -> bool:
    first = words[0].lower()
    if first in AUXILIARIES or VERBS.fullmatch(first) or PAST.fullmatch(first):
        return True
    if first.endswith("ly") and len(words) > 1:
        did = INTRANSITIVE.fullmatch(words[1]) or words[1] in ("paid", "held", "led", "met")
        return is_verb(words[1:]) or bool(did and words[-1] in PREPOSITIONS)  # formerly paid in
    follows = words[1:2] and words[1] in (*PREPOSITIONS[1:], "a", "an", "the")
    return bool(follows and re.search(r"[^suix]s$", first))


def is_participle(word: str) -> bool:
    return bool(PARTICIPLES.fullmatch(word.lower()))


def is_doing(word: str) -> bool:
    """Whether it says what something does, as `starring`, and is no noun, as `building`."""
    return bool(DOING.fullmatch(word.lower())) and not NOUNS_IN_ING.fullmatch(word.lower())


def plural_verb(label: str) -> str:
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
