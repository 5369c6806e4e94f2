"""Scripts beside the package, which no test runs: what they import is there."""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted([*(ROOT / "benchmarks").glob("*.py"), *(ROOT / "docs").glob("*.py")])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_script_imports_only_what_is_there(script):
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or (node.module or "").split(".")[0] != "assent":
            continue
        module = import_module(node.module)
        for name in (alias.name for alias in node.names):
            there = hasattr(module, name) or find_spec(f"{node.module}.{name}")
            assert there, f"{node.module} has no {name}"
