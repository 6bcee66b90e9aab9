"""What the pages show, against other libraries, a loop over bins, and the library's own calls."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from markup import rows_of
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from veridical import evaluate, reliability_curve
from veridical._core.data.validation import check_sample
from veridical.evaluation.data import SampleSource
from veridical.lenses import Binary, ClassSpecific, Classwise, Confidence
from veridical.studio._data.live import LensView

pytestmark = pytest.mark.filterwarnings("ignore::veridical.exceptions.VeridicalWarning")
IS_ILL = {"y": "state", "prob": ["p"], "positive": 0}  # "ill" is the smaller label


def close(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def naive_ece(y, p, n_bins, weight=None):
    """Mean of |sum of w (y - p)| over bins (k/B, (k+1)/B], the first with zero."""
    w = np.ones(len(p)) if weight is None else weight
    gaps = 0.0
    for k in range(n_bins):
        held = (p <= (k + 1) / n_bins) & ((p > k / n_bins) if k else (p >= 0))
        gaps += abs(float((w * (y - p))[held].sum()))
    return gaps / w.sum()


def test_opening_guesses_and_shows_the_first_rows(studio, animals):
    found = studio.post("open", name="animals.csv")
    assert found["guess"]["y"] == "label"
    assert found["guess"]["prob"] == ["p_cat", "p_dog", "p_fox"]
    assert len(found["rows"]) == 8
    assert found["rows"][0] == [str(animals[name][0]) for name in found["columns"]]
    labels = studio.post("labels", id=found["id"], y="label", prob=found["guess"]["prob"])
    assert labels["labels"] == ["cat", "dog", "fox"]
    assert labels["of_columns"] == ["cat", "dog", "fox"]


def test_scores_are_those_of_scikit_learn(studio, ill):
    used = studio.use("ill.csv", **IS_ILL)
    assert used["classes"] == ["well", "ill"]  # the positive one last
    y, p = (ill["state"] == "ill").astype(int), ill["p"]
    found = studio.get("figures")
    scores = {score["name"]: score["value"] for score in found["scores"]}
    assert scores["log"] == close(log_loss(y, p))
    assert scores["brier"] == close(brier_score_loss(y, p))
    assert found["auc"] == close(roc_auc_score(y, p))


@pytest.mark.parametrize("n_bins", [2, 7, 15, 50])
def test_errors_follow_the_bins(studio, ill, n_bins):
    studio.use("ill.csv", **IS_ILL)
    y, p = (ill["state"] == "ill").astype(int), ill["p"]
    found = studio.get("live", n_bins=n_bins)
    shown = {error["name"]: error for error in found["errors"]}
    assert shown["ECE"]["value"] == close(naive_ece(y, p, n_bins))
    whole = evaluate(y, p, n_bins=n_bins)
    usual = evaluate(pd.Series(y, name="state").map({1: "ill", 0: "well"}), p, pos_label="ill")
    assert found["verdict"] == usual.verdict.text  # wherever a reader looks
    for name, error in shown.items():
        wanted = whole.error(name)
        for part in ("value", "low", "high", "null_mean", "null_q95", "pvalue"):
            known = getattr(wanted, part)
            assert error[part] == (None if known is None else close(known)), (name, part)


def test_weights_and_equal_mass(studio, ill):
    studio.use("ill.csv", **IS_ILL, weight="w")
    y, p, w = (ill["state"] == "ill").astype(int), ill["p"], ill["w"]
    assert studio.get("live", n_bins=9)["errors"][0]["value"] == close(naive_ece(y, p, 9, w))
    found = studio.get("live", n_bins=4, strategy="quantile")["errors"][0]
    whole = evaluate(y, p, n_bins=4, sample_weight=w)
    assert found["value"] == close(whole.error("ECE equal-mass").value)


def test_every_lens_of_several_classes(studio, animals):
    prob = ["p_cat", "p_dog", "p_fox"]
    used = studio.use("animals.csv", "label", prob)
    assert used["lenses"][:2] == ["confidence", "classwise"]
    p = np.column_stack([animals[name] for name in prob])
    y = animals["label"]
    top = p.argmax(axis=1)
    right = np.array(["cat", "dog", "fox"])[top] == y
    shown = {lens: studio.get("live", lens=lens, n_bins=8) for lens in used["lenses"]}

    def value(lens):
        return shown[lens]["errors"][0]["value"]

    assert value("confidence") == close(naive_ece(right, p.max(axis=1), 8))
    classes = [naive_ece(y == name[2:], animals[name], 8) for name in prob]
    assert value("classwise") == close(np.mean(classes))
    for k, name in enumerate(("cat", "dog", "fox")):
        assert value(f"class {name}") == close(classes[k])
    for lens, chosen in (("class dog", ClassSpecific("dog")), ("classwise", Classwise())):
        named = pd.Series(y, name="label")
        wanted = evaluate(named, p, labels=["cat", "dog", "fox"], lens=chosen)
        assert shown[lens]["verdict"] == wanted.verdict.text


@pytest.mark.parametrize("method", ["isotonic", "smooth", "density"])
def test_curves_without_bins(studio, ill, method):
    studio.use("ill.csv", **IS_ILL)
    y, p = (ill["state"] == "ill").astype(int), ill["p"]
    first = rows_of(studio.get("live", method=method)["chart"]["html"])[0]
    wanted = reliability_curve(y, p, method=method, interval=None)
    assert float(first["observed"]) == pytest.approx(wanted.observed[0], abs=5e-5)


def test_the_first_diagram_is_that_of_an_evaluation(studio, ill):
    studio.use("ill.csv", **IS_ILL)
    y, p = (ill["state"] == "ill").astype(int), ill["p"]
    shown = rows_of(studio.get("live", method="auto")["chart"]["html"])
    wanted = evaluate(y, p, n_resamples=20).display.curve
    assert [float(row["observed"]) for row in shown] == pytest.approx(wanted.observed, abs=5e-5)


def test_groups_are_evaluated_by_themselves(studio, ill):
    studio.use("ill.csv", **IS_ILL, by="g")
    found = studio.get("groups")["groups"]
    y, p = (ill["state"] == "ill").astype(int), ill["p"]
    wanted = {key: naive_ece(y[ill["g"] == key], p[ill["g"] == key], 15) for key in ("a", "b")}
    assert {row["group"]: row["value"] for row in found} == {k: close(v) for k, v in wanted.items()}
    assert found[0]["adjusted"] <= found[1]["adjusted"]  # worst first
    joint = evaluate(y, p, by=ill["g"]).verdict.joint
    tested = {part.label: part.adjusted for part in joint.parts if part.name == "group"}
    assert {row["group"]: row["adjusted"] for row in found} == tested


def test_the_first_answer_of_a_lens_is_that_of_a_later_one(multiclass):
    sample = check_sample(multiclass.y, multiclass.p, caller="test")
    base = LensView(SampleSource(sample, Confidence()))
    for lens in (ClassSpecific(1), Classwise()):
        rows = SampleSource(sample, lens, asked=True)
        light = LensView(rows, base).evaluation(15, "uniform")
        own = LensView(rows)
        assert light.verdict == own.evaluation(15, "uniform").verdict
        assert light.scores == own.full.scores
        assert light.slope.estimate == close(own.full.slope.estimate)


def test_rows_in_any_order_read_alike(binary):
    sample = check_sample(binary.y, binary.p, caller="test")
    turned = check_sample(binary.y[::-1], binary.p[::-1], caller="test")
    first, second = (
        LensView(SampleSource(each, Binary())).evaluation(11, "uniform")
        for each in (sample, turned)
    )
    assert first.verdict.text == second.verdict.text
    assert first.default.pvalue == second.default.pvalue


@pytest.mark.parametrize("query", [
    {"n_bins": 0}, {"n_bins": 51}, {"n_bins": "x"}, {"n_bins": 2.5}, {"lens": "class nobody"},
    {"method": "magic"}, {"strategy": "magic"},
])  # fmt: skip
def test_odd_questions_are_explained(studio, refused, query):
    studio.use("ill.csv", **IS_ILL)
    found = refused(studio.client.get("/api/live", params=query), 400)
    assert next(iter(query)) in found["error"]
    assert found["hint"]


@pytest.mark.parametrize("body", [
    {"y": "", "prob": ["p"]}, {"y": "state", "prob": []}, {"y": "state", "prob": ["w"]},
    {"y": "nothing", "prob": ["p"]}, {"y": "state", "prob": ["p"], "positive": 7},
    {"y": "state", "prob": ["p"], "positive": True}, {"y": "g", "prob": ["state"]},
])  # fmt: skip
def test_odd_columns_are_explained(studio, refused, body):
    opened = studio.post("open", name="ill.csv")
    found = refused(studio.client.post("/api/use", json={"id": opened["id"], **body}), 400)
    assert found["hint"]


def test_ten_thousand_classes(studio):
    n, k = 10, 10_000
    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.full(k, 0.01), n)
    header = ",".join(["y", *(f"p_{j}" for j in range(k))])
    path = studio.settings.folder / "wide.csv"
    lines = [f"{rng.integers(k)}," + ",".join(f"{x:.3g}" for x in row) for row in p]
    path.write_text("\n".join([header, *lines]))
    opened = studio.post("open", name="wide.csv")
    path.unlink()
    assert len(opened["columns"]) == k + 1
    assert len(opened["rows"][0]) == 30  # the preview stays small
