"""explain: the rules that speak for a fact, and what speaks against it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.models.embedding import Embedding
from assent.rules.explaining import Explanation
from assent.rules.explaining import explain as explain_by_rules
from assent.rules.model import RuleModel
from assent.scoring import Scored
from assent.verbs.deciders import rules_of


def explain(run: Scored, head: str, relation: str, tail: str, most: int = 5) -> Explanation:
    """Why a fact, known or not, may be true: in sentences, the surest rule first.

    Names or labels, as the benchmark has them. The rules are those of the train facts: a run of the
    model `rules` has its own, any other run those that a judge hears.
    """
    names = run.benchmark.vocabulary
    fact = (
        _number(head, names.entities, names.entity_labels, "entity"),
        _number(relation, names.relations, names.relation_labels, "relation"),
        _number(tail, names.entities, names.entity_labels, "entity"),
    )
    model = run.model
    rules = model.rules if isinstance(model, RuleModel) else rules_of(run.benchmark)
    return explain_by_rules(rules, names, fact, most=most, vectors=_vectors(model, names))


def _number(name: str, names: tuple[str, ...], labels: tuple[str, ...], what: str) -> int:
    """The id of a name, or of a label that only one has."""
    if name in names:
        return names.index(name)
    found = [number for number, label in enumerate(labels) if label == name]
    if len(found) == 1:
        return found[0]
    if found:
        those = ", ".join(names[number] for number in found[:5])
        raise DataError(f"{name!r}: several have this label ({those}); give the name")
    raise DataError(f"{name!r}: no {what} of the benchmark has this name or label")


def _vectors(model: object, names: Vocabulary) -> NDArray[np.floating[Any]] | None:
    """The entities as the model sees them, where it has one vector for each."""
    if not isinstance(model, Embedding):
        return None
    vectors = model.entity_table().vectors.detach().cpu().numpy()
    return vectors if len(vectors) == names.num_entities else None
