"""A family of simple tests with Holm's correction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample
from veridical.evaluation._data.source import NullDraws, Source
from veridical.evaluation._verdict.words import judges_all
from veridical.inference import adjust_pvalues
from veridical.lenses import ClassSpecific
from veridical.miscalibration import BinnedError
from veridical.results import JointPart, JointTest


def joint_of(source: Source, options: Any) -> JointTest:
    """Level, spread and shape of the binary problem, levels of classes and groups."""
    from scipy.special import ndtr

    problem = source.binary
    lens = source.binary_lens.name
    found: list[tuple[str, str, Any, float, float, int]] = []
    for name, z in _zs(problem).items():
        found.append((name, lens, None, z, float(2 * ndtr(-abs(z))), source.n))
    estimator = BinnedError()
    summary = source.summary(estimator.binning)
    null = NullDraws(options.n_resamples, np.random.default_rng(options.seed))
    from veridical.evaluation._data.source import NullSource

    value = estimator.from_summary(summary)
    level = null.level(estimator, NullSource(problem), summary, value)
    found.append(("shape", lens, None, 0.0, level["pvalue"], source.n))
    if judges_all(source):
        for label in source.classes:
            own = source.through(ClassSpecific(label))
            if own is not None:
                z = _zs(own)["level"]
                found.append(
                    ("class", f"class {label!r}", label, z, float(2 * ndtr(-abs(z))), source.n)
                )
    for key, part in source.groups():
        z = _zs(part.binary)["level"]
        found.append(("group", lens, key, z, float(2 * ndtr(-abs(z))), part.n))
    adjusted = adjust_pvalues([each[4] for each in found]).tolist()
    parts = tuple(
        JointPart(
            name=a,
            lens=b,
            label=c,
            statistic=abs(d),
            direction=math.copysign(1, d) if d else 0.0,
            pvalue=e,
            adjusted=q,
            n_samples=n,
        )
        for (a, b, c, d, e, n), q in zip(found, adjusted, strict=True)
    )
    return JointTest(
        pvalue=min(adjusted),
        parts=parts,
        level=options.level,
        lens="whole prediction" if judges_all(source) else source.lens.name,
        null="Holm",
        n_samples=source.n,
        n_resamples=options.n_resamples,
    )


def _zs(problem: BinarySample) -> dict[str, float]:
    w = (
        np.ones(problem.n)
        if problem.weight is None
        else problem.weight * (problem.size / problem.weight.sum())
    )
    p = np.clip(problem.p.astype(float), 1e-9, 1 - 1e-9)
    r, v, x = w * (problem.y - p), w * p * (1 - p), np.log(p / (1 - p))
    x = x - (v @ x) / v.sum()
    spread = v @ x**2
    return {
        "level": float(r.sum() / math.sqrt(v.sum())),
        "spread": float(r @ x / math.sqrt(spread)) if spread > 0 else 0.0,
    }
