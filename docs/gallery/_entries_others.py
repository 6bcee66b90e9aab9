"""Gallery: the simplex, maps of calibrators, scores, tests, training, models and decisions.

`forecasts` and `votes` make the data.
"""

from __future__ import annotations

import numpy as np
from _entry import Entry

import veridical as v
from veridical import plots
from veridical.planning import CostProcess, simulate_decisions
from veridical_lab import plots as lab_plots


def forecasts(n=2000, seed=0):
    """Outcomes, and forecasts that are not extreme enough."""
    rng = np.random.default_rng(seed)
    p = rng.beta(1.5, 1.5, n)
    return (rng.random(n) < p**2 / (p**2 + (1 - p) ** 2)).astype(int), p


def votes(n=6000, n_classes=3, seed=0):
    """Labels of several classes, and probabilities that are too sure of the likely ones."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.linspace(0.6, 1.2, n_classes), n)
    truth = p**0.6 / (p**0.6).sum(axis=1, keepdims=True)
    index = (rng.random(n)[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(max=n_classes - 1)
    return np.array(["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen"])[index], p


def draw_simplex():
    y, p = votes()
    return plots.simplex(y, p).figure


def draw_simplex_variability():
    y, p = votes(800)
    return plots.simplex(y, p, binning=v.VarianceSplitBins(150), variability=True).figure


def draw_simplex_groups():
    y, p = votes(5000, n_classes=8)
    others = ["elk", "fox", "gnu", "hen"]
    groups = v.Grouped({"insects": ["ant", "bee"], "pets": ["cat", "dog"], "others": others})
    return plots.simplex(y, p, lens=groups, n_bins=5, show="both").figure


def draw_tetrahedron():
    y, p = votes(4000, n_classes=4)
    return plots.simplex(y, p).figure


def draw_map():
    y, p = forecasts()
    maps = {
        "Platt": v.PlattCalibrator().fit(p, y),
        "isotonic": v.IsotonicCalibrator().fit(p, y),
    }
    return plots.calibration_map(maps, y, p).figure


def draw_map_after():
    y, p = forecasts()
    return plots.calibration_map(v.BetaCalibrator().fit(p, y), y, p, after=True).figure


def draw_map_simplex():
    y, p = votes(2000)
    return plots.calibration_map(v.DirichletCalibrator().fit(p, y), y, p).figure


def draw_simplex_function():
    # What deciding costs: the cheapest of three actions, and a prediction between them is dear.
    costs = np.array([[0, 4, 9], [1, 0, 4], [3, 2, 0]])
    p = votes(300)[1]
    names = ["ant", "bee", "cat"]
    return lab_plots.simplex_function(
        lambda p: (p @ costs.T).min(axis=1), classes=names, name="expected cost", predictions=p
    ).figure


def draw_scores():
    y, p = forecasts()
    return plots.scores(np.where(y == 1, "paid back", "defaulted"), p).figure


def draw_scores_classes():
    y, p = votes(n_classes=8)
    return plots.scores(y, p).figure


def draw_decomposition():
    y, p = forecasts()
    sharp = p**2 / (p**2 + (1 - p) ** 2)
    parts = {
        "as given": v.decompose(y, p),
        "calibrated": v.decompose(y, sharp),
        "hesitant": v.decompose(y, 0.3 + 0.4 * sharp),
    }
    return plots.decomposition(parts).figure


def draw_null():
    y, p = forecasts(100, seed=4)
    return plots.null(y, p).figure


def draw_convergence():
    estimators = {"15 bins": v.BinnedError(norm=2), "debiased": v.BinnedError(norm=2, debias=True)}
    found = {name: {} for name in estimators}
    for n in (50, 150, 500, 1500, 5000):
        samples = [forecasts(n, seed=seed) for seed in range(60)]
        for name, estimator in estimators.items():
            found[name][n] = [estimator(y, p) for y, p in samples]
    truth = v.BinnedError(norm=2)(*forecasts(1_000_000, seed=60))
    return lab_plots.convergence(found, truth=truth).figure


def draw_trajectory():
    y, p = forecasts(3000)
    # Log odds grow with every epoch; they are right at the tenth, and too large afterwards.
    odds = (p / (1 - p)) ** 2
    epochs = {}
    for epoch in range(2, 21, 2):
        epochs[epoch] = v.evaluate(y, 1 / (1 + odds ** (-epoch / 10)), n_resamples=200)
    return lab_plots.trajectory(epochs).figure


def models():
    """Three models of the same rows."""
    y, p = forecasts(1500)
    sharp = p**2 / (p**2 + (1 - p) ** 2)
    return v.compare({"as given": p, "calibrated": sharp, "hesitant": 0.3 + 0.4 * sharp}, y)


def draw_comparison():
    return plots.comparison(models()).figure


def draw_differences():
    return plots.comparison(models(), show="differences", figure="brier").figure


def draw_evidence():
    from veridical.selection import AutoCalibrator

    y, p = forecasts()
    return plots.evidence(AutoCalibrator().fit(p, y).evidence_).figure


def draw_critical_difference():
    rng = np.random.default_rng(0)
    names = ["beta", "Platt", "spline", "isotonic", "histogram", "identity"]
    losses = {name: rng.normal(0.5 * i, 1.0, 20) for i, name in enumerate(names)}
    return lab_plots.critical_difference(losses).figure


def draw_cost_curve():
    y, p = forecasts()
    return plots.cost_curve(y, p).figure


def draw_risk_coverage():
    rng = np.random.default_rng(0)
    p = rng.beta(1.2, 1.0, 1500)
    return plots.risk_coverage((rng.random(1500) < p).astype(int), p).figure


def audited():
    """A search over segments of rows of which one has another truth."""
    rng = np.random.default_rng(0)
    features = {
        "sex": rng.choice(["female", "male"], 6000),
        "region": rng.choice(["North", "East", "South", "West"], 6000),
        "age": rng.integers(18, 80, 6000),
    }
    p = rng.beta(2, 2, 6000)
    odd = (features["sex"] == "female") & (features["region"] == "South")
    y = rng.random(6000) < np.where(odd, p**2, p)
    return v.audit_segments(y, p, features, rng=0)


def draw_segments():
    audit = audited()
    return plots.segments(audit, most=8).figure


def draw_segment_map():
    audit = audited()
    return plots.segment_map(audit, ("sex", "region")).figure


def draw_decision_curve():
    y, p = forecasts()
    return plots.decision_curve(y, p).figure


def draw_requirements():
    # A miss costs five times as much as a false alarm; how good must a model be to save 30 %?
    costs = CostProcess((1, 5))
    accuracy, ece = np.linspace(0.6, 0.95, 8), np.linspace(0, 0.3, 7)
    table = simulate_decisions(costs, accuracy=accuracy, ece=ece, n_samples=2000, n_repeats=4)
    return plots.requirements(table, saving=0.3).figure


ENTRIES = [
    Entry(
        "simplex",
        "Reliability on the simplex",
        "An arrow leads from the mean prediction of a cell to the class frequencies observed "
        "there. Arrows that all point to the middle, as here, say that the model is too sure.",
        "Cells with few rows have long arrows by chance: look at their colour first.",
        draw_simplex,
    ),
    Entry(
        "simplex-variability",
        "Arrows and chance",
        "A ring holds the head of its arrow 19 times out of 20 if the model is calibrated. Only "
        "arrows that leave their ring say something; cells follow the data here.",
        "One in twenty rings is left by chance, and the rings of a handful of rows are rough.",
        draw_simplex_variability,
    ),
    Entry(
        "simplex-groups",
        "Three groups of many classes",
        "Eight classes are merged into three, and their probabilities added. Points are "
        "predictions in the colour of what happened.",
        "A model can be right about groups and wrong about every class inside them.",
        draw_simplex_groups,
    ),
    Entry(
        "tetrahedron",
        "Four classes",
        "A dot is the mean prediction of a cell, the other end of its line what was observed. "
        "The corners are the classes.",
        "Depth is lost in print: lines that seem to meet may be far apart.",
        draw_tetrahedron,
    ),
    Entry(
        "calibration-map",
        "What calibrators do to two classes",
        "A line gives the calibrated probability for every given one. It should pass through the "
        "points, which are the observed frequencies of the given predictions.",
        "On the rows a map was fitted to, the more flexible one always looks better.",
        draw_map,
    ),
    Entry(
        "calibration-map-after",
        "Before and after",
        "Filled points are the reliability of the given predictions; hollow ones stand where the "
        "map puts them. After calibration they lie on the diagonal.",
        "Points of the rows the map was fitted to lie closer to the diagonal than new ones will.",
        draw_map_after,
    ),
    Entry(
        "calibration-map-simplex",
        "What a calibrator does to three classes",
        "Each triangle shows how much probability one class gains or loses, and the line where it "
        "keeps what it had. Dots are where the model predicts.",
        "Colour is strongest near corners and edges, where hardly any prediction may be.",
        draw_map_simplex,
    ),
    Entry(
        "simplex-function",
        "Any function of three probabilities",
        "Colours and contours are the value of a function, here what the best of three actions "
        "costs at each prediction. Dots are where the model predicts.",
        "Most of the area may hold no prediction at all.",
        draw_simplex_function,
    ),
    Entry(
        "scores",
        "Predictions by outcome",
        "Each histogram is the spread of predictions for one outcome, as a share of its rows. The "
        "less they overlap, the better the model tells the outcomes apart.",
        "Good separation is no calibration: the histograms hide how many rows each has.",
        draw_scores,
    ),
    Entry(
        "scores-classes",
        "Predictions of many classes",
        "A row holds the cases of one class, a column the probability that class was given. Mass "
        "on the right is what a good model has.",
        "Rows are shares of their class, so rare classes look as firm as frequent ones.",
        draw_scores_classes,
    ),
    Entry(
        "decomposition",
        "A score in its parts",
        "A bar is the score: what recalibration leaves (refinement) and what it could save "
        "(miscalibration). The thin bar is what knowing the predictions is worth.",
        "The miscalibration of a finite sample is estimated too large, for every model.",
        draw_decomposition,
    ),
    Entry(
        "null",
        "An error against chance",
        "The histogram is what this error reads if the model is calibrated, for these same "
        "predictions. The coloured share beyond the line is the p-value.",
        "A figure inside the histogram is no proof of calibration: with few rows it is wide.",
        draw_null,
    ),
    Entry(
        "convergence",
        "An estimator settles",
        "A line is the mean of repeated estimates, its band where 90 % of them lie. One that comes "
        "down to the truth from above is biased upwards in small samples.",
        "How fast an estimator settles depends on the model it is tried on.",
        draw_convergence,
    ),
    Entry(
        "trajectory",
        "Calibration during training",
        "Each panel follows one figure over the epochs, and a star marks the least log loss. Where "
        "the p-value is below the dashed line, the calibration error is more than chance.",
        "Among many epochs some p-values are small by chance, and with many rows all are.",
        draw_trajectory,
    ),
    Entry(
        "comparison",
        "Models and their null levels",
        "A point is a model's calibration error with its interval, and the grey bar what it would "
        "read if calibrated. Only what sticks out of the grey bar is miscalibration.",
        "Models with different predictions have different grey bars, so points do not compare.",
        draw_comparison,
    ),
    Entry(
        "differences",
        "Paired differences",
        "Each row is one pair of models on the same rows, first minus second. An interval left of "
        "zero says that the first is better; grey ones are undecided.",
        "Of many pairs some intervals miss zero by chance: the p-values are adjusted, they are "
        "not.",
        draw_differences,
    ),
    Entry(
        "evidence",
        "Why a calibrator was chosen",
        "Each row is a candidate's log loss on held-out rows minus that of doing nothing. Coloured "
        "ones are in the result, with their share.",
        "Intervals are against doing nothing, so overlapping ones do not say two candidates tie.",
        draw_evidence,
    ),
    Entry(
        "critical-difference",
        "Ranks over many data sets",
        "Methods stand at their mean rank, the best on the left. Those under a common bar cannot "
        "be told apart by these data sets.",
        "Ranks hide how large differences are, and change when a method joins.",
        draw_critical_difference,
    ),
    Entry(
        "cost-curve",
        "Cost of decisions for all costs",
        "The solid line is the cost of acting on the probabilities, the dashed one of the "
        "thresholds that would have been best. The area between is what miscalibration costs.",
        "The best thresholds are fitted to these rows and a little too good.",
        draw_cost_curve,
    ),
    Entry(
        "risk-coverage",
        "Risk and coverage",
        "Rows are answered from the surest one on. The line is the share of wrong answers among "
        "those answered, against the share of rows answered.",
        "The left end rests on few rows, whatever the line does there.",
        draw_risk_coverage,
    ),
    Entry(
        "segments",
        "Segments that nobody named",
        "What happens minus what is said, in the segments that a search found and in those that "
        "deviate most; in colour where it is shown. Limits hold for all segments at once.",
        "Segments overlap: those below the first are mostly the same rows again.",
        draw_segments,
    ),
    Entry(
        "segment-map",
        "Two features crossed",
        "Gaps of the segments of two features. A frame says that the search shows the segment to "
        "be miscalibrated, all others considered.",
        "Colours without a frame are what chance makes of small segments.",
        draw_segment_map,
    ),
    Entry(
        "decision-curve",
        "Net benefit",
        "At the threshold a user would choose, a model is worth using if its line is above both "
        "treating all and treating none. The band is the uncertainty at each threshold.",
        "Most of the axis is thresholds nobody would choose.",
        draw_decision_curve,
    ),
    Entry(
        "requirements",
        "How good a model must be",
        "Colour is what decisions are worth to a model of this accuracy and calibration error; the "
        "line is where the goal is just reached. Colours that change upwards are what calibration "
        "is worth at a fixed accuracy.",
        "Models are made up and always too sure: a real one with the same two numbers can be "
        "worth more or less.",
        draw_requirements,
    ),
]
