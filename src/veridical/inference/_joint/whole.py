"""Several classes at once: the confidence, every class, whole vectors and groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.resampling.hypothesis import redraw_of
from veridical._core.resampling.redraw import REDRAWN, Redraw, class_residuals, most_draws
from veridical._core.runtime.progress import track
from veridical._core.sample import MulticlassSample
from veridical._core.typing import BoolArray, FloatArray, IntArray
from veridical.inference._joint.draws import NORMAL_FROM
from veridical.inference._joint.family import Found
from veridical.inference._joint.forms import (
    Cells,
    Form,
    Surprise,
    form_of_all,
    form_of_totals,
    form_of_vectors,
    log_odds,
    surprises,
    three_forms,
)
from veridical.inference._joint.layout import (
    Layout,
    Rows,
    Sums,
    all_sums,
    in_order,
    layout_of,
    outcomes_in,
    rows_of,
)

_BLOCK = 1 << 18


class Look(NamedTuple):
    """Statistics of some parts: a form of the sums of a block, one after the other.

    Attributes
    ----------
    name, lens, labels : of the parts
    block : whose sums
    form : of the sums of each part
    impossible : (parts,) whether something happened that had no probability
    """

    name: str
    lens: str
    labels: list[Any]
    block: str
    form: Form | Surprise
    impossible: BoolArray

    def values(self, residuals: FloatArray) -> FloatArray:
        """Statistics of sums (draws, columns), (draws, parts)."""
        if self.name == "vector":
            assert isinstance(self.form, Form)
            n_cells = self.form.weights.shape[1]
            by_class = residuals.reshape(len(residuals), n_cells, -1).swapaxes(1, 2)
            return self.form.values(by_class).sum(axis=1, keepdims=True)
        return self.form.values(residuals.reshape(len(residuals), len(self.labels), -1))

    def directions(self, residual: FloatArray) -> FloatArray:
        """Directions of what was observed, (parts,)."""
        if not np.isfinite(self.form.told):
            return np.zeros(len(self.labels))
        told = self.form.directions(residual.reshape(len(self.labels), -1))
        # What cannot happen and does was predicted too extremely, whatever else is so.
        return np.where(self.impossible, -1.0, told) if self.name == "spread" else told


def whole_parts(
    sample: MulticlassSample,
    lens: str,
    codes: IntArray | None,
    keys: list[Any],
    draws: Draws,
    *,
    only_classes: bool = False,
) -> tuple[list[Found], str]:
    """Every part of whole predictions, from the same draws of outcomes, and what these are."""
    layout = layout_of(sample, codes, len(keys))
    blocks = ["class"] if only_classes else ["confidence", "class", "vector"]
    blocks += ["group confidence", "group class"] if codes is not None else []
    sums = all_sums(sample, layout, codes, blocks)
    redraw = redraw_of(in_order(sample, layout))
    if redraw is None:
        drawn = drawn_sums(sample, layout, codes, sums, draws)
    else:
        sums = with_variances(redraw, sample, layout, codes, sums)
        drawn = redrawn_sums(redraw, sample, layout, codes, blocks, draws)
    looks = _looks(sample, layout, sums)
    if codes is not None:
        looks += _looks_at_groups(sample, lens, layout, sums, codes, keys)
    observed = {name: each.residual[None, :] for name, each in sums.items()}
    values: list[list[FloatArray]] = [[] for _ in looks]
    for residuals in chain([observed], drawn):
        for look, held in zip(looks, values, strict=True):
            held.append(look.values(residuals[look.block]))
    none = np.zeros(0, dtype=np.intp)
    of_group = np.bincount(none if codes is None else codes, minlength=len(keys))
    found: dict[tuple[str, int], Found] = {}
    for look, held in zip(looks, values, strict=True):
        every, directions = np.vstack(held), look.directions(sums[look.block].residual)
        for index, label in enumerate(look.labels):
            each = every[:, index : index + 1]
            if (look.name, index) in found:  # one more statistic of the same part
                part = found[look.name, index]
                found[look.name, index] = replace(part, values=np.hstack([part.values, each]))
                continue
            rows = int(of_group[index]) if look.name == "group" else sample.n
            found[look.name, index] = Found(
                look.name,
                look.lens,
                each,
                rows,
                float(directions[index]),
                label,
                bool(look.impossible[index]),
            )
    place = np.argsort(layout.order)
    parts = [found[name, place[k] if name == "class" else k] for name, k in found]
    return parts, REDRAWN if redraw is None else redraw.said


def _looks(sample: MulticlassSample, layout: Layout, sums: dict[str, Sums]) -> list[Look]:
    """What is looked at in all rows: confidence, classes and vectors, where there are sums."""
    n_classes = len(layout.order)
    never = sample.p[np.arange(sample.n), sample.y] <= 0
    looks = []
    if "confidence" in sums:
        certain = bool((never & (sample.p.max(axis=1) >= 1)).any())
        for name, form in three_forms(_cells(sums["confidence"])).items():
            flag = np.array([certain and name == "spread"])
            looks.append(Look(name, "confidence", [None], "confidence", form, flag))
        one = sums["confidence"]
        for more in surprises(_cells(one), one.mean, one.unit):
            looks.append(Look("shape", "confidence", [None], "confidence", more, np.zeros(1, bool)))
    labels = [sample.classes[k] for k in layout.order]
    form = form_of_all(_cells(sums["class"], n_classes))
    seen = np.isin(layout.order, sample.y[never])
    looks.append(Look("class", "one-vs-rest", labels, "class", form, seen))
    if "vector" in sums:
        mean = sums["vector"].mean.reshape(-1, n_classes)
        mass = mean.sum(axis=1)
        form = form_of_vectors(mean / mass[:, None], mass)
        any_never = np.array([bool(never.any())])
        looks.append(Look("vector", "canonical", [None], "vector", form, any_never))
    return looks


def _looks_at_groups(
    sample: MulticlassSample,
    lens: str,
    layout: Layout,
    sums: dict[str, Sums],
    codes: IntArray,
    keys: list[Any],
) -> list[Look]:
    """The confidence within every group, and how often each class occurs in it."""
    never = sample.p[np.arange(sample.n), sample.y] <= 0
    seen = np.isin(np.arange(len(keys)), codes[never])
    near = form_of_all(_cells(sums["group confidence"], len(keys)))
    total = form_of_totals(sums["group class"].mean.reshape(len(keys), -1))
    return [
        Look("group", lens, keys, "group confidence", near, seen),
        Look("group", lens, keys, "group class", total, seen),
    ]


def _cells(sums: Sums, n_parts: int = 0) -> Cells:
    """Sums of a block as cells, those of each part apart if there are several."""
    shape = (n_parts, -1) if n_parts else (-1,)
    return Cells(*(each.reshape(shape) for each in (sums.residual, sums.variance, sums.odds)))


def drawn_sums(
    sample: MulticlassSample,
    layout: Layout,
    codes: IntArray | None,
    sums: dict[str, Sums],
    draws: Draws,
) -> Iterator[dict[str, FloatArray]]:
    """Residuals by the columns of every block of sums, some draws at a time.

    Up to `MOST_DRAWN` rows every outcome is drawn. Of more rows, outcomes of some that are spread
    evenly say how sums go together: the ranks of their sums are given to draws from the law that
    the sum of all rows has in each column (a copula).
    """
    rows = rows_of(sample, layout, codes, layout.drawn)
    blocks = _row_draws(rows, layout, list(sums), draws)
    if len(layout.drawn) == outcomes_in(sample):
        for drawn in blocks:
            yield {name: values - sums[name].mean for name, values in drawn.items()}
        return
    held = _all_of(blocks, sums)
    yield {name: _with_laws(values, sums[name], draws) for name, values in held.items()}


def redrawn_sums(
    redraw: Redraw,
    sample: MulticlassSample,
    layout: Layout,
    codes: IntArray | None,
    names: list[str],
    draws: Draws,
) -> Iterator[dict[str, FloatArray]]:
    """The same where rows are weighted or belong together: every outcome is drawn."""
    rows = rows_of(sample, layout, codes, redraw.rows)
    widths = [layout.columns[name] for name in names]
    first = np.cumsum([0, *widths])
    keys = []
    for name, width, start in zip(names, widths, first, strict=False):
        own = layout.keys(rows, name)
        keys.append(np.where(own < width, own + start, first[-1]))
    draws = most_draws(draws, redraw.n * len(layout.order))
    what = "joint null distribution"
    for drawn in class_residuals(redraw, keys, int(first[-1]), draws, what):
        yield {name: drawn[:, a : a + w] for name, a, w in zip(names, first, widths, strict=False)}


def with_variances(
    redraw: Redraw,
    sample: MulticlassSample,
    layout: Layout,
    codes: IntArray | None,
    sums: dict[str, Sums],
) -> dict[str, Sums]:
    """Sums with the means and variances that residuals have if they are drawn so."""
    rows, p = rows_of(sample, layout, codes, redraw.rows), redraw.p.T
    mean, spread = redraw.expected_weight * p, redraw.variance.T
    values = [each.ravel() for each in (mean, mean * (1 - p), spread, spread * log_odds(p))]
    result = {}
    for name, known in sums.items():
        column, size = layout.keys(rows, name).ravel(), layout.columns[name] + 1
        total, first, variance, odds = (
            np.bincount(column, each, minlength=size)[:-1].astype(np.float64) for each in values
        )
        unit = np.divide(variance, first, out=np.zeros_like(odds), where=first > 0)
        centre = np.divide(odds, variance, out=np.zeros_like(odds), where=variance > 0)
        result[name] = Sums(known.residual, total, variance, unit, centre)
    return result


def _all_of(blocks: Iterator[dict[str, FloatArray]], names: Iterable[str]) -> dict[str, FloatArray]:
    """Blocks of draws, one below the other."""
    held = list(blocks)
    return {name: np.vstack([drawn[name] for drawn in held]) for name in names}


def _row_draws(
    rows: Rows, layout: Layout, names: list[str], draws: Draws
) -> Iterator[dict[str, FloatArray]]:
    """Weighted outcomes by column, drawn row by row."""
    n, n_classes = rows.p.shape
    reached = np.cumsum(rows.p, axis=1)
    reached /= reached[:, -1:]
    thresholds = np.ascontiguousarray(reached[:, :-1].T)
    keys = {name: layout.keys(rows, name).ravel() for name in names}
    kind = np.uint8 if n_classes <= 256 else np.uint32
    step = max(1, _BLOCK // n)
    at = np.arange(n)
    for index in track(-(-draws.n_resamples // step), "joint null distribution"):
        size = min(step, draws.n_resamples - index * step)
        uniform = draws.rng.random((size, n))
        y = np.zeros((size, n), dtype=kind)
        for threshold in thresholds:
            y += uniform >= threshold
        place = y.astype(np.intp)
        place *= n
        place += at
        weight = None if rows.weight is None else np.broadcast_to(rows.weight, y.shape).ravel()
        drawn: dict[str, FloatArray] = {}
        for name in names:
            width = layout.columns[name] + 1
            column = keys[name][place]
            column += (np.arange(size) * width)[:, None]
            counted = np.bincount(column.ravel(), weights=weight, minlength=size * width)
            drawn[name] = counted.reshape(size, width)[:, :-1].astype(np.float64, copy=False)
        yield drawn


def _with_laws(drawn: FloatArray, sums: Sums, draws: Draws) -> FloatArray:
    """Residuals that are ranked in each column as the drawn sums are, and follow its own law.

    A column of small variance has the law of a binomial number with its mean and variance, counted
    in the unit of its weights; others are normal.
    """
    n, width = drawn.shape
    rng = draws.rng
    law = rng.standard_normal((n, width)) * np.sqrt(sums.variance)
    some = sums.unit > 0
    unit = np.where(some, sums.unit, 1.0)
    for c in np.flatnonzero(some & (sums.variance < NORMAL_FROM * np.square(unit))):
        mean, variance = float(sums.mean[c] / unit[c]), float(sums.variance[c] / unit[c] ** 2)
        chance = max(1 - variance / mean, 1e-9)
        number = max(1, round(mean / chance))
        law[:, c] = unit[c] * (rng.binomial(number, min(1.0, mean / number), n) - mean)
    law.sort(axis=0)
    ties = rng.random((n, width)) * (1e-6 * unit)  # which fall at random
    order = np.argsort(drawn + ties, axis=0)
    result = np.empty_like(law)
    np.put_along_axis(result, order, law, axis=0)
    return result
