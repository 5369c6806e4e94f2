"""Draws docs/demo.svg: what `make demo` prints, as a picture for the README."""

import io
import os
import re
import tempfile
from pathlib import Path

from rich.console import Console

import assent.cli

WIDTH = 110


def main() -> None:
    picture = Path(__file__).resolve().with_name("demo.svg")
    recorder = assent.cli.out = Console(record=True, width=WIDTH, file=io.StringIO())
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        assent.cli.demo(Path(".demo"))
        svg = recorder.export_svg(title="make demo")
    # The picture asks nobody for fonts: a monospaced one is everywhere.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    picture.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
