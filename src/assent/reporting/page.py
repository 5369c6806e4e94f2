"""The report of a benchmark, as Markdown."""

from collections.abc import Iterable, Sequence

from assent.building.auditing import Finding
from assent.building.counting import table_one
from assent.core.benchmark import Benchmark
from assent.reporting.samples import sample_queries
from assent.reporting.tables import KIND_NAMES, benchmark_line, verdict_in_words

COLUMNS = ("head", "tail", "total", "valid", "test")


def markdown(benchmark: Benchmark, findings: Iterable[Finding]) -> str:
    """Table 1, the audit, and sample queries."""
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
    ]
    return "\n\n".join(parts) + "\n"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return markdown_table(header, ([plain_cell(cell) for cell in row] for row in rows))


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells as they are, markup and all."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def plain_cell(text: str) -> str:
    """Names come from users' graphs: they must not end a cell or start markup."""
    return "".join(f"\\{c}" if c in "\\|`*_<>[]#" else c for c in text)
