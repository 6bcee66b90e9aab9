"""One hypothesis about all of a prediction, the parts of it that stand out, and the words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from veridical.results.base import Result, columns_of, field_names, format_pvalue, say_pvalue


@dataclass(frozen=True, kw_only=True, repr=False)
class JointPart(Result):
    """One way in which predictions can be wrong, tested as a member of a family.

    Attributes
    ----------
    name : "level", "spread", "shape", "class", "vector" or "group"
    lens : name of the lens it looks through
    label : the class or the group it is about, None for all
    statistic : on the scale of its own null distribution
    direction : sign of what was found (observed less predicted; slope less 1), 0 if it has none
    pvalue : by itself
    adjusted : with all members of the family considered
    n_samples : rows it looks at
    surprise : minus the logarithm of a smooth p-value by itself, which orders parts whose p-values
        are all as small as the draws can show
    n_resamples : draws that its p-values come from, None if unknown
    """

    name: str
    lens: str
    label: Any = None
    statistic: float
    direction: float = 0.0
    pvalue: float
    adjusted: float
    n_samples: int
    surprise: float = 0.0
    n_resamples: int | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class JointTest(Result):
    """A test that predictions are calibrated in every respect looked at, and which stand out.

    Attributes
    ----------
    pvalue : of the hypothesis that nothing is wrong
    parts : members of the family; those adjusted to `level` or less stand out
    level : chance that anything is found in calibrated predictions
    lens : what the family looks through: "whole prediction", or the name of one lens
    null : how the joint null distribution was made
    n_samples, n_resamples : rows, and draws of that distribution
    notes : what was left out, and why

    Examples
    --------
    >>> part = JointPart(name="level", lens="binary", statistic=3.1, direction=1.0, pvalue=0.002,
    ...     adjusted=0.006, n_samples=500)
    >>> test = JointTest(pvalue=0.006, parts=(part,), level=0.05, lens="binary", null="outcomes"
    ...     " redrawn from the predictions", n_samples=500, n_resamples=1000)
    >>> test.rejected, [each.name for each in test.standing_out]
    (True, ['level'])
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("name", "lens", "label")

    pvalue: float
    parts: tuple[JointPart, ...]
    level: float
    lens: str
    null: str
    n_samples: int
    n_resamples: int
    notes: tuple[str, ...] = ()

    @property
    def rejected(self) -> bool:
        """Whether anything was found."""
        return self.pvalue <= self.level

    @property
    def standing_out(self) -> tuple[JointPart, ...]:
        """Members that are wrong with all of them considered, the clearest first.

        Those of one name are compared by their statistics, which are alike.
        """
        most: dict[str, float] = {}
        for part in self.parts:
            most[part.name] = max(part.surprise, most.get(part.name, 0.0))
        out = [part for part in self.parts if part.adjusted <= self.level]
        return tuple(
            sorted(out, key=lambda part: (part.adjusted, -most[part.name], -part.statistic))
        )

    def _text(self) -> str:
        word = "rejected" if self.rejected else "not rejected"
        found = say_pvalue(self.pvalue, self.n_resamples)
        lines = [f"calibration {word} ({found}; {self.lens}, {self.null})"]
        for part in self.parts:
            about = part.name if part.label is None else f"{part.name} {part.label!r}"
            own, adjusted = (
                format_pvalue(p, part.n_resamples) for p in (part.pvalue, part.adjusted)
            )
            lines.append(f"  {about:<24}{part.lens:<18}p {own:<9} adjusted {adjusted}")
        return "\n".join(lines)

    def _columns(self) -> dict[str, list[Any]]:
        columns = columns_of(self.parts, field_names(JointPart))
        labels = columns["label"]
        return columns | {"label": [None if each is None else str(each) for each in labels]}


