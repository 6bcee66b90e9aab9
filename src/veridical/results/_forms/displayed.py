"""How a result shows itself: one line, a text, a block of a notebook, a plot."""

from __future__ import annotations

import importlib
from dataclasses import fields
from typing import Any

from veridical._core.runtime.text import WIDTH, fitted, printable
from veridical.exceptions import invalid
from veridical.results._forms.html import html_block, html_text
from veridical.results._forms.text import shortened

_LONGEST = 120  # letters of a repr

# Which figure of `veridical.plots` draws which result. Names only: the room of plots is above this
# one, and is imported when somebody asks for a plot.
_PLOTS = {
    "Comparison": "comparison",
    "ConsistencyTest": "null",
    "CostCurve": "cost_curve",
    "DecisionCurve": "decision_curve",
    "Decomposition": "decomposition",
    "Evaluation": "reliability",
    "Evidence": "evidence",
    "NullLevel": "null",
    "RankComparison": "critical_difference",
    "ReliabilityCurve": "reliability",
    "RequirementTable": "requirements",
    "RiskCoverageCurve": "risk_coverage",
    "SegmentAudit": "segments",
}


class Displayed:
    """What every result shows of itself; a class says its words in `_text` or `to_text`."""

    def __repr__(self) -> str:
        """One line of at most 120 characters."""
        name, line = type(self).__name__, " ".join(printable(self._summary()).split())
        text = line if line.startswith(name) else f"{name}: {line}"
        return f"<{text}>" if len(text) <= _LONGEST - 2 else f"<{text[: _LONGEST - 5]}...>"

    def __str__(self) -> str:
        """At most 40 lines; `to_text` has all of them."""
        return shortened(self._text())

    def to_text(self, *, width: int = WIDTH) -> str:
        """All of it in words, in lines no wider than `width`; `str` is at most 40 lines of it."""
        return fitted(self._text(), width)

    def plot(self, **options: Any) -> Any:
        """Draw it with the figure of `veridical.plots` that is made for it.

        Parameters
        ----------
        **options
            Of that figure, such as `ax`.

        Returns
        -------
        The artists it drew; `.figure` is the figure.
        """
        kinds = [kind.__name__ for kind in type(self).__mro__]
        name = next((_PLOTS[kind] for kind in kinds if kind in _PLOTS), None)
        if name is None:
            hint, expected = "`to_frame` has its numbers.", f"one of {', '.join(_PLOTS)}"
            raise invalid("plot", "self", expected, kinds[0], hint=hint)
        plots = importlib.import_module("veridical.plots")
        return getattr(plots, name)(self, **options)

    def _text(self) -> str:
        """What it says, of any length; by default every field."""
        name = type(self).__name__
        record: Any = self
        values = [(f.name, getattr(self, f.name)) for f in fields(record)]
        told = [f"{field} {_briefly(value)}" for field, value in values if value is not None]
        return f"{name}: {', '.join(told)}"

    def _headline(self) -> str:
        """The first line of what it says."""
        return self._text().partition("\n")[0]

    def _summary(self) -> str:
        """What `repr` says of it."""
        return self._headline()

    def _repr_html_(self) -> str:
        """A block of a notebook: no scripts, nothing from outside, everything escaped."""
        notebook = importlib.import_module("veridical.results._forms.notebook")
        block: str | None = notebook.block_of(self)
        if block is not None:
            return block
        first, _, rest = str(self).partition("\n")
        below = f"<pre>{html_text(rest.strip(chr(10)))}</pre>" if rest else ""
        return html_block(html_text(first), below)


def _briefly(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return str(value)
    return f"of {len(value)}"
