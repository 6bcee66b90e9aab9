"""Bins of rows that belong together: as many independent rows as their frequencies vary like."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from veridical._core.sample import BinarySample
from veridical.summaries import Summary


def grouped_summary(summary: Summary, sample: BinarySample) -> Summary:
    """The same sums with sizes divided by the design effect of groups, at least one.

    That is the variance of the frequencies over groups (Liang & Zeger 1986, doi
    10.1093/biomet/73.1.13) over that of independent rows, of all bins together, as one bin may
    hold rows of few groups (Korn & Graubard 1998, Survey Methodology 24, 193-201, take that of
    one frequency).
    """
    if sample.clusters is None:
        return summary
    bins = summary.partitions[0].assign(sample.p)
    group = np.unique(sample.clusters, return_inverse=True)[1].reshape(-1)
    weight = np.ones(sample.n) if sample.weight is None else sample.weight
    residual = weight * (sample.y - summary.mean_y[0][bins])
    n_bins = summary.sum_w.shape[1]
    sums = np.bincount(group * n_bins + bins, residual)
    n_groups = int(group.max()) + 1
    copies = weight if summary.weight_type == "frequency" else np.ones(sample.n)
    alone = float((np.square(residual) / copies).sum())
    together = float(np.square(sums).sum()) * n_groups / max(n_groups - 1, 1)
    wider = max(together / alone, 1.0) if alone > 0 else 1.0
    square = summary.sum_w if summary.weight_type == "frequency" else summary.sum_w2
    return replace(summary, sum_w2=square * wider, weight_type="importance")
