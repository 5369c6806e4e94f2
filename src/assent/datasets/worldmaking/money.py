"""What each country pays in, and paid in before."""

from assent.datasets.worldmaking import sources
from assent.datasets.worldmaking.graph import WorldGraph
from assent.datasets.worldmaking.places import Countries


def add_money(graph: WorldGraph, countries: Countries, *, since: int = 1960) -> None:
    """Currencies that ended before the year `since` are left out."""
    names = sources.english_names("currencies")
    for code, country in countries.items():
        for use in sources.currency_uses(code):
            if use.currency not in names:
                continue
            currency = graph.entity("currency", use.currency, names[use.currency])
            if use.ended is None:
                graph.add(country, "currency", currency)
            elif use.ended >= since:
                graph.add(country, "former_currency", currency)
