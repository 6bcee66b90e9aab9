"""AutoCalibrator: decisions, weights, evidence, limits of time, persistence, borders."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, softmax
from scipy.stats import norm
from sklearn.base import clone

from veridical.calibrators import (
    AveragedCalibrator,
    Calibrator,
    HistogramCalibrator,
    IdentityCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
    VennAbersCalibrator,
)
from veridical.exceptions import InvalidInputError, VeridicalWarning
from veridical.selection import AutoCalibrator
from veridical.selection._auto import gate
from veridical.selection._auto.choice import TriedCandidate, shares_of
from veridical.selection._auto.gate import identity_share
from veridical.selection._auto.weighing import Judge, pool_weights, stand_in

FEW = {"temperature": TemperatureCalibrator(), "platt": PlattCalibrator()}


def binary(n, seed=0, slope=2.0, shift=0.0):
    """Predictions whose log odds are `slope` times too large, and off by `shift`."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, n)
    return expit(slope * z + shift), (rng.random(n) < expit(z)).astype(int)


def several(n, n_classes, seed=0, power=2.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, (n, n_classes))
    p = softmax(z, axis=1)
    return softmax(power * z, axis=1), (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)


def log_loss(p, y):
    return -np.log(p[np.arange(len(y)), y]).mean()


def test_repairs_what_is_wrong():
    p, y = binary(1000)
    new, outcome = binary(20_000, seed=1)
    after = AutoCalibrator().fit(p, y).predict_proba(new)
    truth = expit(np.log(new / (1 - new)) / 2)
    best = log_loss(np.column_stack([1 - truth, truth]), outcome)
    before = log_loss(np.column_stack([1 - new, new]), outcome)
    assert log_loss(after, outcome) - best < 0.1 * (before - best)


def test_repairs_several_classes():
    p, y = several(1500, 4)
    new, outcome = several(20_000, 4, seed=1)
    after = AutoCalibrator().fit(p, y).predict_proba(new)
    root = np.sqrt(new) / np.sqrt(new).sum(axis=1, keepdims=True)
    best, before = log_loss(root, outcome), log_loss(new, outcome)
    assert log_loss(after, outcome) - best < 0.1 * (before - best)


def test_leaves_a_calibrated_model_nearly_alone():
    """Pooled over samples, the excess loss is below a third of that of Platt scaling."""
    excess = {"auto": [], "platt": []}
    for seed in range(12):
        p, y = binary(300, seed=seed, slope=1.0)
        new, outcome = binary(20_000, seed=100 + seed, slope=1.0)
        own = log_loss(np.column_stack([1 - new, new]), outcome)
        for name, map_ in (("auto", AutoCalibrator()), ("platt", PlattCalibrator(penalty=None))):
            excess[name].append(log_loss(map_.fit(p, y).predict_proba(new), outcome) - own)
    assert np.mean(excess["auto"]) < 0.6 * np.mean(excess["platt"])


def test_a_calibrated_model_is_not_said_to_gain():
    """Sound maps have a share all the same; the verdict says that nothing is shown."""
    p, y = binary(400, slope=1.0)
    auto = AutoCalibrator().fit(p, y)
    result = auto.evidence_.candidates[-1]
    assert result.low < 0 < result.high
    assert "no gain is shown, the model may as well be left alone" in auto.evidence_.verdict
    changed, own = binary(2000)
    assert "no gain" not in AutoCalibrator().fit(changed, own).evidence_.verdict


def test_closed_gate_changes_nothing():
    """Where the map is clearly worse, predictions come back unchanged, and it says so."""
    p, y = binary(400, slope=1.0)
    worse = {"histogram": HistogramCalibrator(n_bins=100)}
    auto = AutoCalibrator(candidates=worse).fit(p, y)
    assert auto.evidence_.candidate("histogram").low > 0
    assert auto.evidence_.candidate("identity").weight == 1
    assert "Leave the model alone" in auto.evidence_.verdict
    np.testing.assert_array_equal(auto.predict_proba(p)[:, 1], p)


def test_selects_the_simplest_within_one_standard_error():
    p, y = binary(2000)
    auto = AutoCalibrator(strategy="select").fit(p, y)
    chosen = [c for c in auto.evidence_.candidates if c.chosen]
    assert [c.candidate for c in chosen] == ["temperature"]
    fitted = TemperatureCalibrator().fit(p, y)
    np.testing.assert_allclose(auto.predict_proba(p), fitted.predict_proba(p), rtol=1e-12)


