"""Section 3 of the survey: proper scores and what they are made of (Table 2).

Statements and equations of the survey that a few numbers settle.
"""

from __future__ import annotations

import numpy as np

from veridical.decomposition import decompose
from veridical.miscalibration import classwise_calibration_error, expected_calibration_error
from veridical.results import Decomposition
from veridical.scores import brier_score, log_loss
from veridical_lab._frame.page import Page
from veridical_lab.arrays import ArrayLike, FloatArray
from veridical_lab.survey_toy import tables as toy

# What sections 3 and 3.1 print for each rule: score, calibration, refinement, epistemic and
# irreducible loss.
_PRINTED = {
    "Brier score": ("0.71", "0.19", "0.52", "0.26", "0.45"),
    "log-loss": ("1.12", "0.29", "0.83", "0.48", "0.64"),
}
_PARTS = ("", ", calibration loss", ", refinement loss", ", epistemic loss", ", irreducible loss")


def proper_scores(page: Page) -> list[toy.Cell]:
    """Check Table 2 and the decompositions in the text around it; return its cells."""
    page.section("Table 2: what proper scores are made of")
    y, s, q = toy.decomposed_rows()
    calibrated = np.array([_shares(y, s, row) for row in s])
    cells = _cells(s, q, calibrated)
    toy.check_cells(page, "Table 2", cells, cause=toy.ROUNDING)
    found: dict[str, Decomposition] = {}
    for name, rule in (("Brier score", "brier"), ("log-loss", "log")):
        parts = decompose(
            y, s, rule="brier" if rule == "brier" else "log", method="unique", posterior=q
        )
        found[name] = parts
        for part, printed, value in zip(_PARTS, _PRINTED[name], _column(parts)[:5], strict=True):
            reason = _rounded_reason(y, s) if part == ", calibration loss" else ""
            fact = f"Table 2, {name}{part}"
            toy.check_number(page, fact, printed, value, reason, cause=toy.ROUNDING)
        grouping = _held(parts.grouping)
        page.check(f"""Table 2, {name}, grouping loss | {grouping} | refinement less irreducible
            loss: what scores hide by giving two kinds of rows one probability; the survey names it
            in section 5 without a number""")
    page.table(
        {
            "part": [
                "score",
                "= calibration",
                "+ refinement",
                "= epistemic",
                "+ irreducible",
                "grouping",
            ],
            **{name: _column(parts) for name, parts in found.items()},
        },
        caption="Table 2, exact parts",
        digits=6,
    )
    _check_text(page)
    return cells


def _cells(s: FloatArray, q: FloatArray, calibrated: FloatArray) -> list[toy.Cell]:
    cells = []
    row = 0
    for _, classes, *columns in toy.TABLE_2:
        for _ in classes:
            exact = {"Q": q[row], "S": s[row], "C": calibrated[row]}
            for (name, values), printed in zip(exact.items(), columns, strict=True):
                cells += [
                    toy.Cell(f"row {row + 1}, {name}{k + 1}", text, float(values[k]))
                    for k, text in enumerate(printed)
                ]
            row += 1
    return cells


def _shares(y: np.ndarray, s: FloatArray, row: FloatArray) -> FloatArray:
    """Share of each class among the rows of equal scores."""
    same = (s == row).all(axis=1)
    return np.array([(y[same] == k).mean() for k in (1, 2, 3)])


def _rounded_reason(y: np.ndarray, s: FloatArray) -> str:
    """Redo the calibration loss from column C as it is printed, 0.17 for 1/6 and 0.33 for 1/3."""
    printed = np.array([[float(text) for text in row[4]] for row in toy.TABLE_2 for _ in row[1]])
    rounded = float(((s - printed) ** 2).sum(axis=1).mean())
    return f"computed from column C as printed, 0.17 for 1/6: then it is {rounded:.4f}"


def _column(parts: Decomposition) -> list[float]:
    names = ("score", "miscalibration", "refinement", "epistemic", "irreducible", "grouping")
    return [_held(getattr(parts, name)) for name in names]


def _held(value: float | None) -> float:
    assert value is not None  # a posterior was given
    return float(value)


def _check_text(page: Page) -> None:
    worst = brier_score([1], [[0.0, 1.0, 0.0]], labels=[1, 2, 3])
    toy.check_number(page, "Section 3, largest Brier score", "2", worst)
    pair = [log_loss([1], [row], labels=[1, 2, 3]) for row in ([0.8, 0.2, 0.0], [0.8, 0.1, 0.1])]
    page.check(f"""Section 3, log-loss of (0.8, 0.2, 0) and (0.8, 0.1, 0.1) | -ln 0.8 for both |
        {np.abs(np.add(pair, np.log(0.8))).max()} < 1e-12 | largest difference""")
    grid = np.linspace(0.005, 0.995, 199)
    expected = -(0.8 * np.log(grid) + 0.2 * np.log(1 - grid))
    page.check(f"""Section 3, expected log-loss under (0.8, 0.2, 0) | is least at (0.8, 0.2, 0) |
        {abs(grid[int(expected.argmin())] - 0.8)} < 1e-9 | distance from 0.8 of the first
        probability of the least loss""")


def statements(page: Page) -> None:
    """Check particular values of the ECE and how the kinds of calibration relate."""
    page.section("Statements that a few rows settle")
    page.text(
        "Two statements do not hold in general. A classifier that says 1 with probability q "
        "whatever the row, else 0, has an ECE of q (1 - &pi;<sub>1</sub>) + (1 - q) "
        "&pi;<sub>1</sub>, which is &pi;<sub>1</sub> only if it never says 1 or if "
        "classes are balanced. And with two classes confidence calibration is weaker than "
        "calibration: errors at 0.7 and at 0.3 can cancel."
    )
    _particular_values(page)
    _kinds_of_calibration(page)


