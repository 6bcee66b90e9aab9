"""A score in its parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veridical.exceptions import invalid
from veridical.report._charts.chart import Chart, Layout, plain, short, table_of, top_level
from veridical.report._charts.parts import distinct, layer, named, number, tips, x_axis
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
    shown = named(decompositions, Decomposition, caller="decomposition_chart")
    rules = sorted({d.rule for d in shown.values()})
    if len(rules) > 1:
        hint = "draw one rule at a time: scores of different rules have no common scale."
        raise invalid(
            "decomposition_chart", "decompositions", "of one rule", ", ".join(rules), hint=hint
        )
    names = distinct([name or d.definition for name, d in shown.items()])
    pairs = list(zip(names, shown.values(), strict=True))
    parts = [part for i, (name, d) in enumerate(pairs) for part in _bars(i, name, d)]
    heads = [
        {"row": i, "name": name, "score": plain(d.score), "note": f"score {d.score:.4f}"}
        for i, (name, d) in enumerate(pairs)
    ]
    spec = top_level(
        {"parts": parts, "heads": heads},
        width=_WIDTH,
        height=_STEP * len(pairs),
        layer=_layers(rules[0], [part for part in _PARTS if any(p["part"] == part for p in parts)]),
    )
    fields = (*_HEADER[:-1], "within_bin")
    rows = [(name, *(getattr(d, field) for field in fields)) for name, d in pairs]
    return Chart(
        spec=spec,
        title=title or f"Parts of the {rules[0]} score",
        description=" ".join(f"{short(name)}: {_words(d)}" for name, d in pairs),
        table=table_of(("model", *_HEADER), rows),
        layout=Layout(width=_WIDTH, height=_STEP * len(pairs), beside=34, max_width=720),
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


def _layers(rule: str, parts: list[str]) -> list[dict[str, Any]]:
    y = {"field": "row", "type": "ordinal", "axis": None, "scale": {"padding": 0}}
    x = number("from", x_axis(f"{rule} score: lower is better", grid=True, tickCount=5), zero=True)
    legend = {"title": None, "columns": 2, "symbolType": "square"}
    colour = {"field": "part", "type": "nominal", "scale": {"domain": parts}, "legend": legend}
    tip = tips(("name", "name", None), ("part", "part", None), ("size", "size", ".5f"))
    channels = {"x": x, "x2": {"field": "to"}, "y": y, "color": colour, "tooltip": tip}
    head = {"data": {"name": "heads"}}
    text = {"type": "text", "style": "note", "yOffset": -21, "baseline": "middle"}
    left = text | {"align": "left", "limit": {"expr": "max(width - 110, 60)"}}
    return [
        layer(
            {"type": "bar", "height": 18, "yOffset": 2, "style": "lifted"},
            channels,
            data="parts",
            where="!datum.thin",
        ),
        layer(
            {"type": "bar", "height": 6, "yOffset": 17}, channels, data="parts", where="datum.thin"
        ),
        head
        | layer(
            {
                "type": "point",
                "shape": "diamond",
                "filled": True,
                "opacity": 1,
                "size": 80,
                "yOffset": 2,
                "style": ["mark", "lifted"],
            },
            {"x": number("score", None), "y": y},
        ),
        head | {"mark": left, "encoding": {"x": {"value": 0}, "y": y, "text": {"field": "name"}}},
        head
        | layer(
            text | {"align": "right"}, {"x": {"value": "width"}, "y": y, "text": {"field": "note"}}
        ),
    ]


def _words(d: Decomposition) -> str:
    return (
        f"{d.rule} score {d.score:.4f}, of which {d.miscalibration:.4f} is miscalibration;"
        f" predictions are worth {d.discrimination:.4f} over the base rate, whose score is"
        f" {d.uncertainty:.4f}."
    )