def test_selects_the_identity_of_a_calibrated_model():
    p, y = binary(2000, slope=1.0)
    auto = AutoCalibrator(strategy="select").fit(p, y)
    assert isinstance(auto.calibrator_, IdentityCalibrator)
    assert "Leave the model alone" in auto.evidence_.verdict


def test_evidence_is_what_a_naive_cross_fit_finds():
    """Held-out losses of one candidate, from folds written out by hand."""
    from veridical.calibrators._base.folds import held_out_masses
    from veridical.calibrators._base.rows import CheckedRows

    p, y = binary(700)
    auto = AutoCalibrator(candidates=FEW).fit(p, y)
    losses, hindsight = np.empty(700), None
    for held in held_out_masses(CheckedRows(p, y, None, "importance", (0, 1)), 10):
        out = held > 0
        q = PlattCalibrator().fit(p[~out], y[~out]).predict_proba(p)[np.arange(700), y]
        losses[out] = -np.log(q[out])
        hindsight = (~out, -np.log(q)) if hindsight is None else hindsight
    own = -np.log(np.where(y == 1, p, 1 - p))
    row = auto.evidence_.candidate("platt")
    assert row.log_loss == pytest.approx(losses.mean(), rel=1e-12)
    assert row.difference == pytest.approx((losses - own).mean(), rel=1e-9)
    first, seen = hindsight
    optimism = (losses - seen)[first].mean()  # about 2 / n
    assert 1 / 700 < optimism < 4 / 700
    spread = np.hypot((losses - own).std(), np.sqrt(min(700 * optimism**2, 2 * optimism)))
    spread /= np.sqrt(700)
    assert row.high - row.low == pytest.approx(2 * 1.959964 * spread, rel=1e-6)


def test_weights_of_the_evidence_are_those_of_the_map():
    p, y = several(400, 4)
    auto = AutoCalibrator().fit(p, y)
    total = sum(c.weight for c in auto.evidence_.candidates[:-1])
    assert total == pytest.approx(1.0)
    assert isinstance(auto.calibrator_, AveragedCalibrator)
    by_hand = sum(
        w * part.predict_proba(p)
        for w, part in zip(auto.calibrator_.weights_, auto.calibrator_.parts_, strict=True)
    )
    np.testing.assert_allclose(auto.predict_proba(p), by_hand, rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_order_of_rows_does_not_matter(n_classes):
    p, y = several(150, n_classes)
    order = np.random.default_rng(5).permutation(150)
    first = AutoCalibrator().fit(p, y).predict_proba(p)
    second = AutoCalibrator().fit(p[order], y[order]).predict_proba(p)
    np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-9)


def test_frequencies_are_repetitions():
    p, y = binary(60)
    w = np.random.default_rng(2).integers(1, 4, 60)
    weighted = AutoCalibrator(weight_type="frequency", candidates=FEW).fit(p, y, w)
    with pytest.warns(VeridicalWarning, match="124 rows count as 60"):
        repeated = AutoCalibrator(candidates=FEW).fit(np.repeat(p, w), np.repeat(y, w))
    assert any("count as 60" in note for note in weighted.evidence_.notes)  # who says so knows
    np.testing.assert_allclose(weighted.predict_proba(p), repeated.predict_proba(p), rtol=1e-7)


def test_weight_zero_is_removal_and_scale_is_nothing():
    p, y = binary(120)
    w = np.random.default_rng(3).uniform(0.5, 2, 120)
    w[::5] = 0
    kept = w > 0
    first = AutoCalibrator(candidates=FEW).fit(p, y, w).predict_proba(p)
    second = AutoCalibrator(candidates=FEW).fit(p[kept], y[kept], 7 * w[kept]).predict_proba(p)
    np.testing.assert_allclose(first, second, rtol=1e-9)


def test_string_labels_and_a_positive_class_that_comes_first():
    p, y = binary(200)
    names = np.where(y == 1, "yes", "no")
    columns = np.column_stack([p, 1 - p])
    auto = AutoCalibrator(candidates=FEW, labels=["yes", "no"]).fit(columns, names)
    plain = AutoCalibrator(candidates=FEW).fit(p, y)
    assert auto.classes_.tolist() == ["yes", "no"]
    np.testing.assert_allclose(auto.predict_proba(columns), plain.predict_proba(p)[:, ::-1])


