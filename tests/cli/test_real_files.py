"""Files as people save them are evaluated right, without an option or with the one it is told of.

Numbers are those of plain arrays, by the formula of the Brier score written out here.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from veridical.cli import main

_LOADERS = {
    "cancer": load_breast_cancer,
    "digits": load_digits,
    "iris": load_iris,
    "wine": load_wine,
}


@cache
def predicted(name):
    """Labels 0..K-1 of a data set, and probabilities from a model that had not seen the row."""
    x, y = _LOADERS[name](return_X_y=True)
    keep = np.random.default_rng(0).permutation(len(y))[:400]
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.02))
    p = cross_val_predict(model, x[keep], y[keep], cv=3, method="predict_proba")
    return y[keep], p


def two():
    """Outcomes 0 and 1, and probabilities of 1 with four decimals."""
    y, p = predicted("cancer")
    return y, p[:, 1].round(4)


def brier(y, p):
    """Mean squared distance; of several classes the sum over them."""
    y, p = np.asarray(y), np.asarray(p, dtype=float)
    if p.ndim == 1:
        return float(np.mean((p - y) ** 2))
    return float(np.mean(((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1)))


def text(rows, *, separator=",", end="\n"):
    return end.join(separator.join(map(str, row)) for row in rows) + end


def words(y, no, yes):
    return np.where(y == 1, yes, no)


def us_csv(folder):
    y, p = two()
    pl.DataFrame({"label": y, "p": p}).write_csv(folder / "us.csv")
    return "us.csv", brier(y, p)


def german_csv(folder):
    y, p = two()
    rows = zip(words(y, "gesund", "krank"), (str(v).replace(".", ",") for v in p), strict=True)
    body = text([("Diagnose", "Risiko"), *rows], separator=";", end="\r\n")
    (folder / "deutsch.csv").write_text(body, encoding="utf-8", newline="")
    return "deutsch.csv", brier(y, p)


def tab_separated(folder):
    y, p = two()
    rows = [("outcome", "score"), *zip(y, p, strict=True)]
    (folder / "tabs.tsv").write_text(text(rows, separator="\t"))
    return "tabs.tsv", brier(y, p)


def class_names(folder):
    y, p = predicted("iris")
    names = load_iris().target_names.tolist()
    pd.DataFrame(p, columns=names).assign(species=np.array(names)[y]).to_csv(
        folder / "iris.csv", index=False
    )
    return "iris.csv", brier(y, p)


def numbered_columns(folder):
    y, p = predicted("digits")
    table = pd.DataFrame(p, columns=[f"p{k}" for k in range(10)])
    table.insert(0, "label", y)
    table.to_csv(folder / "digits.csv")  # pandas writes the row number first
    return "digits.csv", brier(y, p)


def percentages(folder):
    y, p = two()
    percent = (100 * p).round(2)
    pl.DataFrame({"outcome": y, "probability": percent}).write_csv(folder / "percent.csv")
    return "percent.csv", brier(y, percent / 100)


def percent_signs(folder):
    y, p = two()
    shown = [f"{100 * v:.2f} %" for v in p]
    pl.DataFrame({"event": words(y, "no", "yes"), "forecast": shown}).write_csv(folder / "sign.csv")
    return "sign.csv", brier(y, [float(v[:-2]) / 100 for v in shown])


def three_decimals(folder):
    y, p = predicted("wine")
    p = p.round(3)
    assert np.abs(p.sum(axis=1) - 1).max() > 1e-4  # rows that do not sum to one
    pd.DataFrame(p, columns=["prob_0", "prob_1", "prob_2"]).assign(cultivar=y).to_csv(
        folder / "wine.csv", index=False
    )
    return "wine.csv", brier(y, p)


def blank_scores(folder):
    y, p = two()
    gaps = np.arange(len(y)) % 17 == 3
    pd.DataFrame({"y": y, "y_prob": np.where(gaps, np.nan, p)}).to_csv(
        folder / "gaps.csv", index=False
    )
    return "gaps.csv", brier(y[~gaps], p[~gaps])


def blank_outcomes(folder):
    y, p = two()
    gaps = np.arange(len(y)) % 13 == 5
    shown = np.where(gaps, "", words(y, "N", "Y"))
    pl.DataFrame({"Churned": shown, "Churn score": p}).write_csv(folder / "churn.csv")
    return "churn.csv", brier(y[~gaps], p[~gaps])


def identifiers_and_dates(folder):
    y, p = two()
    days = [f"2026-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(len(y))]
    names = [f"C{i:05}" for i in range(len(y))]
    columns = {"customer": names, "contract_no": np.arange(len(y)) + 1000, "date": days}
    columns |= {"defaulted": y, "pd_hat": p}
    pl.DataFrame(columns).write_csv(folder / "loans.csv")
    return "loans.csv", brier(y, p)


def ordered_grades(folder):
    y, p = predicted("wine")
    grades = ["low", "mid", "high"]
    frame = pl.DataFrame({"grade": pl.Series(np.array(grades)[y]).cast(pl.Enum(grades))})
    columns = {f"p_{grade}": p[:, k] for k, grade in enumerate(grades)}
    frame.with_columns(**columns).write_parquet(folder / "grades.parquet")
    return "grades.parquet", brier(y, p)


def good_and_bad(folder):
    y, p = two()
    columns = {"Status": words(y, "good", "bad"), "p_good": (1 - p).round(4), "p_bad": p}
    pl.DataFrame(columns).write_csv(folder / "both.csv")
    return "both.csv", brier(y, p)


def probability_of_default(folder):
    y, p = two()
    pl.DataFrame({"Status": words(y, "good", "bad"), "PD": p}).write_csv(folder / "credit.csv")
    return "credit.csv", brier(y, p)


def named_after_its_class(folder):
    y, p = two()
    pl.DataFrame({"Status": words(y, "good", "bad"), "p_bad": p}).write_csv(folder / "named.csv")
    return "named.csv", brier(y, p)


def yes_and_no(folder):
    y, p = two()
    rng = np.random.default_rng(1)
    columns = {
        "PassengerId": np.arange(1, len(y) + 1),
        "Survived": words(y, "No", "Yes"),
        "Pclass": rng.integers(1, 4, len(y)),
        "Sex": np.where(rng.uniform(size=len(y)) < 0.4, "female", "male"),
        "Age": rng.integers(1, 80, len(y)),
        "Fare": rng.gamma(2, 15, len(y)).round(2),
        "Prob": p,
    }
    pl.DataFrame(columns).write_csv(folder / "titanic.csv")
    return "titanic.csv", brier(y, p)


def codes_one_and_two(folder):
    y, p = two()
    pl.DataFrame({"class": y + 1, "prob": p}).write_csv(folder / "codes.csv")
    return "codes.csv", brier(y, p)


def spreadsheet_truth(folder):
    y, p = two()
    rows = [("Malignant", "Model"), *zip(words(y, "FALSE", "TRUE"), p, strict=True)]
    (folder / "truth.csv").write_text(text(rows))
    return "truth.csv", brier(y, p)


def spreadsheet_header(folder):
    y, p = two()
    head = '\ufeff"Patient ID";"Observed outcome";"Predicted risk"\r\n'
    shown = (str(v).replace(".", ",") for v in p)
    rows = text(zip(range(len(y)), y, shown, strict=True), separator=";", end="\r\n")
    (folder / "excel.csv").write_text(head + rows, encoding="utf-8", newline="")
    return "excel.csv", brier(y, p)


def unicode_text(folder):
    y, p = two()
    rows = text([("Ergebnis", "Vorhersage"), *zip(y, p, strict=True)], separator="\t", end="\r\n")
    (folder / "unicode.tsv").write_bytes(rows.encode("utf-16"))
    return "unicode.tsv", brier(y, p)


def blank_lines_at_the_end(folder):
    y, p = two()
    (folder / "blank.csv").write_text(text([("hit", "chance"), *zip(y, p, strict=True)]) + "\n\n\n")
    return "blank.csv", brier(y, p)


def weights_beside(folder):
    y, p = two()
    weight = np.random.default_rng(2).uniform(0.5, 3, len(y)).round(3)
    pl.DataFrame({"w": weight, "y_true": y, "score": p}).write_csv(folder / "weights.csv")
    return "weights.csv", brier(y, p)


def groups_beside(folder):
    y, p = two()
    region = np.where(np.arange(len(y)) % 3 == 0, "north", "south")
    pl.DataFrame({"region": region, "target": y, "risk": p}).write_csv(folder / "regions.csv")
    return "regions.csv", brier(y, p)


def categories(folder):
    y, p = two()
    kind = pd.Categorical(words(y, "well", "ill"), categories=["well", "ill"], ordered=True)
    pd.DataFrame({"state_at_exit": kind, "p_ill": p}).to_parquet(folder / "categories.parquet")
    return "categories.parquet", brier(y, p)


def cuts_of_diamonds(folder):
    rng = np.random.default_rng(3)
    cuts = np.array(["Fair", "Good", "Very Good", "Premium", "Ideal"])
    p = rng.dirichlet([0.5, 1, 2, 2, 3], 500).round(6)
    p[:, 4] = 1 - p[:, :4].sum(axis=1)
    y = np.array([rng.choice(5, p=np.abs(row) / np.abs(row).sum()) for row in p])
    columns = {
        "carat": rng.gamma(3, 0.3, 500),
        "cut": cuts[y],
        "price": rng.integers(300, 9000, 500),
    }
    columns |= {f"prob_{cut}": p[:, k] for k, cut in enumerate(cuts)}
    pl.DataFrame(columns).write_csv(folder / "diamonds.csv")
    return "diamonds.csv", brier(y, np.abs(p))


def statistics_package(folder):
    y, p = two()
    names = [f'"{i}"' for i in range(1, 401)]
    rows = [('""', '"died"', '"fitted.prob"'), *zip(names, y, p, strict=True)]
    (folder / "r.csv").write_text(text(rows))
    return "r.csv", brier(y, p)


def missing_marks(folder):
    y, p = two()
    gaps = np.arange(len(y)) % 29 == 7
    shown = ["NA" if gap else v for gap, v in zip(gaps, p, strict=True)]
    rows = [("readmitted", "risk"), *zip(y, shown, strict=True)]
    (folder / "na.csv").write_text(text(rows))
    return "na.csv", brier(y[~gaps], p[~gaps])


# Each file, and the option it needs: what people must say that the file does not.
FILES = {
    us_csv: (),
    german_csv: (),
    tab_separated: (),
    class_names: (),
    numbered_columns: (),
    percentages: ("--scale", "percent"),
    percent_signs: (),
    three_decimals: (),
    blank_scores: ("--missing", "drop"),
    blank_outcomes: ("--missing", "drop"),
    identifiers_and_dates: (),
    ordered_grades: (),
    good_and_bad: (),
    probability_of_default: ("--pos-label", "bad"),
    named_after_its_class: (),
    yes_and_no: (),
    codes_one_and_two: (),
    spreadsheet_truth: (),
    spreadsheet_header: (),
    unicode_text: (),
    blank_lines_at_the_end: (),
    weights_beside: (),
    groups_beside: (),
    categories: (),
    cuts_of_diamonds: (),
    statistics_package: (),
    missing_marks: ("--missing", "drop"),
}


def evaluated(capsys, path, *options):
    """Exit code, the evaluation, and everything that was said."""
    code = main(["evaluate", path, *options, "--n-resamples", "0", "--format", "json"])
    out, err = capsys.readouterr()
    return code, json.loads(out) if out else None, err


@pytest.mark.parametrize("write", FILES, ids=lambda write: write.__name__)
def test_a_file_is_evaluated_right_or_the_message_names_the_option(
    write, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    path, expected = write(Path())
    options = FILES[write]
    code, found, said = evaluated(capsys, path)
    if options:
        refused = code == 2 and found is None
        reversed_ = code == 0 and found["verdict"]["kind"] == "reversed"
        assert refused or reversed_
        where = said if refused else found["verdict"]["text"]
        assert " ".join(options) in where
        code, found, said = evaluated(capsys, path, *options)
    assert code == 0, said
    assert found["scores"]["brier"] == pytest.approx(expected, rel=1e-9)
    assert "guessed --y" in said


@pytest.mark.parametrize("options", [(), ("--scale", "percent")])
def test_a_percent_sign_is_read_once(options, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path, expected = percent_signs(Path())
    _, found, _ = evaluated(capsys, path, *options)
    assert found["scores"]["brier"] == pytest.approx(expected, rel=1e-9)


def test_most_files_need_no_option():
    assert len(FILES) >= 20
    assert sum(not options for options in FILES.values()) >= 16
