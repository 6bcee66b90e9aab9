"""Section 4.3: how often the p-value rejects a model that is calibrated."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from veridical._core.typing import FloatArray
from veridical.binning import UniformBins
from veridical.experiments._laboratory import Cell, Laboratory
from veridical.experiments._page import Page
from veridical.inference import consistency_test
from veridical.miscalibration import BinnedError
from veridical.simulation import two_normals_model, two_normals_task

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
    names = ("bootstrap", "fixed", "bootstrap_null", "fixed_null", "estimate")
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(cell["samples"]):
        sample = task.sample(_ROWS, rng=rng)
        p = model(sample.x)
        for kind in _KINDS:
            test = consistency_test(
                estimator, sample.y, p, labels=task.labels, n_resamples=cell["draws"], rng=rng,
                predictions=kind,
            )  # fmt: skip
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
    # Three standard deviations of a share of rejections that is 5 %.
    room = 3 * math.sqrt(_ALPHA * (1 - _ALPHA) / total)
    worst = max(shares["bootstrap", bins] for bins in _BINS)
    most = max(shares["fixed", bins] for bins in _BINS)
    page.claim(
        "Section 4.3, p-value", "P(null estimate >= estimate) serves as a p-value",
        holds=worst <= _ALPHA + room, value=worst,
        reason=(
            "largest share of calibrated models rejected at 5 %, 10 and 100 bins; 5 % plus three "
            f"standard deviations is {_ALPHA + room:.3f}. With predictions fixed it is "
            f"{most:.3f} at most"
        ),
    )  # fmt: skip
    page.number(
        "Section 4.3, level with predictions fixed", most,
        reason="largest share of calibrated models rejected at 5 %, 10 and 100 bins",
    )  # fmt: skip
