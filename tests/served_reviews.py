"""Reviews to serve in tests: a small graph, many proposals, and names that mean harm."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np

import assent
import toy
from assent.completing.completing import Wanted
from assent.completing.ground import Ground
from assent.core.arrays import frozen
from assent.core.benchmark import Benchmark
from assent.core.new_facts import HEAD, TAIL, Evidence, NewFacts
from assent.core.vocabulary import Vocabulary
from assent.reviewing.proposals import Proposals, ordered, write_proposals

SECONDS = 60  # until a server is there, on a machine that others use too
HOSTILE = (
    "<script>window.struck = 1</script>",
    "</script><img src=x onerror='window.struck = 1'>",
    "{{ 7 * 7 }} {% raw %}",
    "\u202egnp.exe\u2066 turned round \u0007",
    "\u2028 line \u2029 separators ]]> <!-- <![CDATA[",
    "\"quoted\" 'single' `back` onclick=window.struck=1",
    "x" * 10_000,
    "שלום עולם",
)


def make_review(folder: Path, count: int, *, hostile: bool = False, seed: int = 0) -> Path:
    """A run's folder with so many proposals, as far as a review needs one: no model is in it."""
    benchmark = _benchmark(hostile)
    assent.save(benchmark, folder / "benchmark")
    run = folder / "run"
    run.mkdir()
    place = (folder / "benchmark").as_posix()
    (run / "settings.toml").write_text(
        f'[benchmark]\npath = "{place}"\nsha256 = "{benchmark.digest()}"\n', encoding="utf-8"
    )
    rng = np.random.default_rng(seed)
    facts = ordered(_new_facts(benchmark, count, rng))
    planted = _planted(benchmark, 20, rng)
    write_proposals(run, Proposals(facts, planted, seed, 0.05, 0))
    return run


def _benchmark(hostile: bool) -> Benchmark:
    made = toy.built(toy.crowd(0, 160, 3, 6, splits=True), seed=1)
    names = made.vocabulary
    entities = [f"http://example.org/entity/{e}" for e in range(names.num_entities)]
    labels = [f"Entity {e}" for e in range(names.num_entities)]
    relations, relation_labels = ["r:0", "r:1", "r:2"], ["is near", "is part of", "is like"]
    if hostile:
        entities[: len(HOSTILE)] = labels[: len(HOSTILE)] = list(HOSTILE)
        entities[20:40] = [f"javascript:window.struck={e}" for e in range(20, 40)]
        labels[40:60] = [HOSTILE[e % len(HOSTILE)] for e in range(40, 60)]
        relation_labels[1] = "<img src=x onerror=window.struck=2>"
    vocabulary = Vocabulary(
        tuple(entities), tuple(relations), tuple(labels), tuple(relation_labels)
    )
    return replace(made, vocabulary=vocabulary, removed=None)


def _new_facts(benchmark: Benchmark, count: int, rng: np.random.Generator) -> NewFacts:
    """Facts that the graph does not have, with their evidence."""
    known = {tuple(fact) for fact in benchmark.train.tolist()}
    found: dict[tuple[int, ...], None] = {}
    while len(found) < count:
        head, tail = rng.integers(benchmark.vocabulary.num_entities, size=2).tolist()
        fact = (head, int(rng.integers(3)), tail)
        if fact not in known and head != tail:
            found[fact] = None
    return _with_evidence(
        benchmark, list(found), np.zeros(count, bool), rng.uniform(0.05, 1, count)
    )


def _planted(benchmark: Benchmark, count: int, rng: np.random.Generator) -> NewFacts:
    """Known facts; only those with evidence, as most new facts have."""
    size = 5 * count
    facts = rng.choice(benchmark.train, size, replace=False).tolist()
    made = _with_evidence(benchmark, facts, np.ones(size, bool), rng.uniform(0.05, 1, size))
    return made.take(np.flatnonzero(np.diff(made.evidence.offsets) > 0)[:count])


def _with_evidence(benchmark: Benchmark, facts, accepted, probabilities) -> NewFacts:
    facts, size = np.array(facts), len(facts)
    nan = np.full(size, np.nan)
    made = NewFacts(
        benchmark.vocabulary,
        frozen(facts),
        frozen(accepted, np.bool_),
        frozen(probabilities, np.float64),
        frozen(np.zeros(size), np.float32),
        frozen(nan, np.float64),
        frozen(nan, np.float64),
        frozen(np.full(size, TAIL | HEAD)),
        Evidence.nothing(size),
    )
    ground = Ground(benchmark, Wanted())
    parts = [
        ground.with_evidence(made.take(np.flatnonzero(facts[:, 1] == relation)))
        for relation in np.unique(facts[:, 1])
    ]
    return NewFacts.joined(parts, benchmark.vocabulary)


class Served:
    """A server that `assent review` started, in a process of its own."""

    def __init__(self, run: Path, *options: str, reviewers: tuple[str, ...] = ("anna", "ben")):
        words = [word for name in reviewers for word in ("--reviewer", name)]
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", "assent.cli", "review", str(run), *words, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            cwd=run,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        self.printed: list[str] = []
        self.addresses: dict[str, str] = {}
        watch = threading.Timer(SECONDS, self.process.kill)
        watch.start()
        for line in self.process.stdout:
            self.printed.append(line)
            if found := re.match(r"(\w+): (http://\S+)$", line.strip()):
                self.addresses[found[1]] = found[2]
            if len(self.addresses) == len(reviewers):
                break
        watch.cancel()
        if len(self.addresses) < len(reviewers):
            self.kill()
            raise AssertionError("".join(self.printed))
        split = urlsplit(self.addresses[reviewers[0]])
        self.host, self.port = split.hostname, split.port
        self.tokens = {
            name: parse_qs(urlsplit(address).query)["token"][0]
            for name, address in self.addresses.items()
        }

    def kill(self) -> None:
        """As a power cut would: no goodbye."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(SECONDS)
        self.process.stdout.close()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(SECONDS)
            self.printed += self.process.stdout.readlines()
        self.process.stdout.close()

    def ask(self, path, body=None, *, reviewer="anna", method=None, headers=None):
        """One request as the page sends it, changed by `headers`; the status and the text."""
        given = {
            "Cookie": f"assent_review_{self.port}={self.tokens[reviewer]}",
            "Origin": f"http://{self.host}:{self.port}",
            **({"Content-Type": "application/json"} if body is not None else {}),
            **(headers or {}),
        }
        connection = HTTPConnection(self.host, self.port, timeout=30)
        try:
            connection.request(
                method or ("GET" if body is None else "POST"),
                path,
                body,
                {name: value for name, value in given.items() if value is not None},
            )
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


@contextmanager
def serving(
    run: Path, *options: str, reviewers: tuple[str, ...] = ("anna", "ben")
) -> Iterator[Served]:
    """A server on a free port of this machine, stopped in the end."""
    served = Served(run, *(options or ("--port", "0")), reviewers=reviewers)
    try:
        yield served
    finally:
        served.stop()
