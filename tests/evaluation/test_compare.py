"""`compare`: the same figures as the functions it is made of, and its warnings."""

import json

import numpy as np
import pytest

import veridical as v
from veridical import InvalidInputError, VeridicalWarning
from veridical.evaluation import compare, grid_summary
from veridical.inference import paired_difference
from veridical.results import Comparison


def sharpened(p, power):
    return p**power / (p**power + (1 - p) ** power)


@pytest.fixture
def models():
    rng = np.random.default_rng(1)
    q = rng.random(800)
    y = (rng.random(800) < q).astype(int)
    return {"good": q, "sharp": sharpened(q, 1.8), "dull": 0.25 + 0.5 * q}, y


def test_figures_are_those_of_the_single_functions(models):
    predictions, y = models
    c = compare(predictions, y)
    assert c.models == ("good", "sharp", "dull")
    for name, p in predictions.items():
        assert c.evaluation(name).scores["brier"] == v.brier_score(y, p)
        assert c.test(name).statistic == v.BinnedError()(y, p)
        assert c.evaluation(name).error("ECE").value == c.test(name).statistic
    for estimator, name in ((v.BrierScore(), "brier"), (v.BinnedError(norm=2), None)):
        one = paired_difference(estimator, y, predictions["good"], predictions["dull"])
        assert c.difference("good", "dull", name or one.estimator) == one


@pytest.mark.parametrize("rng", [None, 3, "generator"])
def test_equal_models_have_equal_null_levels(models, rng):
    (p, *_), y = list(models[0].values()), models[1]
    rng = np.random.default_rng(5) if rng == "generator" else rng
    c = compare({"one": p, "same": p.copy()}, y, rng=rng, n_resamples=99)
    one, same = c.test("one"), c.test("same")
    assert one.pvalue == same.pvalue
    np.testing.assert_array_equal(one.null_level.sample, same.null_level.sample)
    assert c.evaluation("one") == c.evaluation("same")


def test_differences_are_found_either_way_round(models):
    predictions, y = models
    c = compare(predictions, y, n_resamples=99)
    one, two = c.difference("good", "dull", "log"), c.difference("dull", "good", "log")
    assert two.estimate == -one.estimate
    assert (two.low, two.high, two.first) == (-one.high, -one.low, one.second)
    assert two.pvalue == one.pvalue


def test_holm_counts_the_pairs(models):
    predictions, y = models
    c = compare(predictions, y)
    assert len(c.differences) == 3 * 4
    brier = [d for d in c.differences if d.difference.estimator == "brier"]
    raw = sorted(d.difference.pvalue for d in brier)
    assert min(d.adjusted for d in brier) == pytest.approx(3 * raw[0])


def test_a_reference_is_compared_with_every_other_model(models):
    predictions, y = models
    c = compare(predictions, y, reference="dull")
    assert {(d.first, d.second) for d in c.differences} == {("good", "dull"), ("sharp", "dull")}


def test_consistency_tells_the_calibrated_model_from_the_others(models):
    predictions, y = models
    c = compare(predictions, y)
    assert c.test("good").pvalue > 0.05
    assert c.test("sharp").pvalue == c.test("dull").pvalue == 1 / 1001
    assert not c.notes


def test_warns_where_the_smaller_error_is_the_real_one():
    # Few distinct values make a small null level; many bins of few rows a large one.
    rng = np.random.default_rng(3)
    n = 300
    q = rng.random(n)
    y = (rng.random(n) < q).astype(int)
    high, low = y[q > 0.5].mean(), y[q <= 0.5].mean()
    predictions = {"noisy": q, "coarse": np.where(q > 0.5, high + 0.07, low - 0.07)}
    with pytest.warns(VeridicalWarning) as caught:
        c = compare(predictions, y)
    assert c.test("noisy").statistic > c.test("coarse").statistic
    assert c.test("noisy").pvalue > 0.05 >= c.test("coarse").pvalue
    assert any("only the latter" in str(w.message) for w in caught)
    assert any("'noisy'" in note and "larger" in note for note in c.notes)


