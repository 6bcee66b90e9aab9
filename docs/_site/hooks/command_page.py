"""The page of the command line, from the parser itself."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from veridical.cli.main import build_parser

_HEAD = """\
# What are the commands and their options?

`veridical COMMAND --help` prints the same. Bad input is one line on standard error and exit code 2.

"""


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the page."""
    files.append(File.generated(config, "command-line.md", content=page(build_parser())))


def page(parser: argparse.ArgumentParser) -> str:
    """Markdown of every command, and a table of them."""
    commands = list(_commands(parser))
    rows = "".join(
        f"| [`{command.prog.removeprefix('veridical ')}`](#{_anchor(command)}) | {summary} |\n"
        for command, summary, depth in commands
        if depth == 1
    )
    parts = [_HEAD, "| command | what it does |\n|---|---|\n", rows, "\n"]
    if parser.epilog:
        parts.append(_block(parser.epilog))
    parts += [_section(command, depth) for command, _, depth in commands]
    return "".join(parts)


def _commands(
    parser: argparse.ArgumentParser, depth: int = 1
) -> Iterator[tuple[argparse.ArgumentParser, str, int]]:
    """Every command below a parser, with its line of help and its depth."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            summaries = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, command in action.choices.items():
                yield command, _escaped(summaries.get(name, "")), depth
                yield from _commands(command, depth + 1)


def _section(command: argparse.ArgumentParser, depth: int) -> str:
    formatter = argparse.HelpFormatter(command.prog, max_help_position=24, width=82)
    formatter.add_usage(command.usage, command._actions, command._mutually_exclusive_groups)
    parts = [f"{'#' * (depth + 1)} {command.prog} {{ #{_anchor(command)} }}\n\n"]
    if command.description:
        parts.append(f"{_prose(command.description)}\n\n")
    parts.append(_block(formatter.format_help()))
    rows = [_row(action, formatter) for action in command._actions if _listed(action)]
    if rows:
        parts += ["| option | meaning |\n|---|---|\n", *rows, "\n"]
    if command.epilog:
        parts.append(f"{_prose(command.epilog)}\n\n")
    return "".join(parts)


def _anchor(command: argparse.ArgumentParser) -> str:
    return command.prog.replace(" ", "-")


def _listed(action: argparse.Action) -> bool:
    hidden = isinstance(action, argparse._HelpAction | argparse._SubParsersAction)
    return not hidden and action.help is not argparse.SUPPRESS


def _row(action: argparse.Action, formatter: argparse.HelpFormatter) -> str:
    names = formatter._format_action_invocation(action)
    meaning = formatter._expand_help(action) if action.help else ""
    return f"| `{names.replace('|', chr(92) + '|')}` | {_escaped(meaning)} |\n"


def _prose(text: str) -> str:
    """Paragraphs as they are; lines that are set in, such as tables, as text."""
    parts = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        set_in = any(line.startswith("  ") for line in part.splitlines())
        parts.append(_block(part).rstrip() if set_in else _escaped(part))
    return "\n\n".join(parts)


def _escaped(text: str) -> str:
    """Text in which nothing but code in backticks means anything."""
    pieces = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(
        piece.replace("|", r"\|")
        if piece.startswith("`")
        else re.sub(r"([*_<|\[\]])", r"\\\1", piece)
        for piece in pieces
    )


def _block(text: str) -> str:
    return f"```text\n{text.strip(chr(10))}\n```\n\n"
