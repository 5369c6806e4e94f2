"""Draws docs/demo.svg: what `make demo` prints, as a picture for the README."""

import io
import os
import re
import tempfile
from pathlib import Path

from assent.cli.common import out
from assent.cli.demo import demo

WIDTH = 110


def main() -> None:
    picture = Path(__file__).resolve().with_name("demo.svg")
    out.record, out.width, out.file = True, WIDTH, io.StringIO()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        demo(Path(".demo"))
        svg = out.export_svg(title="make demo")
    # The picture asks nobody for fonts: a monospaced one is everywhere.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    picture.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
