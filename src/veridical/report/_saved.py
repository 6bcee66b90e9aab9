"""What every report can do: be saved, printed and shown."""

from __future__ import annotations

import os
from abc import abstractmethod
from functools import cached_property
from html import escape
from pathlib import Path

from veridical._core.files import write_whole
from veridical.exceptions import invalid
from veridical.report._blocks import Section
from veridical.results._base import Result

KINDS = (".html", ".htm", ".md", ".json")


class SavedPage(Result):
    """A result that is also a page; subclasses say what is on it."""

    title: str

    @property
    @abstractmethod
    def headline(self) -> str:
        """The verdict in words."""

    @property
    @abstractmethod
    def subtitle(self) -> str:
        """One line on what was looked at."""

    @property
    @abstractmethod
    def sections(self) -> list[Section]:
        """What is shown, block by block."""

    @property
    @abstractmethod
    def markdown(self) -> str:
        """All words and tables, no charts."""

    @property
    @abstractmethod
    def library(self) -> str:
        """Version of the library that made it."""

    @cached_property
    def html(self) -> str:
        """The whole page as text."""
        from veridical.report._page import page_html

        return page_html(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page (.html), Markdown (.md) or every number (.json), whole or not at all.

        Parameters
        ----------
        path : str or path
            Its suffix says what is written.

        Returns
        -------
        Path
            Where it is.
        """
        target = Path(path)
        check_kind(target, caller="save")
        write_whole(target, self._as(target.suffix.lower()))
        return target

    def _as(self, suffix: str) -> str:
        if suffix == ".json":
            return self.to_json(indent=2) + "\n"
        return self.markdown if suffix == ".md" else self.html

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"{self.title}\n{self.subtitle}\n\n{self.headline}"

    def _repr_html_(self) -> str:
        page = escape(self.html)
        return (
            f'<iframe srcdoc="{page}" title="{escape(self.title)}"'
            ' style="width:100%;height:800px;border:0" sandbox="allow-scripts"></iframe>'
        )


def check_kind(path: Path, *, caller: str) -> None:
    """Raise where the suffix does not say what to write."""
    if path.suffix.lower() not in KINDS:
        hint = "end the name in .html for the page, .md for Markdown, .json for the numbers."
        got = repr(path.name)
        raise invalid(caller, "path", "a name that ends in .html, .md or .json", got, hint=hint)
