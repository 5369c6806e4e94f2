"""What is wrong with how a command was called, in one line: what was found, and what is right."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from inspect import signature
from typing import Any, get_args

from assent.core.checking import refuse_unknown
from assent.errors import ConfigError

EXPECTED = {int: "a whole number, as in 10", float: "a number, as in 0.9"}
EXTRA = re.compile(r"unexpected extra arguments?(?:\(s\))? \((.*)\)", re.DOTALL)
NO_VALUE, NEEDS_VALUE = "does not take a value", "requires an argument"  # as Typer says it


class OneLine:
    """A command, or a group of them, that says in one line what is wrong with its arguments.

    To be inherited before Typer's own class. What Typer raises is known by its looks, for the
    module that it comes from is another one in each version.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = list(args)
        try:
            parsed: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
            return parsed
        except Exception as error:
            asks_for_help = not given and getattr(self, "no_args_is_help", False)
            if ctx.resilient_parsing or asks_for_help or not hasattr(error, "format_message"):
                raise
            raise ConfigError(f"{_wrong(error, ctx, given)} {see_help(ctx)}") from None


def refuse_command(word: str, ctx: Any, meant: str | None) -> None:
    """Raises an error for a word that is no command of a group; it names the one that is meant."""
    if meant is not None:
        raise ConfigError(f"unknown command {word!r}; did you mean {meant!r}? {see_help(ctx)}")
    try:
        refuse_unknown(word, ctx.command.list_commands(ctx), "command")
    except ConfigError as error:
        raise ConfigError(f"{error} {see_help(ctx)}") from None


def see_help(ctx: Any) -> str:
    """Where more is said of a command."""
    return f"(see {' '.join(['assent', *_path(ctx), '--help'])})"


def _path(ctx: Any) -> list[str]:
    """The words that lead to a command: data, fetch."""
    return [*_path(ctx.parent), ctx.info_name] if ctx.parent is not None else []


def _wrong(error: Any, ctx: Any, given: Sequence[str]) -> str:
    said, path = error.format_message(), " ".join(_path(ctx))
    command = f"{path}: " if path else ""
    parameter = getattr(error, "param", None)
    if parameter is not None and type(error).__name__ == "MissingParameter":
        return f"{command}{_name(parameter)} is missing"
    if parameter is not None:
        found = _found(ctx, given, parameter)
        return f"{_name(parameter)} {found}: expected {_expected(ctx, parameter, error)}"
    if option := getattr(error, "option_name", None):
        if NEEDS_VALUE in said:
            return f"{command}{option} has no value; expected one after it"
        if NO_VALUE in said:
            return f"{command}{option} takes no value; leave out what follows the ="
        options = [word for one in ctx.command.get_params(ctx) for word in one.opts]
        close = get_close_matches(option, options, n=1)
        hint = f"did you mean {close[0]}?" if close else "leave it out"
        return f"{command}unknown option {option}; {hint}"
    if extra := EXTRA.search(said):
        taken = " ".join(ctx.command.collect_usage_pieces(ctx)[1:]) or "no argument"
        return f"{command}found {extra[1]!r} beside what it takes; expected {taken}"
    return f"{command}{said}"


def _name(parameter: Any) -> str:
    """`--precision`, or `RUN`."""
    longest: str = max(parameter.opts, key=len)
    return longest if longest.startswith("-") else str(parameter.metavar or longest.upper())


def _found(ctx: Any, given: Sequence[str], parameter: Any) -> str:
    """What stands there for an option."""
    values = ctx.command.make_parser(ctx).parse_args(args=list(given))[0]
    value = values.get(parameter.name)
    return ", ".join(map(repr, value)) if isinstance(value, list | tuple) else repr(value)


def _expected(ctx: Any, parameter: Any, error: Any) -> str:
    """The kind of value that an option takes, in words."""
    annotation = signature(ctx.command.callback).parameters[parameter.name].annotation
    kinds = list(get_args(annotation))
    kinds += [part for each in kinds for part in (each, *get_args(each))]
    word = next((word for kind, word in EXPECTED.items() if kind in kinds), None)
    return word or f"another value: {error.message}"
