"""Code blocks of Markdown pages: find them, run them, compare what they print.

On a page, ``python`` blocks run in order in one namespace, ``sh`` blocks line by line, ``sql``
blocks in DuckDB, all in one folder; ``yaml``, ``json`` and ``toml`` are read. A plain or ``text``
block right after code (at most one empty line between) is what the code prints, ``...`` being
anything; short outputs of Python may stand in the block itself instead, as comments. Plain blocks
elsewhere are only shown.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
KINDS = ("python", "sh", "sql", "yaml", "json", "toml", "", "text")
_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<kind>[^\n]*)\n(?P<code>.*?)^(?P=indent)```[ ]*$",
    flags=re.DOTALL | re.MULTILINE,
)
# Answers of `check` (1: not met) and of `monitor` and `test` (3: alarm, rejected), not failures.
_ANSWERS = (0, 1, 3)


@dataclass(frozen=True)
class Block:
    """Code, the line where it stands, and what the page says it prints (None: nothing is said)."""

    kind: str
    code: str
    line: int
    output: str | None


def blocks_of(text: str) -> list[Block]:
    """Blocks of a page in order; those that are output belong to the code before them."""
    found: list[Block] = []
    end = -1
    for match in _FENCE.finditer(text):
        kind = match["kind"].strip().split(" ")[0]
        code = re.sub(rf"^{match['indent']}", "", match["code"], flags=re.MULTILINE)
        follows = end >= 0 and text[end : match.start()].strip(" ") in ("\n", "\n\n")
        if follows and kind in ("", "text") and found[-1].output is None and found[-1].kind:
            last = found.pop()
            found.append(Block(last.kind, last.code, last.line, code))
        else:
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(kind if kind != "text" else "", code, line, None))
        end = match.end()
    return found


def modules_of(block: Block) -> set[str]:
    """Packages that a block imports."""
    if block.kind != "python":
        return {"duckdb"} if block.kind == "sql" else set()
    names: set[str] = set()
    for node in ast.walk(ast.parse(block.code)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


class Page:
    """Runs the blocks of one page; the current folder is the page's own."""

    def __init__(self) -> None:
        self._space: dict[str, Any] = {"__name__": "__main__"}
        self._base: Any = None

    def run(self, block: Block) -> str | None:
        """Run or read a block; return what is wrong with it, None if nothing is."""
        if block.kind not in KINDS:
            return f"no block may be of kind {block.kind!r}"
        try:
            printed = getattr(self, f"_{block.kind or 'text'}")(block.code)
        except Exception as error:
            return f"{type(error).__name__}: {error}\n{block.code}"
        return _difference(block, printed)

    def _text(self, _: str) -> str:
        return ""

    def _yaml(self, code: str) -> str:
        yaml.safe_load(code)
        return ""

    def _json(self, code: str) -> str:
        json.loads(code)
        return ""

    def _toml(self, code: str) -> str:
        tomllib.loads(code)
        return ""

    def _sql(self, code: str) -> str:
        import duckdb

        self._base = self._base or duckdb.connect()
        self._base.execute(code)
        return ""

    def _python(self, code: str) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as out, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # doubts are not what the page is about
            exec(compile(code, "<page>", "exec"), self._space)
        return out.getvalue()

    def _sh(self, code: str) -> str:
        return "".join(_shell(line) for line in commands_of(code))


def commands_of(code: str) -> Iterator[str]:
    """Commands of a block; a backslash at the end of a line continues it."""
    for line in code.replace("\\\n", " ").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip()


def _shell(command: str) -> str:
    if command.startswith("pip install "):
        _check_extras(command)
        return ""
    if command.startswith("veridical ") and not _for_a_shell(command):
        return _veridical(shlex.split(command)[1:])
    folder = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": folder + os.pathsep + os.environ["PATH"]}
    done = subprocess.run(
        ["sh", "-c", command], env=environment, capture_output=True, text=True, timeout=60
    )
    _check_code(done.returncode, command, done.stderr)
    return done.stdout


def _for_a_shell(command: str) -> bool:
    bare = re.sub(r"'[^']*'|\"[^\"$`]*\"", "", command)
    return bool(set(bare) & set("|&;<>$`*#"))


def _veridical(arguments: list[str]) -> str:
    """Run the command in this process, which has imported most of it already."""
    from veridical.cli import main

    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as said,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            code = main(arguments)
        except SystemExit as end:  # of the parser: --help, or a usage error
            code = int(end.code or 0)
    _check_code(code, shlex.join(arguments), said.getvalue())
    return out.getvalue()


def _check_code(code: int, command: str, said: str) -> None:
    if code not in _ANSWERS:
        message = f"exit code {code} of {command}: {said}"
        raise ValueError(message)


def _check_extras(command: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extras in re.findall(r"(?:veridical|\.)\[([\w,-]+)\]", command):
        unknown = set(extras.split(",")) - set(project["optional-dependencies"])
        if unknown:
            message = f"no such extra: {', '.join(sorted(unknown))}"
            raise ValueError(message)


def _difference(block: Block, printed: str) -> str | None:
    """What is wrong with an output: shown nowhere, or otherwise than the page says."""
    got = _trimmed(printed)
    if block.output is not None:
        wanted = _trimmed(block.output)
        pattern = ".*?".join(re.escape(part) for part in wanted.split("..."))
        if re.fullmatch(pattern, got, flags=re.DOTALL):
            return None
        return f"prints\n{got}\nand the page says\n{wanted}"
    if block.kind != "python":
        return None
    said = [line.strip() for line in block.code.splitlines()]
    if got and [line for line in got.splitlines() if f"# {line}".strip() not in said]:
        return f"prints what the page does not show\n{got}"
    return None


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())
