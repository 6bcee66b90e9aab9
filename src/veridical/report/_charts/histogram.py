"""How predictions are spread, by outcome."""

from __future__ import annotations

from typing import Any

from veridical.curves.shapes import bins_alike
from veridical.exceptions import invalid
from veridical.report._charts import parts
from veridical.report._charts.chart import Chart, Layout, count_words, one_plot, plain, table_of
from veridical.report._charts.curves import axis_words
from veridical.results import ReliabilityCurve

_LAYOUT = Layout(width=560, height=180, beside=parts.BESIDE + 18, max_width=720)
_OUTCOMES = ("happened", "did not happen")


def score_histogram(
    curve: ReliabilityCurve, *, title: str = "Predictions, by what happened"
) -> Chart:
    """Weight of the rows of each bin, split by outcome.

    Parameters
    ----------
    curve : ReliabilityCurve
        Of method "bins". Bins of different width are drawn as densities, so that areas compare.
    title : str
        Heading.

    Returns
    -------
    Chart
        Stacked bars.

    Examples
    --------
    >>> from veridical import reliability_curve
    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.4, 0.6, 0.8], n_bins=2)
    >>> [(row["outcome"], row["weight"]) for row in score_histogram(curve).spec["datasets"]["bars"]]
    [('happened', 1.0), ('did not happen', 1.0), ('happened', 2.0), ('did not happen', 0.0)]
    """
    parts.named(curve, ReliabilityCurve, caller="score_histogram")
    if curve.method != "bins":
        hint = 'use method="bins".'
        raise invalid("score_histogram", "curve", "of bins", repr(curve.method), hint=hint)
    same = bins_alike(curve)
    bars = []
    rows = []
    for i in range(len(curve)):
        width = float(curve.upper[i] - curve.lower[i])
        happened = float(curve.weight[i] * curve.observed[i])
        ends = (0.0, happened, float(curve.weight[i]))
        unit = 1.0 if same or width <= 0 else 0.01 / width
        for outcome, below, above in zip(_OUTCOMES, ends, ends[1:], strict=False):
            bars.append(
                {
                    "lower": plain(curve.lower[i]),
                    "upper": plain(curve.upper[i]),
                    "outcome": outcome,
                    "weight": plain(above - below),
                    "count": plain(curve.count[i]),
                    "from": plain(below * unit),
                    "to": plain(above * unit),
                }
            )
        limits = (f"{curve.lower[i]:.4g}", f"{curve.upper[i]:.4g}")
        rows.append((*limits, count_words(curve.count[i]), happened, ends[2] - happened))
    words = axis_words(curve)
    unit_words = "weight" if (curve.weight != curve.count).any() else "rows"
    bar = parts.mark("rect", "lifted", opacity=0.85)
    channels = _encoding(words["x"], unit_words, same=same)
    total = float(curve.weight.sum())
    share = float((curve.weight * curve.observed).sum()) / total
    return Chart(
        spec=one_plot("bars", bars, _LAYOUT, mark=bar, encoding=channels),
        title=title,
        description=f"Spread of {count_words(curve.n_samples)} predictions over {len(curve)} bins"
        f" of {words['x']}; it happened in {share:.1%} of them.",
        table=table_of(("from", "to", "rows", *_OUTCOMES), rows),
        layout=_LAYOUT,
    )


def _encoding(x: str, unit: str, *, same: bool) -> dict[str, Any]:
    legend = {"title": None, "symbolType": "square", "offset": parts.LEGEND_OFFSET}
    outcomes = {"domain": list(_OUTCOMES)}
    y = parts.y_axis(unit if same else f"{unit} per 0.01", grid=True, format="~s")
    return {
        "x": parts.probability("lower", parts.x_axis(x)),
        "x2": {"field": "upper"},
        "y": parts.number("from", y, zero=True),
        "y2": {"field": "to"},
        "color": {"field": "outcome", "type": "nominal", "scale": outcomes, "legend": legend},
        "tooltip": parts.tips(
            ("outcome", "outcome", None),
            ("lower", "from", ".3~f"),
            ("upper", "to", ".3~f"),
            ("weight", unit, ",.10~g"),
            ("count", "rows of the bin", ",.10~g"),
        ),
    }
