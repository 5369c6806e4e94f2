"""Installs a wheel into a clean environment away from this folder, and runs the demo from it alone.

`python tools/try_wheel.py dist/*.whl`; `make dist` runs it. Ends by saying what the wheel and the
environment weigh.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

CONSTRAINTS = Path(__file__).resolve().parents[1] / "constraints.txt"
MB = 1e6


def try_wheel(wheel: Path, folder: Path) -> None:
    """Runs everything in `folder`, where nothing but the wheel can be imported."""
    place = folder / "venv"
    venv.create(place, with_pip=True)
    python = str(place / "bin" / "python")
    run([python, "-m", "pip", "install", "--quiet", "--constraint", CONSTRAINTS, wheel], folder)
    run([python, "-c", "import assent; print(assent.__file__)"], folder)
    run([place / "bin" / "assent", "--version"], folder)
    run([place / "bin" / "assent", "demo", "--quiet", "--out", "demo"], folder)
    packages = next((place / "lib").glob("python*/site-packages"))
    print(f"{wheel.name}: {wheel.stat().st_size / 1e3:,.0f} KB")
    print(f"site-packages with all that it needs: {weight(packages) / MB:,.0f} MB")
    for part in sorted(packages.iterdir(), key=weight)[-5:]:
        print(f"  {part.name}: {weight(part) / MB:,.0f} MB")


def run(words: list[str | Path], folder: Path) -> None:
    """Runs a command that must succeed; no variable leads it back to this folder."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([str(word) for word in words], cwd=folder, env=env, check=True)


def weight(path: Path) -> int:
    """Bytes of a file, or of all files below a folder; what a link leads to does not count."""
    if path.is_dir() and not path.is_symlink():
        return sum(weight(part) for part in path.iterdir())
    return path.lstat().st_size


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="assent-wheel-") as made:
        try_wheel(Path(sys.argv[1]).resolve(), Path(made))
