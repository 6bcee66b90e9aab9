"""The page of an experiment: text, tables, figures and facts, written as Markdown."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veridical._core.runtime.files import whole_file, write_whole
from veridical_lab._frame.facts import Fact, FactCheck, Verdict
from veridical_lab._frame.words import WORDS, word_table

if TYPE_CHECKING:
    from veridical_lab.plots.panels import Figure

Columns = Mapping[str, Sequence[Any]]


class Page:
    """Collects what an experiment found; nothing is written until it is whole.

    Parameters
    ----------
    name : str
        Of the experiment; pictures and tables go to a folder of this name beside the page.

    Examples
    --------
    >>> page = Page("demo")
    >>> page.section("Table 8")
    >>> page.check("Hosmer-Lemeshow | 25.3 = 25.295 ± 0.01")
    >>> page.table({"bin": [1, 2], "rows": [10, 20]})
    >>> [fact.verdict for fact in page.facts]
    ['reproduced']
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.facts: list[Fact] = []
        self.conclusion = ""
        self._sections: list[_Section] = [_Section("")]
        self._figures: dict[str, Figure] = {}
        self._files: dict[str, str] = {}

    def section(self, title: str) -> None:
        """Begin a section."""
        self._sections.append(_Section(title))

    def text(self, paragraph: str) -> None:
        """Add a paragraph of Markdown."""
        self._sections[-1].parts.append(" ".join(paragraph.split()))

    def table(self, columns: Columns, *, caption: str = "", digits: int = 4) -> None:
        """Add a small table; numbers are shown with `digits` decimals at most."""
        if caption:
            self._sections[-1].parts.append(f"**{caption}**")
        self._sections[-1].parts.append(markdown_table(columns, digits=digits))

    def data(self, slug: str, columns: Columns, *, caption: str) -> None:
        """Add a long table as a CSV file beside the page, with a link to it."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        self._files[f"{slug}.csv"] = stream.getvalue()
        self._sections[-1].parts.append(f"[{caption}]({self.name}/{slug}.csv)")

    def figure(self, slug: str, figure: Figure, caption: str) -> None:
        """Add a picture with what to see in it and, after a bar, what it shows."""
        words, alt = " ".join(caption.split()).split(" | ")
        self._figures[slug] = figure
        self._sections[-1].parts += [f"![{alt}]({self.name}/{slug}.png)", f"*{words}*"]

    def check(self, facts: str, *, cause: str = "", origin: str = "") -> None:
        r"""Check numbers and statements of the source, written as a list.

        Each fact begins with "- " on a line of its own (not needed for a single one) and holds,
        between bars: its name; if it is a statement, the statement; the number; and the reason,
        without which nothing may differ. The number is one of:

        - ``25.3``: added, the source has none
        - ``25.3 = 25.295 ± 0.01``: reproduced if it is the printed one within a tolerance
        - ``0.3 > 0.2``: the statement holds if this is so (also ``<``, ``<=``, ``>=``, ``==``)
        - ``0.3 as well``: the statement holds if this is what the word means (`words.WORDS`)
        - ``0.3 > 0.2 and 0.1 < 0.5``: the statement holds if all of these are so

        A number that was drawn is followed by its standard error, ``0.3 ~ 0.04 > 0.2``: what is
        not decided by two of them is undecided. A bar inside a text is written with a backslash.

        Parameters
        ----------
        facts : str
            One or several.
        cause : str
            Of differences that count once.
        origin : str
            Program whose outputs these are; not counted as the source's.
        """
        for item in re.split(r"^\s*- ", facts, flags=re.MULTILINE):
            if item.strip():
                fact = _read_fact(" ".join(item.split()))
                self._add(replace(fact, cause=cause, origin=origin))

    def conclude(self, text: str) -> None:
        """Say what a reader should take away."""
        self.conclusion = " ".join(text.split())

    def _add(self, fact: Fact) -> None:
        if fact.name in {known.name for known in self.facts}:
            msg = f"two facts are called {fact.name!r}"
            raise ValueError(msg)
        if fact.verdict == "differs" and not fact.reason:
            msg = f"{fact.name!r} differs, {fact}: say why"
            raise ValueError(msg)
        self.facts.append(fact)
        self._sections[-1].facts.append(fact)

    def write(self, folder: Path, header: Sequence[str]) -> Path:
        """Write pictures, tables, then the page; return its path."""
        beside = folder / self.name
        if self._figures or self._files:
            beside.mkdir(parents=True, exist_ok=True)
        if self._figures:
            from veridical_lab.plots.panels import save_picture

            for slug, figure in self._figures.items():
                with whole_file(beside / f"{slug}.png") as path:
                    save_picture(figure, path)
        for file, text in self._files.items():
            write_whole(beside / file, text)
        path = folder / f"{self.name}.md"
        parts = [*header]
        for verdict, title in (("differs", "What differs"), ("undecided", "What cannot be told")):
            chosen = [fact for fact in self.facts if fact.verdict == verdict]
            parts += [f"## {title}", _fact_table(chosen)] if chosen else []
        for section in self._sections:
            parts += section.markdown()
        parts += _how_judged()
        write_whole(path, "\n\n".join(parts) + "\n")
        return path


_NUMBER = r"[-+]?(?:\d|inf|nan)\S*"
_WORD = "|".join(sorted(WORDS, key=len, reverse=True))
_COMPARED = re.compile(
    rf"({_NUMBER})(?: ~ ({_NUMBER}))?"
    rf"(?: (<=|>=|==|<|>|=) ({_NUMBER})(?: ± ({_NUMBER}))?| as ({_WORD}))?"
)
_ORDER: tuple[Verdict, ...] = ("differs", "undecided", "reproduced")  # the worst decides


def _read_fact(text: str) -> Fact:
    """Return the fact that a line of `Page.check` states.

    Examples
    --------
    >>> _read_fact("Table 8 | 25.3 = 25.295 ± 0.01").verdict
    'reproduced'
    >>> _read_fact("Fig. 12 | steeper than the diagonal | 0.8 > 1 | one draw").verdict
    'differs'
    >>> _read_fact("Fig. 13 | works well | 0.6 ~ 0.1 as well").verdict  # more than half
    'undecided'
    """
    name, *rest = (part.replace(r"\|", "|") for part in re.split(r" \|(?: |$)", text))
    claim = "" if _is_number(rest[0]) else rest.pop(0)
    if not rest or not _is_number(rest[0]) or len(rest) > 2:
        msg = f"{text!r} is not: name | statement, if it is one | number | reason"
        raise ValueError(msg)
    found = [_COMPARED.fullmatch(part) for part in rest[0].split(" and ")]
    checks = tuple(_read_check(one) for one in found if one is not None and (one[3] or one[6]))
    verdicts = {check.verdict for check in checks}
    return Fact(
        name=name,
        claim=claim,
        reason="".join(rest[1:]),
        value=float(found[0][1]),  # type: ignore[index]  # all match
        verdict=next((one for one in _ORDER if one in verdicts), "added"),
        printed=next((check.bound for check in checks if check.sign == "="), None),
        checks=checks,
    )


def _is_number(text: str) -> bool:
    """Whether a part of a fact is its number, as against words."""
    return all(_COMPARED.fullmatch(part) for part in text.split(" and "))


def _read_check(found: re.Match[str]) -> FactCheck:
    value, error, sign, bound, tolerance, word = found.groups()
    meaning = WORDS.get(word or "")
    return FactCheck(
        value=float(value),
        standard_error=float(error or 0),
        sign=meaning.sign if meaning else sign,
        bound=meaning.bound if meaning else float(bound),
        tolerance=float(tolerance or 0),
        word=word or "",
    )


@dataclass
class _Section:
    """Parts of a page below one heading, and the facts checked there."""

    title: str
    parts: list[str] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)

    def markdown(self) -> list[str]:
        heading = [f"## {self.title}"] if self.title else []
        checked = ["**Checked**", _fact_table(self.facts)] if self.facts else []
        return heading + self.parts + checked


def _how_judged() -> list[str]:
    """The last section of every page: standard errors, and what words mean."""
    told = (
        "A number that was drawn is followed by its standard error. What two of them decide is "
        "*reproduced* or *differs*, all else is *undecided*; the worst of several comparisons "
        "counts. Words of the source are judged by numbers, the same on every page:"
    )
    return ["## How claims are judged", told, markdown_table(word_table(), digits=2)]


def _fact_table(facts: Sequence[Fact]) -> str:
    shown = [
        {
            "what": fact.name + (f": {fact.claim}" if fact.claim else ""),
            "printed": "" if fact.printed is None else f"{fact.printed:.6g}",
            "found": _found(fact),
            "asked": _asked(fact),
            "verdict": f"**{fact.verdict}**" + (f": {fact.reason}" if fact.reason else ""),
        }
        for fact in facts
    ]
    names = ("what", "printed", "found", "asked", "verdict")
    return markdown_table({name: [row[name] for row in shown] for name in names}, digits=6)


def _found(fact: Fact) -> str:
    """The number found, with its standard error where it was drawn; all that were compared."""
    found = [(check.value, check.standard_error) for check in fact.checks] or [(fact.value, 0.0)]
    told = [f"{value:.6g}" + (f" ± {error:.2g}" if error else "") for value, error in found]
    return ", ".join(dict.fromkeys(told))


def _asked(fact: Fact) -> str:
    """What a claim's numbers are compared with, in the same order."""
    asked = [
        f"{check.sign} {check.bound:.4g}" + (f" ({check.word})" if check.word else "")
        for check in fact.checks
        if check.sign != "="
    ]
    return asked[0] if len(set(asked)) == 1 else ", ".join(asked)