def test_logits_and_scores():
    p, y = binary(500)
    z = np.log(p / (1 - p))
    from_logits = AutoCalibrator(input="logit", candidates=FEW).fit(z, y).predict_proba(z)
    from_p = AutoCalibrator(candidates=FEW).fit(p, y).predict_proba(p)
    np.testing.assert_allclose(from_logits, from_p, atol=1e-3)  # tails are floored at what was seen
    scores = AutoCalibrator(input="score").fit(100 * z - 3, y)
    assert "identity" not in [c.candidate for c in scores.evidence_.candidates]
    assert log_loss(scores.predict_proba(100 * z - 3), y) < log_loss(np.column_stack([1 - p, p]), y)


def test_exact_zeros_do_not_decide():
    """One impossible outcome that happened does not turn everything into the identity or NaN."""
    p, y = binary(300)
    p[:20], y[:20], y[0] = 0.0, 0, 1
    auto = AutoCalibrator().fit(p, y)
    after = auto.predict_proba(p)
    assert np.all(np.isfinite(after))
    assert after[0, 1] > 0
    assert np.isfinite(auto.evidence_.candidate("identity").log_loss)


@pytest.mark.parametrize("y", [[0, 1], [0, 1, 1], [1, 1, 1, 1]])
def test_hardly_any_rows(y):
    p = np.linspace(0.3, 0.8, len(y))
    auto = AutoCalibrator(labels=[0, 1]).fit(p, y)
    after = auto.predict_proba(p)
    np.testing.assert_allclose(after.sum(axis=1), 1)
    assert any("few" in note for note in auto.evidence_.notes)


def test_constant_predictions():
    y = np.repeat([0, 1], [30, 10])
    after = AutoCalibrator().fit(np.full(40, 0.5), y).predict_proba([0.5])
    assert 0.2 < after[0, 1] < 0.5


def test_limit_of_time_leaves_candidates_out():
    p, y = several(3000, 5)
    auto = AutoCalibrator(max_seconds=1e-3).fit(p, y)
    tried = [c for c in auto.evidence_.candidates if c.log_loss is not None]
    left_out = [c for c in auto.evidence_.candidates if "time was up" in c.note]
    assert [c.candidate for c in tried] == ["identity", "ensemble temperature", "pool"]
    assert len(left_out) >= 3
    assert not any(c.chosen for c in left_out)


def test_many_rows_are_compared_in_part_and_fitted_whole():
    p, y = binary(120_000)
    auto = AutoCalibrator(candidates=FEW).fit(p, y)
    assert auto.evidence_.n_used <= 50_000
    assert any("then fitted to all 120,000" in note for note in auto.evidence_.notes)
    pool = auto.calibrator_.calibrator  # what the one function follows, not fitted
    whole = [clone(part).fit(p, y).predict_proba(p[:9]) for part in pool.calibrators]
    average = np.tensordot(pool.weights, whole, axes=1)
    np.testing.assert_allclose(auto.predict_proba(p[:9]), average, rtol=0, atol=1e-6)
    kept = AutoCalibrator(candidates=FEW, compact=False).fit(p, y)
    np.testing.assert_allclose(kept.predict_proba(p[:9]), average, rtol=0, atol=1e-12)


@pytest.mark.parametrize("strategy", ["pool", "select"])
def test_survives_json(strategy):
    p, y = several(120, 3)
    auto = AutoCalibrator(strategy=strategy).fit(p, y)
    again = Calibrator.from_dict(json.loads(json.dumps(auto.to_dict())))
    assert isinstance(again, AutoCalibrator)
    assert again.evidence_ == auto.evidence_
    np.testing.assert_array_equal(again.predict_proba(p), auto.predict_proba(p))


def test_evidence_prints_and_tabulates():
    p, y = binary(200)
    evidence = AutoCalibrator().fit(p, y).evidence_
    assert str(evidence).splitlines()[0].startswith("Evidence from 200 rows of 2 classes")
    frame = evidence.to_frame()
    assert frame["candidate"].to_list()[0] == "identity"
    assert {"log_loss", "brier", "difference", "low", "high", "seconds", "chosen"} <= set(
        frame.columns
    )
    assert "<table" in evidence._repr_html_()
    with pytest.raises(KeyError, match="must be one of"):
        evidence.candidate("nobody")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"strategy": "pol"}, "pool"),
        ({"candidates": []}, "at least one"),
        ({"candidates": [PlattCalibrator(), PlattCalibrator()]}, "different names"),
        ({"candidates": {"identity": PlattCalibrator()}}, "different names"),
        ({"candidates": ["platt"]}, "calibrators"),
        ({"max_seconds": 0}, "positive"),
        ({"confidence_level": 1.5}, "confidence_level"),
    ],
)
def test_bad_options(options, match):
    with pytest.raises(InvalidInputError, match=match):
        AutoCalibrator(**options).fit([0.2, 0.8], [0, 1])


