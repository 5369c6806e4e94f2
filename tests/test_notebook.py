"""The notebook of the documentation runs, and shows what it keeps."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_the_notebook_runs_in_a_kernel_and_shows_what_it_keeps(tmp_path):
    pytest.importorskip("nbclient", reason="no nbclient: pip install '.[dev]' to run the notebook")
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, str(DOCS / "execute.py"), "--check"],
        env={**os.environ, "PYTHONPATH": paths, "IPYTHONDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_notebook_is_small():
    assert (DOCS / "notebook.ipynb").stat().st_size < 100_000