def by_column(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return the columns of a table that was made row by row.

    Examples
    --------
    >>> by_column(["bin", "rows"], [(1, 10), (2, 20)])
    {'bin': [1, 2], 'rows': [10, 20]}
    """
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def markdown_table(columns: Columns, *, digits: int) -> str:
    r"""Return a table as Markdown; numbers to the right.

    Examples
    --------
    >>> print(markdown_table({"bin": ["a|b", "c"], "gap": [0.25, None]}, digits=3))
    | bin | gap |
    |---|---:|
    | a\|b | 0.25 |
    | c |  |
    """
    cells = [[_cell(value, digits) for value in values] for values in columns.values()]
    numeric = [
        all(isinstance(value, (int, float)) or value is None for value in values)
        for values in columns.values()
    ]
    lines = [
        "| " + " | ".join(str(name) for name in columns) + " |",
        "|" + "|".join("---:" if number else "---" for number in numeric) + "|",
    ]
    lines += ["| " + " | ".join(row) + " |" for row in zip(*cells, strict=True)]
    return "\n".join(lines)


def _cell(value: Any, digits: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        shown = f"{value:.{digits}f}"
        return shown.rstrip("0").rstrip(".") if "." in shown else shown
    return str(value).replace("|", "\\|").replace("\n", " ")
