"""A score in its parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veridical.exceptions import invalid
from veridical.report._charts import parts
from veridical.report._charts.chart import Chart, Layout, plain, short, table_of, top_level
from veridical.report._charts.parts import ROW, layer, number
from veridical.results import Decomposition

_STEP, _WIDTH = 62, 560
_PARTS = ("refinement", "miscalibration", "discrimination", "within bins")  # in order of colours
_HEADER = ("score", "miscalibration", "discrimination", "uncertainty", "refinement", "within bins")


def decomposition_chart(
    decompositions: Decomposition | Mapping[str, Decomposition], *, title: str | None = None
) -> Chart:
    """Parts of a score, or of the scores of several models, as stacked bars.

    Parameters
    ----------
    decompositions : Decomposition or mapping of name to Decomposition
        Of one rule: scores of different rules have no common scale.
    title : str, optional
        Heading; default names the rule.

    Returns
    -------
    Chart
        A bar is the score: the refinement, which recalibration cannot reduce, and the
        miscalibration, which it can. The thin bar below is the discrimination: from the refinement
        to the uncertainty, the score of always predicting the base rate.

    Examples
    --------
    >>> from veridical import decompose
    >>> parts = decompose([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75], method="unique")
    >>> rows = decomposition_chart(parts).spec["datasets"]["parts"]
    >>> {row["part"]: row["size"] for row in rows}["miscalibration"]  # both off by a quarter
    0.0625
    """
    shown = parts.named(decompositions, Decomposition, caller="decomposition_chart")
    rules = sorted({d.rule for d in shown.values()})
    if len(rules) > 1:
        hint = "draw one rule at a time: scores of different rules have no common scale."
        raise invalid(
            "decomposition_chart", "decompositions", "of one rule", ", ".join(rules), hint=hint
        )
    names = parts.distinct([name or d.definition for name, d in shown.items()])
    pairs = list(zip(names, shown.values(), strict=True))
    bars = [bar for i, (name, d) in enumerate(pairs) for bar in _bars(i, name, d)]
    heads = [
        {"row": i, "name": name, "score": plain(d.score), "note": f"score {d.score:.4f}"}
        for i, (name, d) in enumerate(pairs)
    ]
    height = _STEP * len(pairs)
    drawn = {bar["part"] for bar in bars}
    layers = _layers(rules[0], [part for part in _PARTS if part in drawn])
    data = {"parts": bars, "heads": heads}
    fields = (*_HEADER[:-1], "within_bin")
    rows = [(name, *(getattr(d, field) for field in fields)) for name, d in pairs]
    return Chart(
        spec=top_level(data, width=_WIDTH, height=height, layer=layers),
        title=title or f"Parts of the {rules[0]} score",
        description=" ".join(f"{short(name)}: {_words(d)}" for name, d in pairs),
        table=table_of(("model", *_HEADER), rows),
        layout=Layout(width=_WIDTH, height=height, beside=34, max_width=720),
    )


def _bars(row: int, name: str, d: Decomposition) -> list[dict[str, Any]]:
    """Pieces of the bars of one score: (from, to) of each part."""
    ends = {
        "refinement": (0.0, d.refinement),
        "miscalibration": (d.refinement, d.refinement + d.miscalibration),
        "discrimination": (d.refinement, d.uncertainty),
        "within bins": (d.refinement + d.miscalibration, d.score),
    }
    sizes = (d.refinement, d.miscalibration, d.discrimination, d.within_bin)
    return [
        {
            "row": row,
            "name": name,
            "part": part,
            "thin": part == "discrimination",
            "from": plain(ends[part][0]),
            "to": plain(ends[part][1]),
            "size": plain(size),
        }
        for part, size in zip(_PARTS, sizes, strict=True)
        if part != "within bins" or size != 0
    ]


def _layers(rule: str, shown: list[str]) -> list[dict[str, Any]]:
    axis = parts.x_axis(f"{rule} score: lower is better", grid=True, tickCount=5)
    x = number("from", axis, zero=True)
    legend = {"title": None, "columns": 2, "symbolType": "square"}
    colour = {"field": "part", "type": "nominal", "scale": {"domain": shown}, "legend": legend}
    tip = parts.tips(("name", "name", None), ("part", "part", None), ("size", "size", ".5f"))
    channels = {"x": x, "x2": {"field": "to"}, "y": ROW, "color": colour, "tooltip": tip}
    thick = parts.mark("bar", "lifted", height=18, yOffset=2)
    thin = {"type": "bar", "height": 6, "yOffset": 17}
    look = {"shape": "diamond", "size": 80, "yOffset": 2, "style": ["mark", "lifted"]}
    score = layer(parts.DOTS | look, {"x": number("score", None), "y": ROW})
    return [
        layer(thick, channels, data="parts", where="!datum.thin"),
        layer(thin, channels, data="parts", where="datum.thin"),
        *({"data": {"name": "heads"}} | head for head in (score, *parts.row_words(-21))),
    ]


def _words(d: Decomposition) -> str:
    return (
        f"{d.rule} score {d.score:.4f}, of which {d.miscalibration:.4f} is miscalibration;"
        f" predictions are worth {d.discrimination:.4f} over the base rate, whose score is"
        f" {d.uncertainty:.4f}."
    )