@pytest.mark.parametrize("lens", [None, "classwise", "canonical"])
@pytest.mark.filterwarnings("ignore:compare. .*mostly noise")
def test_several_classes_through_every_lens(lens, multiclass):
    y, p = multiclass.y, multiclass.p
    softer = np.sqrt(p) / np.sqrt(p).sum(axis=1, keepdims=True)
    c = compare({"p": p, "softer": softer}, y, lens=lens, n_resamples=100)
    assert c.lens == (lens or "confidence")
    brier = c.difference("p", "softer", "brier")
    assert brier.first == pytest.approx(v.brier_score(y, p), rel=1e-12)
    assert brier.estimate == pytest.approx(v.brier_score(y, p) - v.brier_score(y, softer))


def test_infinite_log_scores_are_left_out_and_said():
    y, p = [0, 1] * 100, [0.3, 0.6] * 100
    certain = [0.3, 0.6] * 99 + [1.0, 0.6]
    with pytest.warns(VeridicalWarning, match="infinite"):
        c = compare({"p": p, "certain": certain}, y, n_bins=2)
    assert {d.difference.estimator for d in c.differences} == {
        "brier",
        "zero-one",
        "squared RMSCE debiased",
    }


def test_weights_clusters_and_labels(models):
    predictions, y = models
    names = np.array(["no", "yes"])[y]
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = compare(predictions, names, sample_weight=weight, weight_type="frequency")
    repeated = compare({k: p[rows] for k, p in predictions.items()}, y[rows])
    for a, b in zip(weighted.differences, repeated.differences, strict=True):
        assert a.difference.low == pytest.approx(b.difference.low, abs=1e-9)
    assert weighted.test("good").pvalue == repeated.test("good").pvalue
    clustered = compare({k: p[rows] for k, p in predictions.items()}, y[rows], groups=rows)
    wider = clustered.difference("good", "dull", "brier").width
    assert wider > repeated.difference("good", "dull", "brier").width


def test_same_seed_same_comparison(models):
    predictions, y = models
    assert compare(predictions, y) == compare(predictions, y)
    other = compare(predictions, y, rng=5)
    assert other.test("good").null_level != compare(predictions, y).test("good").null_level


@pytest.mark.parametrize(
    ("predictions", "options", "what"),
    [
        ([0.1, 0.2], {}, "predictions"),
        ({"a": [0.1, 0.2]}, {}, "predictions"),
        ({"a": [0.1, 0.2], 2: [0.1, 0.2]}, {}, "predictions"),
        ({"a": [0.1, 0.2], "b": [0.1, 0.2]}, {"reference": "c"}, "reference"),
        ({"a": [0.1, 0.2], "b": [[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]]}, {}, "predictions"),
    ],
)
def test_bad_models_are_refused(predictions, options, what):
    with pytest.raises(InvalidInputError, match=f"`{what}`"):
        compare(predictions, [0, 1], **options)


def test_summaries_are_refused_with_the_reason():
    table = grid_summary([0, 1], [0.1, 0.2])
    for call in ({"a": table, "b": table}, [0, 1]), ({"a": [0.1, 0.2], "b": [0.3, 0.4]}, table):
        with pytest.raises(InvalidInputError, match="how its rows go with those of another"):
            compare(*call)


def test_an_error_names_the_model():
    with pytest.raises(InvalidInputError, match="Model: 'b'"):
        compare({"a": [0.1, 0.2], "b": [0.1, 1.2]}, [0, 1])


def test_result_prints_and_reads_back(models):
    predictions, y = models
    c = compare({"<a>": predictions["good"], "b": predictions["dull"]}, y, n_resamples=99)
    assert Comparison.from_dict(json.loads(c.to_json())) == c
    text = str(c)
    assert "Comparison of 2 models on 800 rows" in text
    assert "<a> - b" in text
    assert "&lt;a&gt; - b" in c._repr_html_()
    assert "<a>" not in c._repr_html_()
    assert c.to_frame().shape == (4, 11)
    with pytest.raises(KeyError, match="must be one of"):
        c.evaluation("c")
    with pytest.raises(KeyError, match="must be one of"):
        c.difference("<a>", "b", "auc")
