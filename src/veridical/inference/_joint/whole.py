"""Several classes at once: the confidence, every class, whole vectors and groups."""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from veridical._core.data.randomness import Draws
from veridical._core.sample import MulticlassSample
from veridical._core.typing import FloatArray, IntArray
from veridical.inference._joint.cells import Cells
from veridical.inference._joint.forms import (
    NO_FORM,
    Form,
    form_of_all,
    form_of_totals,
    form_of_vectors,
    three_forms,
)
from veridical.inference._joint.layout import Layout, Sums, all_sums, layout_of
from veridical.inference._joint.parts import Found
from veridical.inference._joint.vectors import drawn_sums


class Look(NamedTuple):
    """One statistic: a form of some columns of a block of sums."""

    block: str
    columns: slice
    form: Form
    classes: int = 0  # of sums by class, how many there are

    def values(self, residuals: dict[str, FloatArray]) -> FloatArray:
        """The statistic of each row of residuals."""
        held = residuals[self.block][:, self.columns]
        if self.classes:
            held = held.reshape(len(held), -1, self.classes).swapaxes(1, 2)
        return self.form.values(held)


class Question(NamedTuple):
    """A part, and the statistics that answer it."""

    name: str
    lens: str
    label: Any
    n_samples: int
    looks: list[Look]
    impossible: bool = False


def whole_parts(
    sample: MulticlassSample,
    lens: str,
    codes: IntArray | None,
    keys: list[Any],
    draws: Draws,
    *,
    only_classes: bool = False,
) -> list[Found]:
    """Every part of whole predictions, from the same draws of outcomes."""
    layout = layout_of(sample, codes, len(keys))
    blocks = ["class"] if only_classes else ["confidence", "class", "vector"]
    blocks += ["group confidence", "group class"] if codes is not None else []
    sums = all_sums(sample, layout, codes, blocks)
    asked = _questions(sample, lens, layout, sums, codes, keys, only_classes=only_classes)
    observed = {name: each.residual[None, :] for name, each in sums.items()}
    rows: list[list[FloatArray]] = [[] for _ in asked]
    for residuals in chain([observed], drawn_sums(sample, layout, codes, sums, draws)):
        for question, held in zip(asked, rows, strict=True):
            held.append(np.column_stack([look.values(residuals) for look in question.looks]))
    found = []
    for question, held in zip(asked, rows, strict=True):
        first = question.looks[0]
        direction = first.form.direction(observed[first.block][0, first.columns])
        found.append(
            Found(
                question.name,
                question.lens,
                np.vstack(held),
                question.n_samples,
                direction,
                question.label,
                question.impossible,
            )
        )
    return found


def _questions(
    sample: MulticlassSample,
    lens: str,
    layout: Layout,
    sums: dict[str, Sums],
    codes: IntArray | None,
    keys: list[Any],
    *,
    only_classes: bool,
) -> list[Question]:
    n, n_classes = sample.n, len(layout.order)
    never = sample.p[np.arange(n), sample.y] <= 0
    width = layout.columns["class"] // n_classes
    asked = []
    if not only_classes:
        certain = bool((never & (sample.p.max(axis=1) >= 1)).any())
        cells = sums["confidence"]
        forms = three_forms(Cells(cells.residual, cells.variance, cells.odds))
        for name in ("level", "spread", "shape"):
            looks = [Look("confidence", slice(None), forms.get(name, NO_FORM))]
            asked.append(Question(name, "confidence", None, n, looks, certain and name == "spread"))
    place = np.argsort(layout.order)
    for k, label in enumerate(sample.classes):
        columns = slice(place[k] * width, (place[k] + 1) * width)
        looks = [Look("class", columns, form_of_all(_cells(sums["class"], columns)))]
        impossible = bool((never & (sample.y == k)).any())
        asked.append(Question("class", "one-vs-rest", label, n, looks, impossible))
    if not only_classes:
        mean = sums["vector"].mean.reshape(-1, n_classes)
        mass = mean.sum(axis=1)
        form = form_of_vectors(mean / mass[:, None], mass)
        look = Look("vector", slice(None), form, n_classes)
        asked.append(Question("vector", "canonical", None, n, [look], bool(never.any())))
    width = len(layout.coarse)
    for g, key in enumerate(keys if codes is not None else []):
        rows = codes == g
        near = slice(g * width, (g + 1) * width)
        total = slice(g * n_classes, (g + 1) * n_classes)
        looks = [
            Look("group confidence", near, form_of_all(_cells(sums["group confidence"], near))),
            Look("group class", total, form_of_totals(sums["group class"].mean[total])),
        ]
        impossible = bool((never & rows).any())
        asked.append(Question("group", lens, key, int(rows.sum()), looks, impossible))
    return asked


def _cells(sums: Sums, columns: slice) -> Cells:
    return Cells(sums.residual[columns], sums.variance[columns], sums.odds[columns])
