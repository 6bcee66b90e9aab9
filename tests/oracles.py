"""Slow, plain versions of the fast code: loops over rows and definitions written out.

Nothing here shares code with the library. Rows are Python lists; `w` is a list of weights.
"""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import NormalDist

import numpy as np

CLOSE = 1e-12  # a share that misses its target by rounding still reaches it


KINDS = ("plain", "tied", "single", "extreme", "weighted", "tied weighted", "tied single weighted")


def random_rows(kind, n=80, seed=0):
    """Outcomes, scores and weights (or None); ties are on tenths, extreme scores are 0 and 1."""
    rng = np.random.default_rng([seed, len(kind)])
    p = rng.integers(0, 11, n) / 10 if "tied" in kind else rng.random(n)
    if "extreme" in kind:
        p = np.where(rng.random(n) < 0.5, rng.integers(0, 2, n), p)
    y = (rng.random(n) < 0.1 + 0.8 * p**1.5).astype(int)
    w = rng.gamma(0.7, size=n) if "weighted" in kind else None
    return y, p.astype(np.float32 if "single" in kind else np.float64), w


def ones(w, n):
    return [1.0] * n if w is None else [float(v) for v in w]


def uniform_edges(n_bins, dtype=np.float64, low=0.0, high=1.0):
    """Edges k/B, rounded once to double and then to the type of the scores."""
    if (low, high) == (0.0, 1.0):
        return [float(dtype(k / n_bins)) for k in range(n_bins + 1)]
    return [float(dtype(low + (high - low) * (k / n_bins))) for k in range(n_bins)] + [high]


def bins_by_edges(p, edges, closed="right"):
    """Bin of each score by comparing it with one edge after the other."""
    inner = edges[1:-1]
    if closed == "right":
        return [sum(float(value) > edge for edge in inner) for value in p]
    return [sum(float(value) >= edge for edge in inner) for value in p]


def quantile_bins(p, n_bins, w=None):
    """Bin k ends at the smallest score whose cumulated share reaches k/B; ties stay together."""
    w, values = ones(w, len(p)), sorted(set(map(float, p)))
    mass = {v: sum(wi for pi, wi in zip(p, w, strict=True) if float(pi) <= v) for v in values}
    targets = [k / n_bins * sum(w) * (1 - CLOSE) for k in range(1, n_bins + 1)]
    ends = {next(v for v in values if mass[v] >= target) for target in targets}
    return [sum(float(value) > end for end in ends) for value in p]


def sweep_bins(y, p, w=None, rows=None):
    """Equal-mass bins, one more at a time, until a bin's frequency is below the one before.

    At most as many as `rows`: (sum w)^2 / sum w^2 of them, or sum w where weights are counts.
    """
    w = ones(w, len(p))
    rows = rows or sum(w) ** 2 / sum(v * v for v in w)
    best = quantile_bins(p, 1, w)
    lightest = min(sum(v for v, q in zip(w, p, strict=True) if q == s) for s in set(p))
    most = min(rows, sum(w) / lightest)  # the second separates all scores
    for n_bins in range(2, math.ceil(most * (1 - CLOSE)) + 1):
        bins = quantile_bins(p, n_bins, w)
        means = [cell["mean_y"] for cell in bin_means(y, p, bins, w)]
        if any(b < a - CLOSE for a, b in pairwise(means)):
            return best
        best = bins
    return best


def merged_bins(bins, n_bins, min_count):
    """Neighbouring bins merged from the left until each holds `min_count` rows."""
    new, full, held = {}, 0, 0
    for b in range(n_bins):
        new[b] = full
        held += bins.count(b)
        if held >= min_count:
            full, held = full + 1, 0
    return [min(new[b], max(full - 1, 0)) for b in bins]  # what is left joins the last bin


def leave_one_out_count(y, p, bins_of, most):
    """Smallest count of bins whose leave-one-out squared error is within 0.1 % of the least."""
    residual = [yi - float(pi) for yi, pi in zip(y, p, strict=True)]
    losses = []
    for n_bins in range(1, most + 1):
        bins = bins_of(n_bins)
        loss = 0.0
        for i, own in enumerate(bins):
            others = [residual[j] for j, b in enumerate(bins) if b == own and j != i]
            guess = sum(others) / len(others) if others else 0.0
            loss += (residual[i] - guess) ** 2
        losses.append(loss)
    return next(b + 1 for b, loss in enumerate(losses) if loss <= min(losses) * 1.001)


