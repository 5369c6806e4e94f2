"""An HTML page that fetches nothing, runs no script but its own, and shows names as text."""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from assent.core.legible import legibly


def environment() -> Environment:
    """The templates, in which names from users' graphs are legible and escaped."""
    made = Environment(
        loader=PackageLoader("assent.reporting"),
        autoescape=True,
        finalize=legibly,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["breakable"] = _breakable
    made.filters["code"] = _with_code
    return made


def _breakable(text: str) -> Markup:
    """Long names of relations may break where people see parts in them; numbers may not."""
    return Markup(re.sub(r"([/_]|\.(?!\d))", r"\1<wbr>", str(escape(legibly(text)))))


def _with_code(text: str) -> Markup:
    """A sentence with the commands in it, which stand between backticks, set as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(legibly(text)))))


def for_script(value: Any) -> str:
    """JSON that cannot end the element it stands in, and whose texts are legible.

    Names come from users' graphs.
    """
    text = json.dumps(legibly(value), separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    for character in "<\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def policy(scripts: Sequence[str]) -> str:
    """What a browser may do with the page: run these scripts, and fetch nothing at all."""
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"


@cache
def vega() -> str:
    """Vega, Vega-Lite and Vega-Embed, once for all charts."""
    scripts: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return "(() => {" + scripts.replace("</script", "<\\/script") + "})();"
