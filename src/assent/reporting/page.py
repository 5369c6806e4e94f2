"""The report of a benchmark and of decisions about it, as Markdown."""

from collections.abc import Iterable, Iterator, Sequence

from assent.building.auditing import Finding
from assent.building.counting import table_one
from assent.core.benchmark import Benchmark
from assent.core.counts import METRICS
from assent.measuring.classification import SETS
from assent.measuring.evaluation import Evaluation
from assent.reporting.results import DASH, SET_NAMES, share
from assent.reporting.samples import sample_decisions, sample_queries
from assent.reporting.tables import KIND_NAMES, benchmark_line, verdict_in_words

COLUMNS = ("head", "tail", "total", "valid", "test")


def markdown(benchmark: Benchmark, findings: Iterable[Finding], found: Evaluation) -> str:
    """Table 1, the audit, sample queries, and what was decided about them."""
    name = benchmark.origin.get("source", {}).get("name", "benchmark")
    counts = table_one(benchmark)
    table = [(KIND_NAMES[kind], *(f"{row[c]:,}" for c in COLUMNS)) for kind, row in counts.items()]
    audit = [(f.name, f"{f.count:,}", f"{f.among:,}", verdict_in_words(f)) for f in findings]
    samples = [(KIND_NAMES[kind], query) for kind, query in sample_queries(benchmark)]
    warnings = [f"- {warning}" for warning in benchmark.origin.get("warnings", ())]
    parts = [
        f"# The benchmark of {name}",
        benchmark_line(benchmark) + ".",
        *warnings,
        "## Queries",
        _table(("", *COLUMNS), table),
        "## Audit",
        _table(("looked for", "found", "among", ""), audit),
        "## Sample test queries",
        _table(("kind", "query and answers"), samples),
        f"## Decisions on {found.split}, rule {found.rule}",
        _table(("", "precision", "recall", "F1", "facts a query", "left empty"), _decided(found)),
        f"MRR as the paper defines it: {share(found.mrr)}.",
        "The surest of each of ten relations:",
        _table(("", "question and answer"), sample_decisions(found)),
    ]
    return "\n\n".join(parts) + "\n"


def _decided(found: Evaluation) -> Iterator[tuple[str, ...]]:
    for name in SETS:
        counts, of_set = found.classified.of(name), found.classified
        shares = (share(of(counts)) if counts.relevant else DASH for of in METRICS.values())
        added = f"{of_set.per_query(name):.2f}"
        yield (SET_NAMES[name], *shares, added, share(of_set.left_empty(name)))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return markdown_table(header, ([plain_cell(cell) for cell in row] for row in rows))


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells as they are, markup and all."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def plain_cell(text: str) -> str:
    """Names come from users' graphs: they must not end a cell or start markup."""
    return "".join(f"\\{c}" if c in "\\|`*_<>[]#" else c for c in text)