def variance_split_cells(p, min_size, threshold="mean", w=None):
    """Cell number of each row of the recursive splits of 002 appendix B.

    Of columns of the same variance those of the largest mean are split, all at once if several.
    """
    rows_of_cells = []
    w = ones(w, len(p))

    def cut_of(rows, k, mean):
        if threshold == "mean":
            return mean[k] + CLOSE
        mass = sum(w[i] for i in rows)
        return min(
            float(p[i][k])
            for i in rows
            if sum(w[j] for j in rows if p[j][k] <= p[i][k]) >= mass / 2 * (1 - CLOSE)
        )

    def split(rows):
        mass = sum(w[i] for i in rows)
        size = mass**2 / sum(w[i] ** 2 for i in rows)
        columns = range(len(p[0]))
        mean = [sum(w[i] * float(p[i][k]) for i in rows) / mass for k in columns]
        variance = [
            sum(w[i] * (float(p[i][k]) - mean[k]) ** 2 for i in rows) / mass for k in columns
        ]
        alike = [k for k in columns if variance[k] >= max(variance) * (1 - CLOSE)]
        alike = [k for k in alike if mean[k] >= max(mean[j] for j in alike) - CLOSE]
        cuts = {k: cut_of(rows, k, mean) for k in alike}
        sides = {}
        for i in rows:
            sides.setdefault(tuple(float(p[i][k]) > cuts[k] for k in alike), []).append(i)
        if size < min_size * (1 - CLOSE) or len(sides) == 1:
            rows_of_cells.append(rows)
            return
        for part in sides.values():
            split(part)

    split(list(range(len(p))))
    cell = {i: number for number, rows in enumerate(rows_of_cells) for i in rows}
    return [cell[i] for i in range(len(p))]


def grid_cells(p, n_bins, dtype=np.float64):
    """Bins of all coordinates."""
    edges = uniform_edges(n_bins, dtype)
    return [tuple(bins_by_edges(row, edges)) for row in p]


def bin_means(y, p, bins, w=None, weight_type="importance"):
    """Share, mean prediction, frequency and effective size of each bin that holds rows."""
    w = ones(w, len(p))
    found = []
    for b in sorted(set(bins)):
        rows = [i for i, own in enumerate(bins) if own == b]
        mass = sum(w[i] for i in rows)
        cell = {"bin": b, "rows": rows, "mass": mass, "share": mass / sum(w)}
        cell["mean_p"] = sum(w[i] * float(p[i]) for i in rows) / mass
        cell["mean_y"] = sum(w[i] * int(y[i]) for i in rows) / mass
        kish = mass**2 / sum(w[i] ** 2 for i in rows)
        found.append(cell | {"size": mass if weight_type == "frequency" else kish})
    return found


def binned_error(y, p, bins, w=None, norm=1, debias=False, weight_type="importance"):
    """Lp error over bins (`norm` may be "max"), with the two corrections for few rows a bin."""
    cells = bin_means(y, p, bins, w, weight_type)
    gaps = [abs(cell["mean_y"] - cell["mean_p"]) for cell in cells]
    if norm == "max":
        return max(gaps)
    total = counted = 0.0
    for cell, gap in zip(cells, gaps, strict=True):
        share, size, variance = cell["share"], cell["size"], cell["mean_y"] * (1 - cell["mean_y"])
        if not debias:
            total, counted = total + share * gap**norm, 1.0
        elif norm == 1:
            total, counted = total + share * (2 * gap - folded_mean(gap, variance / size)), 1.0
        elif size > 1 + 1e-9:  # a bin of one row says nothing about its own variance
            total, counted = total + share * (gap**2 - variance / (size - 1)), counted + share
    return max(0.0, total / counted) ** (1 / norm)


def folded_mean(mean, variance):
    """E|mean + s Z| by the trapezoidal rule, not by its closed form."""
    s = math.sqrt(variance)
    z = np.linspace(-12, 12, 200_001)
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    return float(np.trapezoid(np.abs(mean + s * z) * density, z))


def linear_shares(p, centres):
    """Share of each row in each bin: whole on a centre, two neighbours between two centres."""
    shares = []
    for value in map(float, p):
        row = [0.0] * len(centres)
        if value <= centres[0]:
            row[0] = 1.0
        elif value >= centres[-1]:
            row[-1] = 1.0
        else:
            j = max(k for k, centre in enumerate(centres) if centre <= value)
            row[j + 1] = (value - centres[j]) / (centres[j + 1] - centres[j])
            row[j] = 1 - row[j + 1]
        shares.append(row)
    return shares


def linear_error(y, p, centres, w=None):
    """001 equation (1) with the shares of linear binning."""
    w = ones(w, len(p))
    shares = linear_shares(p, centres)
    error = 0.0
    for j in range(len(centres)):
        rows = zip(y, p, w, shares, strict=True)
        error += abs(sum(wi * share[j] * (yi - float(pi)) for yi, pi, wi, share in rows))
    return error / sum(w)


