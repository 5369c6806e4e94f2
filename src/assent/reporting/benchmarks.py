"""Graphs, benchmarks, audits and named data sets, as grids and lines."""

from collections.abc import Mapping, Sequence
from typing import Any

from assent.building.counting import Table, table_one
from assent.building.findings import Finding
from assent.core.benchmark import SPLITS, Benchmark
from assent.core.facts import KnowledgeBase
from assent.datasets import Status
from assent.reporting.grid import Cell, Grid, count, counted, numbers, texts, words

KIND_NAMES = {
    "C": "complete (C)",
    "I": "incomplete (I)",
    "N": "… none left (N ⊂ I)",
    "F": "fake (F)",
}
COUNTED = ("head", "tail", "total", "valid", "test")


def queries_grid(benchmark: Benchmark) -> Grid:
    """The paper's Table 1: how many queries of which kind there are."""
    return counts_grid(table_one(benchmark))


def counts_grid(table: Table) -> Grid:
    """The same table, from counts by kind, such as stand in a manifest."""
    rows = [
        [words(KIND_NAMES[kind]), *(count(counts[column]) for column in COUNTED)]
        for kind, counts in table.items()
    ]
    return Grid("queries", [*texts("queries"), *numbers(*COUNTED)], rows)


def audit_grid(findings: Sequence[Finding]) -> Grid:
    """What was looked for in a benchmark, and what was found."""
    rows = []
    for finding in findings:
        style = finding.verdict.replace(" ", "-")
        rows.append(
            [
                words(finding.name),
                count(finding.count, style),
                count(finding.among),
                Cell(_verdict(finding), style=style),
            ]
        )
    columns = [*texts("looked for"), *numbers("found", "among"), *texts("")]
    return Grid("audit", columns, rows)


def _verdict(finding: Finding) -> str:
    """The verdict, and more where there is something to explain."""
    explains = finding.detail and (finding.count or not finding.among)
    return f"{finding.verdict}: {finding.detail}" if explains else finding.verdict


def audit_line(findings: Sequence[Finding]) -> str:
    """How many checks found something wrong."""
    wrong = [finding.name for finding in findings if finding.failed]
    if not wrong:
        return f"nothing wrong in {len(findings)} checks"
    return f"{len(wrong)} of {len(findings)} checks found something wrong: {', '.join(wrong)}"


def datasets_grid(found: Sequence[Status]) -> Grid:
    """Named data sets, and where they are."""
    rows = []
    for status in found:
        state = status.state if status.path is None else f"{status.state}: {status.path}"
        if status.state == "can be fetched" and status.download:
            state += f" ({status.download / 1e6:.1f} MB)"
        rows.append(
            [
                Cell(status.name),
                count(status.facts),
                *map(Cell, (status.title, status.licence, state)),
            ]
        )
    columns = [*texts("name"), *numbers("facts"), *texts("what it is", "licence", "state")]
    return Grid("datasets", columns, rows)


def graph_line(kb: KnowledgeBase) -> str:
    """A graph in one line, with what reading it left out."""
    source, names = kb.source, kb.vocabulary
    numbers = len(kb.facts), names.num_entities, names.num_relations
    return _graph_line(source.name, numbers, source.duplicates, source.left_out)


def _graph_line(
    name: str, numbers: tuple[int, int, int], duplicates: int, left_out: Mapping[str, int]
) -> str:
    kinds = ("facts", "entities", "relations")
    parts = [f"{number:,} {kind}" for number, kind in zip(numbers, kinds, strict=True)]
    if duplicates:
        parts.append(f"{duplicates:,} duplicates merged")
    parts += [f"{number:,} of a {kind} left out" for kind, number in left_out.items()]
    return f"{name}: {', '.join(parts)}"


def origin_lines(origin: Mapping[str, Any]) -> tuple[str, str]:
    """The graph and the benchmark in one line each, from what a manifest tells."""
    source, counts = origin["source"], origin["counts"]
    numbers = source["facts"], source["entities"], counts["relations"]
    graph = _graph_line(source["name"], numbers, source["duplicates"], source["left_out"])
    asked = {
        split: sum(counts["queries"][kind][split] for kind in ("C", "I", "F")) for split in SPLITS
    }
    benchmark = (
        f"{counted(counts['train_facts'], 'train fact')}, "
        f"{counted(counts['entities'], 'entity')}, {counted(counts['relations'], 'relation')}, "
        f"{asked['valid']:,} valid and {asked['test']:,} test queries"
    )
    return graph, benchmark


def benchmark_line(benchmark: Benchmark) -> str:
    """A benchmark in one line."""
    names = benchmark.vocabulary
    return (
        f"{counted(len(benchmark.train), 'train fact')}, "
        f"{counted(names.num_entities, 'entity')}, {counted(names.num_relations, 'relation')}, "
        f"{len(benchmark.valid):,} valid and {len(benchmark.test):,} test queries"
    )
