"""Lemma 1: accuracy bounds the calibration error of an always over-confident classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical import simulation
from veridical.simulation import FakeClassifier, PowerMap, TopComponentMap
from veridical_lab._frame.laboratory import Cell, Laboratory
from veridical_lab._frame.page import Page
from veridical_lab.arrays import FloatArray
from veridical_lab.plots.panels import Line, Panel, Points, draw_panels

_ACCURACIES = (0.6, 0.8, 0.95, 0.99)
_OVER = (1.25, 2.0, 8.0, 256.0)
_DRAWS, _FEWEST = 1_000_000, 20_000  # probabilities, and rows, where no quadrature is known


def show_lemma(lab: Laboratory, page: Page) -> None:
    """Check both parts on families of fake classifiers, tightness, and what breaks them."""
    classes = (5, 10) if lab.quick else (2, 3, 10, 100)
    accuracies = _ACCURACIES[1::2] if lab.quick else _ACCURACIES
    over = _OVER[1::2] if lab.quick else _OVER
    draws = {k: _FEWEST if lab.quick else max(_FEWEST, _DRAWS // k) for k in classes}
    cells = [
        {"classes": k, "accuracy": accuracy, "map": name, "exponent": power, "draws": draws[k]}
        for k in classes
        for accuracy in accuracies
        for name, powers in (("power", (*over, *(1 / b for b in over))), ("top", over))
        for power in powers
    ]
    found = lab.map("lemma", _measure, cells)
    page.section("Lemma 1: an accurate, always over-confident classifier has a small ECE")
    page.text(
        f"""{len(cells)} fake classifiers with {", ".join(map(str, classes))} classes: Dirichlet
        distributions of given accuracy; a power b of all components, over-confident on every row
        for b > 1 and under-confident for b < 1; or 1 - (1 - t)^b in place of the largest component
        t, over-confident. The ECE is computed from its definition, by narrow bins of the
        confidence under quadrature (2 and 3 classes) or draws of the truth, not from the lemma."""
    )
    _judge(page, cells, found)
    _counterexamples(page)
    caption = """Left: every over-confident classifier lies below the line ECE = 1 - accuracy and
        large powers reach it; three that are not always over-confident lie above. Right: the same
        for under-confident ones, whose line is accuracy - 1/K. | Two panels of ECE against its
        bound: points of over-confident classifiers below a diagonal with crosses above it, and
        points of under-confident ones below a diagonal"""
    panels = draw_panels(_panels(cells, found), columns=2, size=(3.9, 3.1), legend=True)
    page.figure("lemma", panels, caption)


def _measure(cell: Cell, rng: np.random.Generator) -> dict[str, Any]:
    """Figures of one fake classifier, by the route that knows nothing of the lemma."""
    alpha = simulation.fake_classifier_for(cell["accuracy"], 0.0, n_classes=cell["classes"]).alpha
    power = cell["exponent"]
    map_: simulation.SimplexMap = PowerMap(power) if cell["map"] == "power" else _top_map(power)
    # A mixture of one: unlike the plain Dirichlet one it has no short cut through the lemma.
    fake = simulation.DirichletMixtureFakeClassifier([alpha], [1.0], map=map_)  # type: ignore[arg-type]
    draws, seed = cell["draws"], int(rng.integers(1 << 31))
    ece = fake.expected_calibration_error(n_draws=draws, rng=seed)
    return {
        # Of the base class, from the same draws as the rest, so that their noise cancels.
        "accuracy": FakeClassifier.accuracy(fake, n_draws=draws, rng=seed).value,
        "confidence": fake.mean_confidence(n_draws=draws, rng=seed).value,
        "ece": ece.value,
        "error": ece.error,
    }


def _top_map(power: float) -> TopComponentMap:
    return TopComponentMap(lambda t: 1 - (1 - t) ** power, preserves_argmax=True, injective=True)


def _judge(page: Page, cells: list[dict[str, Any]], found: list[dict[str, Any]]) -> None:
    over = [one for cell, one in zip(cells, found, strict=True) if cell["exponent"] > 1]
    under = [
        one | {"classes": cell["classes"]}
        for cell, one in zip(cells, found, strict=True)
        if cell["exponent"] < 1
    ]
    excess = max(one["ece"] - (1 - one["accuracy"]) for one in over)
    page.check(f"""Lemma 1 i | ECE <= 1 - acc for always overconfident classifiers |
        {round(excess, 9)} <= 0 | the largest ECE - (1 - acc) of {len(over)}
        classifiers; it never is above 0""")
    gaps = [abs(one["ece"] - (one["confidence"] - one["accuracy"])) for one in over]
    slack = max(gap - one["error"] for gap, one in zip(gaps, over, strict=True))
    page.check(f"""Lemma 1 i, its proof | always overconfident: ECE = E conf - acc |
        {round(max(slack, 0.0), 9)} <= 0 | the largest difference, {max(gaps):.2g}, beyond what the
        figures are known to: the sign of the gap never changes, so the absolute value goes through
        the mean""")
    reached = [one["ece"] / (1 - one["accuracy"]) for one in over]
    page.check(f"""Lemma 1 i, ECE / (1 - acc) at its largest | {max(reached)} | the bound is tight:
        a power of {_OVER[-1]:g} comes this close""")
    most = max(one["ece"] - one["accuracy"] for one in under)
    page.check(f"""Lemma 1 ii | ECE <= acc for always underconfident classifiers | {most} <= 0 | the
        largest ECE - acc of {len(under)} classifiers""")
    sharper = max(one["ece"] - (one["accuracy"] - 1 / one["classes"]) for one in under)
    page.check(f"""Lemma 1 ii, largest ECE - (acc - 1/K) | {sharper} | max c is at least 1/K, so the
        bound can be lowered by 1/K, and then is tight too""")
    accurate = [one["ece"] / one["accuracy"] for one in under if one["accuracy"] > 0.94]
    page.check(f"""Section 7, part ii is loose | for an accurate classifier the second bound is very
        loose | {max(accurate)} < 0.5 | the largest ECE / acc among classifiers of accuracy 0.95 and
        more: the bound is large, not loose; accurate classifiers can be under-confident nearly as
        far as it says""")
    best = [one for one in over if one["accuracy"] > 0.985]
    page.check(f"""Section 7, accuracy is enough | the ECE will be automatically small when the
        accuracy is very high (overconfident) | {max(one["ece"] for one in best)} as nearly | the
        largest ECE of the over-confident classifiers of accuracy 0.99""")


# Rows of the truth, what is reported for them, and their weight: three counterexamples.
_BROKEN: dict[str, tuple[list[list[float]], list[list[float]], list[float]]] = {
    "always under-confident": ([[0.9, 0.1]], [[0.5001, 0.4999]], [1.0]),
    "one row in ten under-confident": (
        [[0.95, 0.05], [1.0, 0.0]],
        [[1.0, 0.0], [0.5001, 0.4999]],
        [0.9, 0.1],
    ),
    "over and under in balance": ([[0.8, 0.2], [1.0, 0.0]], [[1.0, 0.0], [0.8, 0.2]], [0.5, 0.5]),
}


def _counterexamples(page: Page) -> None:
    names = list(_BROKEN)
    figures = [_finite(*_BROKEN[name]) for name in names]
    page.table(
        {
            "classifier": names,
            "accuracy": [one["accuracy"] for one in figures],
            "mean confidence": [one["confidence"] for one in figures],
            "1 - accuracy": [1 - one["accuracy"] for one in figures],
            "ECE": [one["ece"] for one in figures],
        },
        caption="Without 'always' neither the bound nor the equality holds",
    )
    few = figures[1]
    page.check(f"""Lemma 1 i, one row in ten under-confident, ECE - (1 - acc) |
        {few["ece"] - (1 - few["accuracy"])} | above 0: 'always' is needed, 'mostly' is not
        enough""")


def _finite(
    truth: list[list[float]], reported: list[list[float]], weight: list[float]
) -> dict[str, float]:
    def report(p: FloatArray) -> FloatArray:
        nearest = np.abs(p[:, None, :] - np.array(truth)[None]).sum(axis=2).argmin(axis=1)
        return np.array(reported)[nearest]

    fake = simulation.EmpiricalFakeClassifier(
        np.array(truth), map=simulation.CallableMap(report), sample_weight=weight
    )
    return {
        "accuracy": fake.accuracy().value,
        "confidence": fake.mean_confidence().value,
        "ece": fake.expected_calibration_error().value,
    }


def _bound_and_ece(found: list[dict[str, Any]]) -> FloatArray:
    return np.array([[1 - one["accuracy"] for one in found], [one["ece"] for one in found]])


def _panels(cells: list[dict[str, Any]], found: list[dict[str, Any]]) -> list[Panel]:
    pairs = list(zip(cells, found, strict=True))
    left: list[Any] = [Line([0, 0.45], [0, 0.45], "bound", muted=True)]
    right: list[Any] = [Line([0, 1], [0, 1], "bound", muted=True)]
    for colour, k in enumerate(dict.fromkeys(cell["classes"] for cell in cells)):
        over = [one for cell, one in pairs if cell["classes"] == k and cell["exponent"] > 1]
        under = [one for cell, one in pairs if cell["classes"] == k and cell["exponent"] < 1]
        room, ece = _bound_and_ece(over)
        left.append(Points(room, ece, f"{k} classes", colour))
        room, ece = _bound_and_ece(under)
        right.append(Points(1 - room - 1 / k, ece, f"{k} classes", colour))
    broken = [_finite(*one) for one in _BROKEN.values()]
    room, ece = _bound_and_ece(broken)
    left.append(Points(room, ece, "not always over-confident", 5, size=40))
    return [
        Panel(left, "over-confident", "1 - accuracy", "ECE"),
        Panel(right, "under-confident", "accuracy - 1/K", "ECE"),
    ]
