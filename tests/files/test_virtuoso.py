"""The same with a store that people run: Debian's Virtuoso, on this machine, for a minute.

Skipped where there is no `virtuoso-t` (apt install virtuoso-opensource-7-bin), neither on the path
nor where VIRTUOSO says.
"""

import os
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from assent.files.sparql import Paging, Store, send_facts
from assent.files.sparql_pages import fetch_graph
from assent.files.triples import read
from toy import named_facts

PROGRAM = os.environ.get("VIRTUOSO") or shutil.which("virtuoso-t")
SECONDS = 120  # to start; it makes an empty database first
SETTINGS = """
[Database]
DatabaseFile = virtuoso.db
ErrorLogFile = virtuoso.log
TransactionFile = virtuoso.trx
xa_persistent_file = virtuoso.pxa
LockFile = virtuoso.lck
[TempDatabase]
DatabaseFile = virtuoso-temp.db
TransactionFile = virtuoso-temp.trx
[Parameters]
ServerPort = 127.0.0.1:{data}
NumberOfBuffers = 4000
MaxDirtyBuffers = 3000
[HTTPServer]
ServerPort = 127.0.0.1:{http}
ServerThreads = 4
[SPARQL]
ResultSetMaxRows = 50
"""

pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="no virtuoso-t here: apt install virtuoso-opensource-7-bin"
)


def free_ports() -> list[int]:
    sockets = [socket.socket() for _ in range(2)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Host and port of a store that was just made, and stops at the end."""
    folder = tmp_path_factory.mktemp("virtuoso")
    data, http = free_ports()
    (folder / "virtuoso.ini").write_text(SETTINGS.format(data=data, http=http))
    command = [str(PROGRAM), "-f", "+configfile", "virtuoso.ini"]
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out)
    try:
        wait_for(f"http://127.0.0.1:{http}/sparql", process, folder)
        yield f"127.0.0.1:{http}"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(url: str, process: subprocess.Popen, folder: Path) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"virtuoso did not start: {(folder / 'out').read_text(errors='replace')[-500:]}")


def test_facts_go_to_virtuoso_and_come_back(address, tmp_path):
    e, graph = "http://e.org/", "http://e.org/accepted"
    facts = [(f"{e}n{n}", f"{e}next", f"{e}n{n + 1}") for n in range(120)]
    facts.append((f"{e}né", f"{e}next", "new york"))
    told = Store.of(f"sparql+http://dba:dba@{address}/sparql-auth")
    for _ in range(2):
        send_facts(told, facts, graph)
    query = f"SELECT ?s ?p ?o WHERE {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}"
    asked = Store.of(f"sparql+http://{address}/sparql")
    # It gives no more than 50 rows, whatever it is asked for.
    kb = read(fetch_graph(asked, query, tmp_path, Paging(rows=1000)))
    assert named_facts(kb.facts, kb.vocabulary) == set(facts)
    query = f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}"
    kb = read(fetch_graph(asked, query, tmp_path, Paging(rows=40)))
    assert named_facts(kb.facts, kb.vocabulary) == set(facts)