def equations(page: Page) -> None:
    """Check the signs of equations 9 to 19 as printed."""
    page.section("Equations 9 to 19: signs")
    page.text(
        "The losses take the logarithm of a negative number, and the softmax of Eq. 12 runs "
        "backwards. Code written from the text needs both signs turned; with free weights (Eq. "
        "14, 16 and 18) the fit turns them itself."
    )
    row, logits = 0.8, np.array([2.0, 1.0, 0.0])
    inside = -1 * row
    page.check(f"""Eq. 9, 11, 13, 15, 17 and 19 | are log-losses | {inside} > 0 | misprint: the
        minus stands inside the logarithm, whose argument is then negative (here for a probability
        of {row}); outside it, the loss is {log_loss([1], [row], labels=[0, 1]):.4f}, which is the
        log-loss""")
    softmax, printed = (_softmax(sign * logits) for sign in (1, -1))
    page.check(f"""Eq. 12, t = 1 | is the usual softmax | {printed[0]} =
        {softmax[0]} ± 1e-9 | misprint: exp(-z / t) gives the class of the largest logit
        the smallest probability; of logits 2, 1, 0 the first gets {printed[0]:.3f} and not
        {softmax[0]:.3f}""")
    scores = np.array([0.7, 0.2, 0.1])
    weights = -np.eye(3)
    kept = _softmax(-weights @ np.log(scores))
    page.check(f"""Eq. 14, 16 and 18 | contain the identity | {np.abs(kept - scores).max()} <
        1e-9 | with weights -1: a minus before free weights is unusual but
        does no harm""")


def random_extreme_error(positives: float, says_one: float) -> float:
    """ECE of a classifier that says 1 at random, else 0, by exact shares of rows.

    Examples
    --------
    >>> round(random_extreme_error(0.2, 0.5), 12), round(random_extreme_error(0.2, 0.0), 12)
    (0.5, 0.2)
    """
    says = np.array([says_one, says_one, 1 - says_one, 1 - says_one])
    weight = says * [positives, 1 - positives, positives, 1 - positives]
    return _error([1, 0, 1, 0], [1.0, 1.0, 0.0, 0.0], weight)


def _error(y: ArrayLike, p: ArrayLike, weight: ArrayLike | None = None) -> float:
    return expected_calibration_error(y, p, n_bins=10, labels=[0, 1], sample_weight=weight)


def _particular_values(page: Page) -> None:
    half = random_extreme_error(0.2, 0.5)
    page.check(f"""Section 4.2, a classifier that says 1 at random | has an ECE of pi_1, the share
        of positives | {half} = 0.2 ± 1e-9 | it is q (1 - pi_1) + (1 - q) pi_1 if 1
        is said with probability q: 0.5 for q = 0.5 whatever pi_1 is (here 0.2), and pi_1 only if q
        = 0 or pi_1 = 0.5""")
    values = {
        "a classifier that is always right": (_error([0, 1], [0.0, 1.0]), "0"),
        "a constant equal to pi_1": (_error([0, 0, 0, 1], [0.25] * 4), "0"),
        "probability 1 for the wrong class": (_error([0, 1], [1.0, 0.0]), "1"),
    }
    for name, (value, printed) in values.items():
        toy.check_number(page, f"Section 4.2, ECE of {name}", printed, value)
    grid = [(a, q) for a in (0.1, 0.3, 0.5) for q in (0.0, 0.25, 1.0)]
    apart = max(abs(random_extreme_error(a, q) - (q * (1 - a) + (1 - q) * a)) for a, q in grid)
    page.check(f"""Section 4.2, formula for a classifier that says 1 at random | {apart} | largest
        difference between q (1 - pi_1) + (1 - q) pi_1 and the ECE, nine cases""")


def _kinds_of_calibration(page: Page) -> None:
    y, p = toy.footnote_rows()
    confidence = expected_calibration_error(y, p, n_bins=10, lens="confidence")
    by_class = classwise_calibration_error(y, p, n_bins=10)
    page.check(f"""Footnote 2 | classwise calibrated and not confidence calibrated | {confidence}
        as noticeable and {by_class} < 1e-12 | confidence-ECE and classwise-ECE: half the rows are
        0.05 off""")
    accurate = (p.argmax(axis=1) + 1 == y)[p.max(axis=1) < 0.5].mean()
    toy.check_number(page, "Footnote 2, accuracy at confidence 0.4", "0.35", float(accurate))
    # Ten rows at 0.7, of which 6 are positive, and ten at 0.3, of which 2 are: 14 of 20 are right.
    two, said = [1] * 6 + [0] * 4 + [1] * 2 + [0] * 8, [0.7] * 10 + [0.3] * 10
    binary = _error(two, said)
    sure = expected_calibration_error(two, said, n_bins=10, lens="confidence")
    page.check(f"""Section 2.3, two classes | confidence and classwise calibration are equivalent |
        {binary} = {sure} ± 1e-12 | 6 of 10 positive at 0.7 and 2 of 10 at
        0.3: confidence-ECE 0, as 14 of 20 are right with confidence 0.7, but binary-ECE 0.1;
        section 4.4 says itself that they differ""")


def _softmax(logits: np.ndarray) -> np.ndarray:
    odds = np.exp(logits)
    return np.asarray(odds / odds.sum())
