"""Examples 1, 3 and 5: what each lens sees, and how far two calibrated models may differ."""

from __future__ import annotations

import numpy as np

from veridical._core.typing import FloatArray
from veridical.binning import SimplexBins, UniformBins
from veridical.experiments._page import Page
from veridical.lenses import ClassSpecific, Lens
from veridical.miscalibration import BinnedError

# Tables 1 and 2: equally likely predictions, and the distribution of the outcome given each.
TABLE_1 = (
    ((0.1, 0.3, 0.6), (0.2, 0.2, 0.6)),
    ((0.1, 0.6, 0.3), (0.0, 0.7, 0.3)),
    ((0.3, 0.1, 0.6), (0.2, 0.2, 0.6)),
    ((0.3, 0.6, 0.1), (0.4, 0.5, 0.1)),
    ((0.6, 0.1, 0.3), (0.7, 0.0, 0.3)),
    ((0.6, 0.3, 0.1), (0.5, 0.4, 0.1)),
)
TABLE_2 = (((0.6, 0.1, 0.3), (0.7, 0.2, 0.1)), ((0.4, 0.6, 0.0), (0.3, 0.5, 0.2)))
_TENTHS = 10  # bins that hold one predicted value each
_ROUNDING = 1e-12


def example_section(page: Page) -> None:
    """Add the examples, computed from the whole population as weighted rows."""
    page.section("Examples 1, 3 and 5: each lens sees something else")
    page.text(
        """The populations of Tables 1 and 2 have six and two predictions. As weighted rows they
        give errors without noise: the confidence lens finds nothing wrong in either, the marginals
        nothing in the first, and the whole vectors are off in both."""
    )
    found = {name: _errors(table) for name, table in (("1", TABLE_1), ("2", TABLE_2))}
    page.table(
        {
            "lens": ["confidence", "class 1", "class 2", "class 3", "canonical, total variation"],
            "Table 1": found["1"],
            "Table 2": found["2"],
        }
    )
    confidence, *classes, canonical = found["1"]
    page.claim(
        "Example 1", "calibrated confidence and marginals do not make a calibrated model",
        holds=max(confidence, *classes) < _ROUNDING and canonical > 0.05, value=canonical,
        reason="canonical error; all others are zero",
    )  # fmt: skip
    confidence, *classes, canonical = found["2"]
    page.claim(
        "Example 3", "calibrated confidence, every marginal uncalibrated",
        holds=confidence < _ROUNDING and min(classes) > 0.05, value=min(classes),
        reason="smallest error of a class; the confidence lens reads zero",
    )  # fmt: skip
    one_bin = BinnedError(UniformBins(1))
    for model, probabilities, printed in (
        ("perfect", (0.0, 1.0), 0.0),
        ("constant", (0.5,) * 2, 0.5),
    ):
        bias = np.mean([one_bin([y], [p], labels=[0, 1]) for y, p in enumerate(probabilities)])
        name = f"Example 5, bias of one bin and one row, {model} model"
        page.number(name, float(bias), printed=printed, tolerance=_ROUNDING)


def _errors(table: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]) -> list[float]:
    predicted: FloatArray = np.array([row for row, _ in table])
    weight = np.array([truth for _, truth in table])
    n_classes = predicted.shape[1]
    y = np.tile(np.arange(n_classes), len(table))
    p = np.repeat(predicted, n_classes, axis=0)
    tenths, cells = BinnedError(UniformBins(_TENTHS)), BinnedError(SimplexBins(_TENTHS))

    def error(estimator: BinnedError, lens: Lens | str) -> float:
        return estimator(y, p, lens=lens, sample_weight=weight.ravel(), labels=range(n_classes))

    return [
        error(tenths, "confidence"),
        *(error(tenths, ClassSpecific(k)) for k in range(n_classes)),
        error(cells, "canonical"),
    ]