def canonical_error(y, p, cells, w=None):
    """Share-weighted total variation between mean vector and class frequencies of each cell."""
    w, classes = ones(w, len(p)), range(len(p[0]))
    error = 0.0
    for cell in set(cells):
        rows = [i for i, own in enumerate(cells) if own == cell]
        predicted = [sum(w[i] * float(p[i][k]) for i in rows) for k in classes]
        observed = [sum(w[i] for i in rows if y[i] == k) for k in classes]
        error += sum(abs(predicted[k] - observed[k]) for k in classes) / 2
    return error / sum(w)


def score(rule, p, k):
    """Loss of the probability vector `p` when class `k` happens."""
    if rule == "brier":
        return sum((pj - (j == k)) ** 2 for j, pj in enumerate(p))
    if rule == "log":
        return -math.log(p[k]) if p[k] > 0 else math.inf
    if rule == "spherical":
        return 1 - p[k] / math.sqrt(sum(pj**2 for pj in p))
    return float(max(range(len(p)), key=lambda j: (p[j], -j)) != k)


def expected_score(rule, p, q):
    """Mean loss of predicting `p` when `q` is true."""
    return sum(qk * score(rule, p, k) for k, qk in enumerate(q) if qk > 0)


def murphy(y, p, bins, rule="brier", w=None):
    """Murphy's parts of a binary score, and for Brier what bins hide (Stephenson et al. 2008)."""
    w = ones(w, len(p))
    scale = 0.5 if rule == "brier" else 1.0  # one event counts once, two classes twice
    total, p = sum(w), [float(v) for v in p]
    base = sum(wi * yi for wi, yi in zip(w, y, strict=True)) / total

    def expected(g, f):
        return scale * expected_score(rule, (1 - g, g), (1 - f, f))

    parts = dict.fromkeys(("miscalibration", "refinement", "variance", "covariance"), 0.0)
    for cell in bin_means(y, p, bins, w):
        f, g = cell["mean_y"], cell["mean_p"]
        parts["miscalibration"] += cell["share"] * (expected(g, f) - expected(f, f))
        parts["refinement"] += cell["share"] * expected(f, f)
        for i in cell["rows"]:
            parts["variance"] += w[i] * (p[i] - g) ** 2 / total
            parts["covariance"] += 2 * w[i] * (p[i] - g) * (y[i] - f) / total
    scores = [scale * score(rule, (1 - pi, pi), yi) for pi, yi in zip(p, y, strict=True)]
    parts["score"] = sum(wi * si for wi, si in zip(w, scores, strict=True)) / total
    return parts | {"uncertainty": expected(base, base)}


def isotonic(y, p, w=None):
    """Fit of each row by the min-max formula over runs of distinct scores."""
    w = ones(w, len(p))
    values = sorted(set(map(float, p)))
    mass = [sum(wi for pi, wi in zip(p, w, strict=True) if float(pi) == v) for v in values]
    hits = [
        sum(wi * yi for pi, wi, yi in zip(p, w, y, strict=True) if float(pi) == v) for v in values
    ]
    m = len(values)
    mean = [[sum(hits[a : b + 1]) / sum(mass[a : b + 1]) for b in range(a, m)] for a in range(m)]
    fit = {v: max(min(mean[a][i - a :]) for a in range(i + 1)) for i, v in enumerate(values)}
    return [fit[float(v)] for v in p]


def auc(y, p, w=None):
    """Share of (positive, negative) pairs in order, ties counting one half."""
    w = ones(w, len(p))
    positive = [(float(pi), wi) for yi, pi, wi in zip(y, p, w, strict=True) if yi == 1]
    negative = [(float(pi), wi) for yi, pi, wi in zip(y, p, w, strict=True) if yi == 0]
    wins = sum(
        wa * wb * (1.0 if a > b else 0.5 if a == b else 0.0)
        for a, wa in positive
        for b, wb in negative
    )
    return wins / (sum(wi for _, wi in positive) * sum(wi for _, wi in negative))


def wilson(frequency, size, level):
    """Frequencies that a normal test of this size would not reject, found by bisection."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    limits = []
    for end in (0.0, 1.0):
        outside, inside = end, frequency
        for _ in range(200):
            middle = (outside + inside) / 2
            rejected = abs(frequency - middle) > z * math.sqrt(middle * (1 - middle) / size)
            outside, inside = (middle, inside) if rejected else (outside, middle)
        limits.append(end if frequency == end else inside)
    return tuple(limits)