def _in_short(joint: JointTest, out: dict[str, JointPart]) -> str:
    """The clearest findings, from the whole to its parts."""
    found = []
    level, spread = out.get("level"), out.get("spread")
    if level is not None and level.lens == "confidence":
        found.append("over-confident" if level.direction < 0 else "under-confident")
    elif level is not None:
        found.append(f"predictions are too {'high' if level.direction < 0 else 'low'}")
    if spread is not None and spread.lens != "confidence":
        extreme = spread.direction < 0
        found.append("over-confident (too extreme)" if extreme else "under-confident (too timid)")
    if found:
        return " and ".join(found)
    if "spread" in out or "shape" in out:
        return "frequencies do not follow the predictions"
    for name, one, several in (("class", "class", "classes"), ("group", "group", "groups")):
        labels = {repr(p.label) for p in joint.standing_out if p.name == name}
        if labels:
            return (
                f"{len(labels):,} {one} stands out"
                if len(labels) == 1
                else (f"{len(labels):,} {several} stand out")
            )
    return "whole vectors" if "vector" in out else "no part stands out by itself"


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict(Result):
    """What may be said about calibration, word for word the same wherever it is said.

    Attributes
    ----------
    kind : "miscalibrated", "not shown" (no miscalibration is), "reversed" or "untested"
    headline : the first sentence: what was found, of what, with its p-value
    text : the headline with what stands out, how much it matters and what is not known
    pvalue : of the joint test, for a subgroup adjusted for their number; None if untested
    about : what was judged, e.g. "probability that Status = 'bad'" or "whole prediction of 10
        classes"
    size : how much it matters: "large", "clear", "clear but small", "not shown either way", or ""
        if that is open
    saving, saving_low, saving_high : share of the log loss that recalibration would save, and its
        interval, through the lens the text names; None if unknown
    joint : the test behind it, None if untested

    Examples
    --------
    >>> verdict = Verdict(kind="not shown", headline="No miscalibration shown: probability that"
    ...     " y = 1 (p = 0.4000).", text="No miscalibration shown: probability that y = 1"
    ...     " (p = 0.4000). 2,000 rows would tell.", pvalue=0.4, about="probability that y = 1")
    >>> print(verdict)
    No miscalibration shown: probability that y = 1 (p = 0.4000). 2,000 rows would tell.
    >>> verdict.found, verdict.short
    (False, 'No miscalibration shown.')
    """

    _text_columns: ClassVar[tuple[str, ...]] = ("kind", "headline", "text", "about", "size")
    _number_columns: ClassVar[tuple[str, ...]] = (
        "pvalue",
        "saving",
        "saving_low",
        "saving_high",
    )

    kind: str = "untested"
    headline: str = ""
    text: str = ""
    pvalue: float | None = None
    about: str = ""
    size: str = ""
    saving: float | None = None
    saving_low: float | None = None
    saving_high: float | None = None
    joint: JointTest | None = None

    @property
    def found(self) -> bool:
        """Whether something was found that speaks against calibration."""
        return self.kind in ("miscalibrated", "reversed")

    @property
    def in_short(self) -> str:
        """What was found in a few words, with its p-value; "" if untested."""
        if self.kind == "untested":
            return ""
        words = "no miscalibration shown" if self.kind == "not shown" else self.kind
        draws = None if self.joint is None else self.joint.n_resamples
        return words if self.pvalue is None else f"{words} ({say_pvalue(self.pvalue, draws)})"

    @property
    def short(self) -> str:
        """The same in two sentences, for a first look: what is wrong, and how much it matters."""
        if self.kind == "not shown":
            open_question = self.size == "not shown either way"
            beside = ", and its absence is not shown either" if open_question else ""
            return f"No miscalibration shown{beside}."
        if self.kind != "miscalibrated" or self.joint is None:
            return self.headline
        out = {part.name: part for part in reversed(self.joint.standing_out)}
        size = f"The effect is {self.size}." if self.size else "How much it matters is open."
        return f"Miscalibrated: {_in_short(self.joint, out)}. {size}"

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read back what `to_dict` wrote; files of earlier versions hold the text alone."""
        if not isinstance(data, str):
            return super().from_dict(data)
        kinds = {"No miscalibration": "not shown", "Miscalibrated": "miscalibrated"}
        kinds["Not calibrated"] = "miscalibrated"
        kind = next((kinds[start] for start in kinds if data.startswith(start)), "untested")
        return cls(kind=kind, headline=data, text=data)

    def _text(self) -> str:
        return self.text

    def _columns(self) -> dict[str, list[Any]]:
        return columns_of([self], field_names(self, without=("joint",)))
