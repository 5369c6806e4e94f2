"""Tables for the terminal."""

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from assent.building.auditing import Finding
from assent.building.counting import table_one
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.datasets import Status

KIND_NAMES = {
    "C": "complete (C)",
    "I": "incomplete (I)",
    "N": "… none left (N ⊂ I)",
    "F": "fake (F)",
}

STYLES = {"wrong": "red", "skewed": "yellow", "fine": "green"}


def queries_table(benchmark: Benchmark) -> Table:
    """The paper's Table 1."""
    columns = ("head", "tail", "total", "valid", "test")
    shown = table("queries", *columns)
    for kind, counts in table_one(benchmark).items():
        shown.add_row(KIND_NAMES[kind], *(f"{counts[column]:,}" for column in columns))
    return shown


def audit_table(findings: Iterable[Finding]) -> Table:
    """What is wrong in red, what is skewed in yellow."""
    shown = table("looked for", "found", "among")
    shown.add_column("", overflow="fold")
    for finding in findings:
        style = STYLES.get(finding.verdict, "")
        shown.add_row(
            finding.name,
            Text(f"{finding.count:,}", style),
            f"{finding.among:,}",
            Text(verdict_in_words(finding), style),
        )
    return shown


def verdict_in_words(finding: Finding) -> str:
    """The verdict, and more where there is something to explain."""
    explains = finding.detail and (finding.count or not finding.among)
    return f"{finding.verdict}: {finding.detail}" if explains else finding.verdict


def audit_line(findings: Sequence[Finding]) -> str:
    """How many checks found something wrong."""
    wrong = [finding.name for finding in findings if finding.failed]
    if not wrong:
        return f"nothing wrong in {len(findings)} checks"
    return f"{len(wrong)} of {len(findings)} checks found something wrong: {', '.join(wrong)}"


def datasets_table(rows: Sequence[Status]) -> Table:
    """Named data sets and where they are."""
    shown = table("name", "facts")
    for column in ("what it is", "licence", "state"):
        shown.add_column(column, overflow="fold")
    for row in rows:
        state = row.state if row.path is None else f"{row.state}: {row.path}"
        if row.state == "can be fetched" and row.download:
            state += f" ({row.download / 1e6:.1f} MB)"
        shown.add_row(row.name, f"{row.facts:,}", row.title, row.licence, state)
    return shown


def graph_line(kb: KnowledgeBase) -> str:
    """A graph in one line, with what reading it left out."""
    words = [
        f"{len(kb.facts):,} facts",
        f"{kb.vocabulary.num_entities:,} entities",
        f"{kb.vocabulary.num_relations:,} relations",
    ]
    if kb.source.duplicates:
        words.append(f"{kb.source.duplicates:,} duplicates merged")
    words += [f"{count:,} of a {kind} left out" for kind, count in kb.source.left_out.items()]
    return f"{kb.source.name}: {', '.join(words)}"


def benchmark_line(benchmark: Benchmark) -> str:
    """A benchmark in one line."""
    return (
        f"{len(benchmark.train):,} train facts, {benchmark.vocabulary.num_entities:,} entities, "
        f"{benchmark.vocabulary.num_relations:,} relations, "
        f"{len(benchmark.valid):,} valid and {len(benchmark.test):,} test queries"
    )


def table(first: str, *numbers: str) -> Table:
    """A plain table: words, then numbers."""
    made = Table(box=None, header_style="bold", pad_edge=False)
    made.add_column(first)
    for name in numbers:
        made.add_column(name, justify="right")
    return made
