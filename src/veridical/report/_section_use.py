"""Sections on using the predictions: decisions, and what to know about the data."""

from __future__ import annotations

from collections.abc import Iterator

from veridical.report._blocks import Block, Figure, Paragraph, Table
from veridical.report._charts import cost_slider
from veridical.report._content import ModelFindings
from veridical.report._content_curves import short
from veridical.report._content_gather import COST_RATIOS
from veridical.report._words import number, sentence, share
from veridical.results import DecisionCurve

_MATTERS = {"problem": "problem", "note": "to know", "fine": "fine"}


def decisions_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """What acting on the predictions costs."""
    if m.decisions is None or m.costs is None:
        return
    yield Paragraph(
        f"Suppose one acts wherever class {short(m.decision_class)} has at least the threshold"
        " probability. A miss (not acting where the class occurred) and a false alarm have costs;"
        " their ratio sets the threshold. Costs are a row, in units of one false alarm.",
        "read",
    )
    yield Paragraph(_useful(m.decisions))
    curve = m.decisions
    yield Figure(
        f"decisions-{index}",
        lambda: cost_slider(curve, title="Set the costs of errors"),
        "Move the slider to what a miss costs in false alarms: the line shows the threshold to"
        " use, the numbers what that costs a row. The model is worth using where its net benefit"
        " is above that of acting always and of acting never (zero).",
    )
    rows = tuple(_cost_row(m.costs, ratio) for ratio in sorted(COST_RATIOS))
    header = ("miss : false alarm", "threshold", "acts on", "cost of the model", "always acting",
              "never acting", "net benefit", "interval")  # fmt: skip
    yield Table("Decisions at usual costs", header, rows)


def _useful(d: DecisionCurve) -> str:
    return sentence(str(d).splitlines()[0])


def _cost_row(d: DecisionCurve, ratio: float) -> tuple[str, ...]:
    """At threshold t = 1 / (1 + ratio) the cost in misses is the prevalence less net benefit.

    A miss costs `ratio` false alarms, the unit of what is shown.
    """
    i = int(abs(d.threshold - 1 / (1 + ratio)).argmin())
    name = f"{ratio:g} : 1" if ratio >= 1 else f"1 : {1 / ratio:g}"
    return (
        name,
        number(d.threshold[i]),
        share(d.called[i]),
        number(ratio * (d.prevalence - d.net_benefit[i])),
        number(ratio * (d.prevalence - d.treat_all[i])),
        number(ratio * d.prevalence),
        number(d.net_benefit[i]),
        f"{number(d.low[i])} to {number(d.high[i])}",
    )


def data_blocks(m: ModelFindings, index: int) -> Iterator[Block]:
    """Notes on the data."""
    yield Paragraph(
        "What was looked for in the data before believing the figures; problems come first.",
        "read",
    )
    rows = tuple((note.topic, _MATTERS[note.matters], note.finding) for note in m.data)
    yield Table("Notes on the data", ("topic", "verdict", "finding"), rows)
