"""Gallery: reliability, classwise and deviation diagrams, and probability paper.

`forecasts` and `votes` make the data.
"""

from __future__ import annotations

import numpy as np
from _entry import Entry
from matplotlib.figure import Figure

import veridical as v
from veridical import plots
from veridical_lab import plots as lab_plots


def forecasts(n=1500, seed=0):
    """Outcomes, and forecasts that are too extreme: where they say s, r(s) = 0.15 + 0.7 s."""
    rng = np.random.default_rng(seed)
    p = rng.beta(1.2, 1.0, n)
    return (rng.random(n) < 0.15 + 0.7 * p).astype(int), p


def votes(n=2000, n_classes=6, seed=0):
    """Labels of several classes, and probabilities that are too sure of the likely ones."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.linspace(0.2, 0.8, n_classes), n)
    truth = p**0.6 / (p**0.6).sum(axis=1, keepdims=True)
    index = (rng.random(n)[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(max=n_classes - 1)
    return np.array(["ant", "bee", "cat", "dog", "elk", "fox"])[index], p


def draw_reliability():
    y, p = forecasts()
    return plots.reliability(y, p, annotate="all").figure


def draw_rare():
    rng = np.random.default_rng(0)
    odds = rng.normal(-6.2, 1.0, 50_000)
    y = rng.random(50_000) < 1 / (1 + np.exp(-odds))
    return plots.reliability(y, 1 / (1 + np.exp(-1.2 * odds))).figure


def draw_few():
    y, p = forecasts(40)
    return plots.reliability(y, p).figure


def draw_estimator():
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    X, y = make_classification(3000, flip_y=0.2, random_state=0)
    models = {"forest": RandomForestClassifier(random_state=0), "line": LogisticRegression()}
    fitted = {name: model.fit(X[:1500], y[:1500]) for name, model in models.items()}
    return plots.from_estimator(fitted, X[1500:], y[1500:]).figure


def draw_centre():
    # Figure 6a of the survey: four rows at score 0, one positive; four at score 1, three positive.
    y, p = [0, 0, 0, 1, 0, 1, 1, 1], [0.0] * 4 + [1.0] * 4
    figure = Figure(figsize=(6.4, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    look = {"n_bins": 2, "interval": None, "histogram": None, "annotate": "size"}
    for ax, x in ((left, "centre"), (right, "mean")):
        plots.reliability(y, p, x=x, ax=ax, **look)
        ax.set_title(f'x="{x}"')
    return figure


def draw_bars():
    y, p = forecasts()
    return plots.reliability(y, p, n_bins=10, style="bars", gaps=True, histogram="side").figure


def draw_models():
    y, p = forecasts()
    three = {"raw": p, "shrunk": 0.15 + 0.7 * p, "squared": p**2}
    return plots.reliability(y, three, n_bins=10, strategy="quantile").figure


def draw_consistency():
    y, p = forecasts(300)
    return plots.reliability(y, p, interval="consistency").figure


def draw_isotonic():
    y, p = forecasts()
    return plots.reliability(y, p, method="isotonic", interval="simultaneous").figure


def draw_density():
    y, p = forecasts()
    truth = lambda s: 0.15 + 0.7 * s  # noqa: E731
    return plots.reliability(y, p, method="density", interval="bootstrap", truth=truth).figure


def draw_median():
    # Figure 1 of Posocco & Bonnefoy: bins, the curve of densities, and that of bootstrapped rows.
    y, p = forecasts(400)
    figure = Figure(figsize=(9.6, 3.6), layout="constrained")
    density = {"method": "density", "bandwidth": 0.03, "kernel": "cosine"}
    kinds = [{"n_bins": 15}, density, density | {"interval": "percentile", "n_resamples": 200}]
    for ax, kind in zip(figure.subplots(1, 3), kinds, strict=True):
        curve = v.reliability_curve(y, p, rng=0, **kind)
        plots.reliability(curve, ax=ax, histogram=None, annotate="size")
    return figure


def draw_drawn_predictions():
    y, p = forecasts(150)
    figure = Figure(figsize=(7.6, 3.8), layout="constrained")
    kinds = ["consistency", "consistency-bootstrap"]
    for ax, kind in zip(figure.subplots(1, 2), kinds, strict=True):
        plots.deviation(y, p, ax=ax, n_bins=8, interval=kind, histogram=None, annotate="size")
        ax.set_title(kind)
    return figure


def draw_correction():
    y, p = forecasts()
    return plots.reliability(
        y, p, n_bins=6, arrows=True, rug=True, counts="both", histogram=None, interval=None
    ).figure


def draw_classwise():
    y, p = votes()
    return plots.classwise(y, p, show=["classes"]).figure


def draw_classwise_models():
    y, p = votes()
    softer = p**0.6 / (p**0.6).sum(axis=1, keepdims=True)
    return plots.classwise(y, {"raw": p, "softer": softer}, show=["classes"], max_classes=4).figure


def draw_averaged():
    y, p = votes()
    return plots.classwise(y, p, show=["averaged", "confidence"]).figure


def draw_deviation():
    y, p = forecasts()
    return plots.deviation(y, p, truth=lambda s: 0.15 + 0.7 * s).figure


def draw_paper():
    y, p = forecasts()
    return lab_plots.probability_paper(y, p).figure


ENTRIES = [
    Entry(
        "reliability",
        "Reliability diagram",
        "A point below the diagonal says that less happened than was predicted there, a point "
        "above it that more did. If the bar of a point reaches the diagonal, its gap may be "
        "chance; the legend says what the ECE would read if all of it were.",
        "The eye weighs points alike, though most rows may stand in one of them: look at the "
        "areas of markers and at the histogram.",
        draw_reliability,
    ),
    Entry(
        "rare",
        "Rare events",
        "Nearly all predictions are close to 0, so both axes are log-odds and every bin expects "
        "the same number of events. A point twice as high as the diagonal happened twice as often "
        "as was said, wherever it stands.",
        "The distance to the diagonal is a factor, not a difference: large ones among the least "
        "probable rows may matter to nobody.",
        draw_rare,
    ),
    Entry(
        "few",
        "Few rows",
        "With fewer than some 150 rows bins would show noise. The steps are the non-decreasing "
        "frequencies closest to the outcomes; the band holds the true one at each prediction with "
        "probability 0.95.",
        "So wide a band rules out little: that the diagonal lies inside is no sign of calibration.",
        draw_few,
    ),
    Entry(
        "from-estimator",
        "Fitted classifiers of scikit-learn",
        "Two models on rows they were not fitted to, on the same axes. Columns of `predict_proba` "
        "are read in the order of `classes_`, and the larger label is the positive one.",
        "Rows the models were fitted to would make them look better, or worse, than they are.",
        draw_estimator,
    ),
    Entry(
        "bin-centre",
        "Bin centres and mean predictions",
        "Both panels show the same eight rows of a model that is wrong by a quarter. With points "
        "in the middle of bins it seems calibrated; at mean predictions the gap is the distance "
        "to the diagonal.",
        "Centres may be off by half a bin either way, so a calibrated model can look wrong just "
        "as well.",
        draw_centre,
    ),
    Entry(
        "bars",
        "Bars with gaps",
        "The height of a bar is the observed frequency, and the hatched box reaches from there to "
        "the mean prediction of the bin. Boxes above the bar are over-prediction.",
        "A bar of three rows is as wide and as dark as one of three thousand.",
        draw_bars,
    ),
    Entry(
        "models",
        "Several models, bins of equal mass",
        "Every bin holds the same number of rows, so points crowd where predictions do and all "
        "weigh the same. Compare each ECE with what the model would show if it were calibrated "
        "before ranking models.",
        "Limits that overlap do not mean that models do not differ: they share their rows, and "
        "`compare` tests the difference itself.",
        draw_models,
    ),
    Entry(
        "consistency",
        "Consistency bars",
        "Bars stand around the diagonal and hold what a calibrated model with these predictions "
        "would show 19 times out of 20. Points outside are evidence of miscalibration there.",
        "With 15 bins a calibrated model shows a point outside up to half of the time.",
        draw_consistency,
    ),
    Entry(
        "isotonic",
        "Isotonic curve with a simultaneous band",
        "The steps are the non-decreasing frequencies closest to the outcomes, with no bins to "
        "choose. The band holds the whole true curve with probability 0.95 or more; wherever the "
        "diagonal leaves it, the model is miscalibrated.",
        "If the true curve falls somewhere, the fit hides it as a flat step, and the band's "
        "promise is void.",
        draw_isotonic,
    ),
    Entry(
        "density",
        "Curve from densities with a bootstrap band",
        "The line is the frequency to expect at each score, from smoothed densities of positive "
        "and of all predictions. The band shows how much it moves from sample to sample; here the "
        "true curve is known and drawn as well.",
        "Smoothing flattens bends and pulls the ends, and the band knows nothing of that bias.",
        draw_density,
    ),
    Entry(
        "median",
        "Three views of the same rows",
        "Bins, the curve of two kernel densities, and the median of such curves over redrawn rows "
        "with their percentiles. Each brings one more level of insight (Posocco & Bonnefoy).",
        "A bandwidth of 0.03 follows noise, and percentiles count no bias.",
        draw_median,
    ),
    Entry(
        "drawn-predictions",
        "Consistency bars with predictions held or drawn",
        "Bars are what a calibrated model would show: on the left for these very predictions, on "
        "the right for predictions redrawn as well (Bröcker & Smith 2007). Those on the right are "
        "a little wider, as how many predictions a bin holds, and their mean, varies too.",
        "Neither bar is of the curve, so a point inside is no proof.",
        draw_drawn_predictions,
    ),
    Entry(
        "correction",
        "Corrections, counts and single predictions",
        "An arrow leads from what was predicted to what was observed: the correction a "
        "recalibration would make. Ticks at the top are predictions of rows where it happened, "
        "ticks at the bottom where it did not.",
        "Arrows of nearly empty bins ask for corrections that the next sample will contradict.",
        draw_correction,
    ),
    Entry(
        "classwise",
        "One diagram a class",
        "Each panel asks of one class against the rest: when its probability was s, how often did "
        "it occur? The worst class comes first, and titles say how many rows were of the class.",
        "The first panel was chosen because it looks worst, so it looks bad even if all classes "
        "are calibrated.",
        draw_classwise,
    ),
    Entry(
        "classwise-models",
        "Two models, class by class",
        "Every panel has all models, and titles give the ECE of each in their order. Classes come "
        "by the largest of these, at most as many as asked for; a hundred find room.",
        "Each panel has axes of its own: compare numbers of the axes before shapes.",
        draw_classwise_models,
    ),
    Entry(
        "averaged",
        "All classes in one, and the confidence",
        "The left panel throws the probabilities of all classes into one diagram, the right one "
        "keeps the most probable class only. A model can be fine in one and wrong in the other.",
        "In the averaged diagram one class's errors can cancel another's, and small probabilities "
        "outnumber all others.",
        draw_averaged,
    ),
    Entry(
        "deviation",
        "Deviation diagram",
        "The diagonal is turned level: heights are observed frequency minus prediction, and bars "
        "around zero hold what chance alone would show. Points that leave the bars and follow the "
        "dashed truth are real.",
        "The vertical scale fits the data, so a harmless model can look as jagged as a bad one.",
        draw_deviation,
    ),
    Entry(
        "probability-paper",
        "Probability paper",
        "The height of a point is the chance that a calibrated model shows less than was observed "
        "in the bin, on a scale that stretches the tails. All points of a calibrated model stay "
        "between the dashed lines 19 times out of 20.",
        "Height says how sure a gap is, not how large: with a million rows any gap leaves the "
        "paper.",
        draw_paper,
    ),
]
