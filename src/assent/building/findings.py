"""What an audit finds, in words: the same whether arrays or an engine counted."""

from dataclasses import dataclass

from assent.building.fitting import SHARED
from assent.core.pairs import Joined

FEW_ANSWERS = 5  # a threshold found on fewer valid answers means little


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked for: how often it was found, among how many, and more in words."""

    name: str
    wrong: bool  # to be found at all is wrong; else it is a skew to know of
    count: int
    among: int
    detail: str = ""

    @property
    def failed(self) -> bool:
        return self.wrong and self.count > 0

    @property
    def verdict(self) -> str:
        """`wrong`, `skewed`, `fine`, or `not looked for` where there was nothing to look at."""
        if not self.among:
            return "not looked for"
        return "wrong" if self.failed else "skewed" if self.count else "fine"


def standing_twice(twice: int, among: int, mixed: int, without: int) -> Finding:
    detail = f"{mixed:,} with and without answers, {without:,} without twice"
    return Finding("queries that stand twice", True, twice, among, detail)


def in_both_splits(both: int, among: int, safe: bool) -> Finding:
    """In a leak-safe benchmark these are the queries whose answers were dealt to both splits."""
    detail = "for different answers, those of the other split masked" if safe else ""
    return Finding("queries in both valid and test", not safe, both, among, detail)


def real_fakes(real: int, among: int, incomplete: int) -> Finding:
    detail = f"{real - incomplete:,} complete, {incomplete:,} incomplete"
    return Finding("fakes that are a real query", True, real, among, detail)


def known_fakes(known: int, among: int) -> Finding:
    return Finding("fakes with answers in train", True, known, among)


def fitting_fakes(fit: int, among: int, tails_fit: int, tails: int, given: bool) -> Finding:
    source = "types given" if given else "domains stated in the relations' names"
    detail = f"{source}; {tails_fit / max(tails, 1):.1%} of the tail fakes"
    return Finding("fakes that fit the types", True, fit, among, detail)


NO_TYPES = Finding("fakes that fit the types", True, 0, 0, "no types known")
TYPES_GIVEN = Finding("fakes that may fit", False, 0, 0, "types are given")


def perhaps_fitting_fakes(fit: int, among: int) -> Finding:
    detail = f"their anchor stands in a slot that shares {SHARED} entities or more with this one"
    return Finding("fakes that may fit", False, fit, among, detail)


def leaked_facts(leaked: int, among: int) -> Finding:
    detail = f"{leaked / max(among, 1):.1%} of the test facts"
    return Finding("test facts that valid asks for as well", True, leaked, among, detail)


def trained_answers(known: int, among: int) -> Finding:
    return Finding("answers that stand in train", True, known, among)


def unseen_entities(unseen: int, among: int) -> Finding:
    return Finding("entities without a train fact", False, unseen, among)


def unseen_relations(unseen: list[str], among: int) -> Finding:
    detail = ", ".join(unseen)
    return Finding("relations without a train fact", False, len(unseen), among, detail)


def known_empty(known: int, among: int) -> Finding:
    """An empty answer set says that nothing new is to be found, not that nothing is true."""
    detail = f"{known / max(among, 1):.1%} of N"
    return Finding("empty queries whose answers are all known", False, known, among, detail)


def few_answers(few: int, among: int) -> Finding:
    name = f"relations with fewer than {FEW_ANSWERS} valid answers"
    return Finding(name, False, few, among, "each relation and its inverse")


def answers_of_top(held: int, total: int) -> Finding:
    detail = f"{held / max(total, 1):.1%} of the answers"
    return Finding("answers held by the top 1 % of queries", False, held, total, detail)


def stated_by_twins(either: int, among: int, inverse: int, same: int) -> Finding:
    detail = f"{inverse:,} by an inverse or symmetric relation, {same:,} by a duplicate"
    name = "test facts that a twin relation states in train"
    return Finding(name, False, either, among, detail)


def held_apart(shares: Joined, answers: int) -> Finding:
    """Answers may be chosen so that train does not join their entities by another fact."""
    detail = (
        f"train joins the entities of {shares.answers:.1%} of them, "
        f"and those of {shares.train:.1%} of its own facts by another"
    )
    name = "answers whose entities were held apart"
    return Finding(name, False, answers if shares.held_out else 0, answers, detail)
