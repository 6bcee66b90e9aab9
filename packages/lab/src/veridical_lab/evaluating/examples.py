"""Examples 1, 3 and 5: what each lens sees, and how far two calibrated models may differ.

Section 4.3: how often the p-value rejects a model that is calibrated.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from veridical.binning import SimplexBins, UniformBins
from veridical.inference import consistency_test
from veridical.lenses import ClassSpecific, Lens
from veridical.miscalibration import BinnedError
from veridical.simulation import two_normals_model, two_normals_task
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab._frame.noise import share_of
from veridical_lab._frame.page import Page
from veridical_lab.arrays import FloatArray

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
    page.check(f"""Example 1 | calibrated confidence and marginals do not make a calibrated model |
        {canonical} as noticeable and {max(confidence, *classes)} < {_ROUNDING} | canonical error,
        and the largest of the others""")
    confidence, *classes, canonical = found["2"]
    page.check(f"""Example 3 | calibrated confidence, every marginal uncalibrated | {min(classes)}
        as noticeable and {confidence} < {_ROUNDING} | smallest error of a class, and what the
        confidence lens reads""")
    one_bin = BinnedError(UniformBins(1))
    for model, probabilities, printed in (
        ("perfect", (0.0, 1.0), 0.0),
        ("constant", (0.5,) * 2, 0.5),
    ):
        bias = np.mean([one_bin([y], [p], labels=[0, 1]) for y, p in enumerate(probabilities)])
        name = f"Example 5, bias of one bin and one row, {model} model"
        page.check(f"{name} | {bias} = {printed} ± {_ROUNDING}")


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


_ALPHA = 0.05
_ROWS = 200
_BINS = (10, 100)
_KINDS: dict[Literal["bootstrap", "fixed"], str] = {
    "bootstrap": "drawn, as printed",
    "fixed": "fixed, the default here",
}


def pvalues(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """P-values and null levels of the perfect model, with predictions bootstrapped and fixed."""
    task, model = two_normals_task(), two_normals_model("perfect")
    estimator = BinnedError(UniformBins(cell["bins"]))
    options: dict[str, Any] = {"labels": task.labels, "n_resamples": cell["draws"], "rng": rng}
    names = ("bootstrap", "fixed", "bootstrap_null", "fixed_null", "estimate")
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(cell["samples"]):
        sample = task.sample(_ROWS, rng=rng)
        p = model(sample.x)
        for kind in _KINDS:
            test = consistency_test(estimator, sample.y, p, predictions=kind, **options)
            found[kind].append(test.pvalue)
            found[f"{kind}_null"].append(test.null_level.mean)
        found["estimate"].append(test.statistic)
    return found


def level_section(lab: Laboratory, page: Page) -> None:
    """Add the level of the paper's test, and of the one that keeps predictions fixed."""
    page.section("Section 4.3: does the p-value hold its level?")
    chunks, samples, draws = (2, 20, 59) if lab.quick else (10, 50, 99)
    cells = [
        {"bins": bins, "samples": samples, "draws": draws, "chunk": chunk}
        for bins in _BINS
        for chunk in range(chunks)
    ]
    answers = lab.map("level", pvalues, cells)
    total = chunks * samples

    def pooled(name: str, bins: int) -> FloatArray:
        pairs = zip(cells, answers, strict=True)
        return np.concatenate([answer[name] for cell, answer in pairs if cell["bins"] == bins])

    shares = {
        (kind, bins): float(np.mean(pooled(kind, bins) <= _ALPHA))
        for kind in _KINDS
        for bins in _BINS
    }
    page.text(
        f"""Outcomes are drawn from the predictions; the paper also draws the predictions
        themselves, with replacement (section 4.2). A row drawn twice shares its bin with itself, so
        fewer bins are occupied and the draw reads less than a fresh sample of a calibrated model
        does. Of {total:,} samples of {_ROWS} rows of the perfect model of section 5.1:"""
    )
    rows = [(kind, bins) for bins in _BINS for kind in _KINDS]
    page.table(
        {
            "bins": [bins for _, bins in rows],
            "predictions": [_KINDS[kind] for kind, _ in rows],
            "mean estimate": [float(pooled("estimate", bins).mean()) for _, bins in rows],
            "mean null level": [float(pooled(f"{kind}_null", bins).mean()) for kind, bins in rows],
            "rejected at 5 %": [shares[row] for row in rows],
        },
        digits=3,
    )
    most = max(shares["fixed", bins] for bins in _BINS)
    drawn = [share_of(shares["bootstrap", bins], total) for bins in _BINS]
    page.check(f"""
        - Section 4.3, p-value | P(null estimate >= estimate) serves as a p-value |
          {" and ".join(f"{one} <= {_ALPHA}" for one in drawn)} | share of calibrated models
          rejected at 5 %, with 10 and 100 bins. With predictions fixed it is {most:.3f} at most
        - Section 4.3, level with predictions fixed | {most} | largest share of calibrated models
          rejected at 5 %, 10 and 100 bins
    """)