def test_a_candidate_that_cannot_be_fitted_says_so():
    p, y = several(200, 3)
    maps = {"temperature": TemperatureCalibrator(), "venn": VennAbersCalibrator()}
    evidence = AutoCalibrator(candidates=maps).fit(p, y).evidence_
    assert "cannot be fitted" in evidence.candidate("venn").note


def test_pool_weights_are_optimal():
    """At the optimum, moving weight between maps cannot help: checked by a fine grid."""
    rng = np.random.default_rng(0)
    given = rng.uniform(0.05, 0.95, (80, 2))
    found = pool_weights(given, np.ones(80), 5.0)
    grid = np.linspace(1e-4, 1 - 1e-4, 20_001)
    value = np.log(np.outer(given[:, 0], grid) + np.outer(given[:, 1], 1 - grid)).sum(axis=0)
    value += 2.5 * (np.log(grid) + np.log(1 - grid))
    assert found[0] == pytest.approx(grid[value.argmax()], abs=2e-4)


def test_zeros_stand_for_half_the_smallest_share():
    assert stand_in(np.array([[0.0, 1.0], [0.02, 0.98]])) == 0.01
    assert stand_in(np.array([[0.0, 1.0]])) == 1 / 8  # at most a quarter of a uniform share
    judge = Judge(np.array([0, 1]), np.ones(2), by_frequency=False, size=2.0, floor=0.01, ends=(2,),
                  fold=np.arange(2))  # fmt: skip
    # One of them happened, so both rows are (0.01, 1) divided by 1.01.
    found = judge.outcome(np.array([[0.0, 1.0], [0.0, 1.0]]))
    np.testing.assert_allclose(found, [0.01 / 1.01, 1 / 1.01], rtol=1e-15)
    # None did: they cost nothing.
    np.testing.assert_array_equal(judge.outcome(np.array([[1.0, 0.0], [0.0, 1.0]])), [1.0, 1.0])
    assert judge.surprises(np.array([[0.0, 1.0], [0.0, 1.0]])) == 1


def test_zeros_that_nothing_contradicts_cost_nothing():
    """Rounded predictions that are exactly calibrated: evidence of the identity is its log loss."""
    rng = np.random.default_rng(1)
    p = rng.beta(0.4, 0.4, 400).round(1)
    y = (rng.random(400) < p).astype(int)
    evidence = AutoCalibrator().fit(p, y).evidence_
    own = -np.log(np.where(y == 1, p, 1 - p)).mean()
    assert evidence.candidate("identity").log_loss == pytest.approx(own, rel=1e-12)
    assert evidence.candidate("identity").weight > 0.5
    assert not evidence.notes


def test_zeros_that_happened_are_said():
    p, y = binary(300)
    p[:20], y[:20], y[0] = 0.0, 0, 1
    assert "probability 0 to 1 outcome" in " ".join(AutoCalibrator().fit(p, y).evidence_.notes)


