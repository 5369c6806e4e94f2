"""QuickStatements: new facts as lines that Wikidata's batch editor takes."""

import re
from pathlib import Path

from assent.core.new_facts import ENTAILED, NewFacts
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.triples import named_facts

# Q42, P31; or the same behind Wikidata's IRIs.
ENTITY = re.compile(r"(?:https?://www\.wikidata\.org/(?:entity|wiki)/|wd:)?(Q[1-9]\d*)")
RELATION = re.compile(
    r"(?:https?://www\.wikidata\.org/(?:prop/direct|prop|entity|wiki)/(?:Property:)?|wdt:)?"
    r"(P[1-9]\d*)"
)


def refuse_other_ids(path: Path, names: Vocabulary) -> None:
    """Raises an error, before any work is done, if the names are not Wikidata's."""
    for kind, pattern, given in (
        ("entity", ENTITY, names.entities),
        ("relation", RELATION, names.relations),
    ):
        wrong = next((name for name in given if not pattern.fullmatch(name)), None)
        if wrong is not None:
            raise DataError(
                f"{path}: QuickStatements are for Wikidata, and the {kind} {wrong!r} is none of "
                "Wikidata's (Q42, P31); choose another format"
            )


def write_quickstatements(facts: NewFacts, path: Path) -> None:
    """`Q42<tab>P106<tab>Q36180` and, as the summary of the edit, how probable the fact is.

    Or, of a fact that the stated schema entails, that it does.
    """
    refuse_other_ids(path, facts.vocabulary)
    rows = named_facts(facts.facts, facts.vocabulary).iter_rows()
    with path.open("w", encoding="utf-8", newline="\n") as file:
        said = zip(rows, facts.probabilities.tolist(), facts.entailed.tolist(), strict=True)
        for (head, relation, tail), sure, entailed in said:
            ids = (_id(ENTITY, head), _id(RELATION, relation), _id(ENTITY, tail))
            how = f"{ENTAILED} by the schema" if entailed else f"probability {sure:.2f}"
            file.write("\t".join(ids) + f"\t/* found by assent, {how} */\n")


def _id(pattern: re.Pattern[str], name: str) -> str:
    found = pattern.fullmatch(name)
    assert found is not None, name  # refused before
    return found.group(1)
