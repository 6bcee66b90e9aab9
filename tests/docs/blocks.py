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
import re
import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from installed import ROOT, Shell

KINDS = ("python", "sh", "sql", "yaml", "json", "toml", "", "text")
_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<kind>[^\n]*)\n(?P<code>.*?)^(?P=indent)```[ ]*$",
    flags=re.DOTALL | re.MULTILINE,
)
# Exit codes that are answers: requirements not met (1) or not decided (3), rejected or alarm (3).
_ANSWERS = {"check": (0, 1, 3), "test": (0, 3), "audit": (0, 3), "monitor": (0, 3)}


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

    def __init__(self, programs: Path) -> None:
        self._programs = programs  # of the installed wheel, for commands
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
        return "".join(self._command(line) for line in commands_of(code))

    def _command(self, line: str) -> str:
        """Run a command in a new process; packages are not installed, but extras have to exist."""
        if line.startswith("pip install "):
            installing, _, line = line.partition(" && ")
            _check_extras(installing)
        if not line or line == "python -m pytest":
            return ""
        done = Shell(self._programs, Path.cwd()).do(line)
        _check_code(done.code, line, done.err)
        return done.out


def commands_of(code: str) -> Iterator[str]:
    """Commands of a block; a backslash at the end of a line continues it."""
    for line in code.replace("\\\n", " ").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip()


def _check_code(code: int, command: str, said: str) -> None:
    words = command.split()
    if code not in (_ANSWERS.get(words[1], (0,)) if words[0] == "veridical" else (0,)):
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