@pytest.mark.parametrize("strategy", ["pool", "select"])
@pytest.mark.parametrize("k", [2, 4])
def test_a_model_whose_zeros_happen_is_not_left_alone(strategy, k):
    """A tree that is sure of everything and wrong in 2 of 10 cases: no zero is repeated."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, 1000)
    said = np.where(rng.random(1000) < 0.2, (y + 1) % k, y)
    p = np.eye(k)[said]
    after = AutoCalibrator(strategy=strategy).fit(p, y).predict_proba(p)
    happened = after[np.arange(1000), y]
    # Right in 8 of 10 cases: -0.8 log 0.8 - 0.2 log 0.2 = 0.500 is the best there is for two.
    assert -np.log(happened).mean() < (0.52 if k == 2 else 0.9)


def test_gate_is_the_normal_tail():
    """Differences 0 and 2 of equal weight: mean 1, standard error 1 / sqrt 2; 0.9 are taken off."""
    judge = Judge(
        np.zeros(2, dtype=int), np.ones(2), by_frequency=False, size=1e4, floor=1e-12, ends=(2,),
        fold=np.arange(2),
    )  # fmt: skip
    share = identity_share(judge, np.exp([0.0, 2.0]), np.ones(2))
    assert share == pytest.approx(norm.sf(np.sqrt(2) - 0.9), rel=1e-9)
    assert identity_share(judge, np.exp([2.0, 4.0]), np.ones(2)) == 0.0  # hardly any
    assert identity_share(judge, np.exp([-1.0, -3.0]), np.ones(2)) == 1.0  # clearly worse


@pytest.mark.parametrize(("k", "least"), [(2, 0.25), (3, 0.3)])
def test_sound_maps_get_a_share_however_they_did(k, least):
    """All of it, unless the model leaves next to nothing to chance."""
    n = 100
    judge = Judge(
        np.arange(n) % k, np.ones(n), by_frequency=False, size=n, floor=1e-12, ends=(n,),
        fold=np.zeros(n, dtype=int), n_classes=k, own=np.full((n, k), 1 / k),
    )  # fmt: skip
    worse = np.exp(-1.0 - np.arange(n) % 2)
    assert identity_share(judge, worse, np.ones(n)) == 1.0
    assert identity_share(judge, worse, np.ones(n), sound=True) == pytest.approx(1 - least)
    # n p (1 - p) (k - 1) / k is 1 where p is this: two fifths of the 2.5 that are enough
    p = (1 - np.sqrt(1 - 4 * k / (k - 1) / n)) / 2
    sure = replace(judge, own=np.tile([1 - (k - 1) * p] + [p] * (k - 1), (n, 1)))
    share = identity_share(sure, worse, np.ones(n), sound=True)
    assert share == pytest.approx(1 - 0.4 * least)
    certain = replace(judge, own=np.tile(np.eye(k)[0], (n, 1)))
    assert identity_share(certain, worse, np.ones(n), sound=True) == 1.0


def test_no_more_than_speaks_for_them_of_maps_that_are_shown_to_be_worse():
    """Each of 400 rows loses by the maps, so surely that not even a quarter of them stays."""
    n = 400
    rng = np.random.default_rng(0)
    own = rng.uniform(0.3, 0.7, n)
    y = (rng.random(n) < own).astype(int)
    p = np.column_stack([1 - own, own])
    judge = Judge(
        y, np.ones(n), by_frequency=False, size=n, floor=1e-12, ends=(n,),
        fold=np.zeros(n, dtype=int), own=p,
    )  # fmt: skip
    given = judge.outcome(p)
    tried = [TriedCandidate("worse", IdentityCalibrator(), None, safe=True)]
    for loss, kept in ((0.01, 0.75), (0.5, 1.0)):  # of the first, a quarter is noise
        noisy = given * np.exp(-loss + 0.3 * (loss < 0.1) * rng.normal(size=n))
        found = shares_of(judge, noisy[:, None], given, tried, "pool", shipped=False)
        assert found.identity + found.maps.sum() == pytest.approx(1)
        assert found.identity == pytest.approx(
            kept * gate.standby(judge, given, noisy)[0], rel=1e-9
        )


def test_what_is_averaged_is_explained_by_its_weights():
    rng = np.random.default_rng(8)
    p = rng.beta(0.5, 0.5, 400)
    y = rng.random(400) < 1 / (1 + (1 / p - 1) ** 0.5)
    auto = AutoCalibrator().fit(p, y)
    words = auto.explain()
    weights = {each.candidate: each.weight for each in auto.evidence_.candidates[:-1]}
    named = [name for name, weight in weights.items() if weight > 0]
    assert f"{len(named)} maps" in words
    for name in sorted(named, key=lambda name: -weights[name])[:4]:
        assert f"{weights[name]:.2g} {name}" in words


def test_a_model_that_is_left_alone_calls_nothing_impossible():
    p, y = [0.0] * 50 + [1.0] * 50, [0] * 50 + [1] * 50
    auto = AutoCalibrator().fit(p, y)
    least = 1 / 102 / 2  # Laplace's rule for one hundred rows, shared by two classes
    expected = [[1 - least, least], [0.5, 0.5], [least, 1 - least]]
    np.testing.assert_allclose(auto.predict_proba([0.0, 0.5, 1.0]), expected, rtol=0, atol=1e-9)


def test_a_fitted_one_shows_its_map_and_evidence_below_the_form_of_scikit_learn():
    p, y = binary(300)
    plain, fitted = AutoCalibrator(), AutoCalibrator().fit(p, y)
    for form in (fitted._repr_html_(), fitted._repr_mimebundle_()["text/html"]):
        assert "sk-container" in form
        assert form.count('class="vd"') == 2
        assert form.count("held out in") == 1
    assert "held out in" not in plain._repr_html_()
    assert repr(fitted) == "AutoCalibrator()"
