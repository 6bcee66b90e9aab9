"""Docstrings as Markdown: roles become links, formulas MathML, citations plain text.

Formulas need latex2mathml; where it is not installed they are shown as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Any

import griffe

try:
    from latex2mathml.converter import convert
except ModuleNotFoundError:
    convert = None

_ROLE = re.compile(r":(?:func|class|meth|attr|mod|data):`~?\.?([\w.]+)`")
_INLINE_MATH = re.compile(r":math:`([^`]+)`")
_DISPLAY_MATH = re.compile(
    r"^( *)\.\. math::(?:[ ]*\n[ ]*\n)?(.*?)(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE
)
_CITED = re.compile(r"\[(\d+)\]_")
_REFERENCE = re.compile(r"^( *)\.\. \[(\d+)\] ", re.MULTILINE)
# The works that docstrings cite by number (docs/references.md), by name for readers of the site.
_WORKS = {
    "000": "Silva Filho et al. 2023",
    "001": "Posocco & Bonnefoy 2021",
    "002": "Vaicenavicius et al. 2019",
    "003": "Panchenko 2021",
    "004": "the textbook chapter",
}
_PLACE = r"(?=\s+(?:sections?|eq|equations?|Definitions?|Fig|Tables?|Theorem|Example|Algorithm))"
_WORK = re.compile(rf"(document )?(?<![\d.,])(00[0-4])(?:{_PLACE}|(?<=document 00[0-4]))")
_NAME = re.compile(r"(?<![`\[\w])`(\w+)(\(\))?`(?![`\]])")
_ATTRIBUTES = re.compile(r"(?<=Attributes\n)-{10}\n.*?(?=\n\n\S[^\n]*\n---|\Z)", re.DOTALL)
_TYPE = r"(?:float|int|str|bool|arrays?|tuple|list|dict|callable|[A-Z]\w*)\b|[({]"
_TYPED = re.compile(r"^ *[\w, *]+ : .+$", re.MULTILINE)
_ATTRIBUTE = re.compile(rf"^([\w, ]+?) : (?!{_TYPE})(.+)$", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Rewrites every docstring before it is parsed."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Rewrite all docstrings of a package; what it offers itself is linked."""
        offered = {name for name, member in pkg.members.items() if member.is_alias}
        _rewrite(pkg, offered, pkg.name)


def _rewrite(thing: griffe.Object, names: Set[str], package: str) -> None:
    if thing.docstring is not None:
        text = _ATTRIBUTES.sub(_described, thing.docstring.value)
        thing.docstring.value = as_markdown(text, names - {thing.name}, package)
    for member in thing.members.values():
        if not member.is_alias:
            _rewrite(member, names, package)


def _described(match: re.Match[str]) -> str:
    """Records say after the colon what a field is: its type is that of its annotation."""
    return _ATTRIBUTE.sub(r"\1\n    \2", match[0])


def as_markdown(text: str, names: Set[str] = frozenset(), package: str = "veridical") -> str:
    """Return a docstring without the marks of reStructuredText; examples stay as they are.

    `names` of a package are linked to where they are described.
    """
    body, mark, examples = text.partition("\nExamples\n---")
    body = _TYPED.sub(_unbroken, body)
    body = _DISPLAY_MATH.sub(_display, body)
    body = _INLINE_MATH.sub(lambda match: _mathml(match[1]), body)
    body = _CITED.sub(r"\\[\1\\]", body)
    body = _REFERENCE.sub(r"\n\1\2. ", body)
    body = _WORK.sub(lambda match: _WORKS[match[2]] + ("" if match[1] else ","), body)
    body = _ROLE.sub(lambda match: f"`{match[1].removeprefix('veridical.')}`", body)
    body = _NAME.sub(lambda match: _linked(match, names, package), body)
    return body + mark + examples


def _unbroken(match: re.Match[str]) -> str:
    """Types are read as Python: "array-like" is no difference, "int, Generator or None" no pair."""
    name, colon, kind = match[0].partition(" : ")
    kind = re.sub(r"(?<=[a-z])-(?=[a-z])", "\N{NON-BREAKING HYPHEN}", kind)
    if not kind.startswith("{"):
        kind = re.sub(r", (?!default|optional)", ",\N{NO-BREAK SPACE}", kind)
    return name + colon + kind


def _linked(match: re.Match[str], names: Set[str], package: str) -> str:
    name = match[1]
    if name not in names:
        return match[0]
    return f"[`{name}`][{package}.{name}]"


def _display(match: re.Match[str]) -> str:
    return f"{match[1]}{_mathml(match[2], display='block')}"


def _mathml(tex: str, display: str = "inline") -> str:
    source = " ".join(tex.split())
    if convert is None:
        return f"`{source}`"
    formula = convert(source, display=display)
    # Markdown takes <math> at the start of a line for a block of its own.
    return formula if display == "block" else f"<span>{formula}</span>"
