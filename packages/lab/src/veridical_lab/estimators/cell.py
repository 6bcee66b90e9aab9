"""One score distribution: a model of a task, its true error, and estimates from small samples.

Many samples of equal size at once: the two lenses on them, and what estimators read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.sample import BinarySample, MulticlassSample
from veridical.binning import IntervalBinning, QuantileBins, UniformBins
from veridical.lenses import ClasswiseProblem, Confidence, Problem
from veridical.miscalibration import BinnedError, Estimator
from veridical.simulation import GaussianMixtureTask, TaskSample, random_gaussian_task
from veridical.summaries import Assignment, Summary
from veridical_lab.arrays import FloatArray, IntArray
from veridical_lab.estimators.settings import LENSES, as_meant, as_run, newer
from veridical_lab.estimators.truth import N_FINE, GapSums, expected_fine_error, scores_and_truths


@dataclass(frozen=True)
class Problems:
    """The problems that both lenses induce on the same predictions.

    Attributes
    ----------
    sample : the predictions
    top : of the confidence lens
    classes : of the classwise lens
    """

    sample: MulticlassSample
    top: BinarySample
    classes: tuple[BinarySample, ...]

    @classmethod
    def of(cls, sample: MulticlassSample) -> Problems:
        """Look at predictions through both lenses."""
        top = Confidence().induce(sample)
        assert isinstance(top, BinarySample)
        every = ClasswiseProblem(sample)
        return cls(sample, top, tuple(every.problem(k) for k in range(every.n_problems)))

    def take(self, rows: IntArray) -> Problems:
        """Both lenses on some rows; sorting is shared by all estimators that need it."""
        each = tuple(problem.take(rows) for problem in self.classes)
        return Problems(self.sample.take(rows), self.top.take(rows), each)


def read_all(
    estimators: Mapping[str, Estimator], samples: Sequence[Problems], lens: str
) -> dict[str, FloatArray]:
    """What each estimator reads on each sample under a lens, (n_samples,) each."""
    if lens == "confidence":
        columns = [[sample.top for sample in samples]]
    else:
        columns = [list(column) for column in zip(*(s.classes for s in samples), strict=True)]
    found: dict[str, FloatArray] = {}
    shared: dict[IntervalBinning, dict[Assignment, list[str]]] = {}
    for name, estimator in estimators.items():
        if _is_plain(estimator):
            assert isinstance(estimator, BinnedError)
            by_share = shared.setdefault(estimator.binning, {})
            by_share.setdefault(estimator.assignment, []).append(name)
        elif isinstance(estimator, BinnedError) and estimator.debias and lens == "classwise":
            # Negative class errors count before the mean is cut at zero.
            whole = [estimator.measure(ClasswiseProblem(sample.sample)) for sample in samples]
            found[name] = np.array(whole)
        else:
            found[name] = np.mean([[estimator.measure(s) for s in c] for c in columns], axis=0)
    for binning, names in shared.items():
        read = [binned_errors(binning, tuple(names), column) for column in columns]
        for assignment, some in names.items():
            mean: FloatArray = np.mean([errors[assignment] for errors in read], axis=0)
            found |= dict.fromkeys(some, mean)
    return found


def binned_errors(
    binning: IntervalBinning, assignments: Sequence[Assignment], samples: Sequence[BinarySample]
) -> dict[Assignment, FloatArray]:
    r"""`BinnedError(binning, assignment)` of unweighted samples of equal size, all at once.

    .. math:: \frac1N \sum_j \Bigl| \sum_i W_{ij} (y_i - s_i) \Bigr|

    (001 eq. 1), several times as fast as one call a sample, which keeps other sums besides.

    Examples
    --------
    >>> sample = BinarySample(y=np.array([0, 1, 1, 1]), p=np.array([0.25, 0.25, 0.75, 1.0]))
    >>> binned_errors(UniformBins(2), ("hard",), [sample, sample])["hard"].tolist()
    [0.1875, 0.1875]
    """
    same = isinstance(binning, UniformBins) and binning.n != "cv" and binning.min_count is None
    parts = [binning.fit(sample) for sample in (samples[:1] if same else samples)]
    width = max(part.n_cells for part in parts)
    p = np.stack([sample.p for sample in samples])
    residual = np.stack([sample.y for sample in samples]) - p
    offset = width * np.arange(len(samples))[:, None]

    def summed(cell: IntArray, values: FloatArray) -> FloatArray:
        key = (offset + cell).reshape(-1)
        sums = np.bincount(key, values.reshape(-1), minlength=width * len(samples))
        return sums.astype(np.float64, copy=False).reshape(len(samples), width)

    found: dict[Assignment, FloatArray] = {}
    rows = [p.reshape(-1)] if same else list(p)
    if "hard" in assignments:
        cell = np.concatenate([part.assign(row) for part, row in zip(parts, rows, strict=True)])
        found["hard"] = np.abs(summed(cell.reshape(p.shape), residual)).sum(axis=1) / p.shape[1]
    if set(assignments) == {"hard"}:
        return found
    shares = [part.share(row) for part, row in zip(parts, rows, strict=True)]
    lower = np.concatenate([low for low, _ in shares]).reshape(p.shape)
    to_upper = np.concatenate([share for _, share in shares]).reshape(p.shape)
    last = np.array([part.n_cells - 1 for part in parts])[:, None]
    centres = [part.centres for part in parts]
    first_centre, last_centre = (np.array([c[end] for c in centres])[:, None] for end in (0, -1))
    between = (p >= first_centre) & (p <= last_centre)
    for assignment in assignments:
        if assignment == "hard":
            continue
        inverted = assignment == "linear-inverted"
        share = np.where(between, 1 - to_upper, to_upper) if inverted else to_upper
        sums = summed(lower, residual * (1 - share))
        sums += summed(np.minimum(lower + 1, last), residual * share)
        found[assignment] = np.abs(sums).sum(axis=1) / p.shape[1]
    return found


def _is_plain(estimator: Estimator) -> bool:
    """Whether equation 1 is all there is to it."""
    return (
        isinstance(estimator, BinnedError)
        and isinstance(estimator.binning, (UniformBins, QuantileBins))
        and not estimator.debias
        and estimator.power == 1
    )


MODELS = ("logistic regression", "naive Bayes", "support vectors", "random forest")
LAWS = ("text", "program")  # of the tasks: means of modes on [0, 1], and on [-1, 1]
PRINTED_RANGE = 500  # largest sample of the source's Fig. 2
RUN = "as run: "  # before the name of a setting as the authors' program has it
FIGURES = ("bias", "mean", "median", "q95", "q95 of reference")
_BLOCK = 200_000  # rows predicted at a time


@dataclass(frozen=True)
class Scale:
    """How much of the source's grid is run.

    Attributes
    ----------
    n_classes, n_features : of the tasks, every pair
    n_seeds : tasks of each pair
    n_splits : training sets of each task, by law
    n_wide : tasks of each pair, among them, for all sizes and newer estimators
    models : names
    n_resamples, sizes : of the samples the estimators see
    n_rows : drawn of each task; they give the truth, and samples are drawn from them
    n_train : rows of a training set
    n_reference : rows on which the fine binning is measured
    """

    n_classes: tuple[int, ...] = (2, 5, 7)
    n_features: tuple[int, ...] = (2, 5, 7)
    n_seeds: int = 5
    n_splits: tuple[int, int] = (3, 3)
    n_wide: int = 5
    models: tuple[str, ...] = MODELS
    n_resamples: int = 200
    sizes: tuple[int, ...] = tuple(np.geomspace(30, 5000, 20).round().astype(int).tolist())
    n_rows: int = 1_000_000
    n_train: int = 300
    n_reference: int = 2_000_000

    @property
    def printed_sizes(self) -> tuple[int, ...]:
        """Sizes within the range of the source's figure."""
        return tuple(n for n in self.sizes if n <= PRINTED_RANGE)

    def cells(self, seed: int, law: str) -> list[dict[str, Any]]:
        """Every score distribution, as plain values; one task of every kind before the next.

        Sizes beyond those of the source's figure, and newer estimators, see some tasks and their
        first training sets only.
        """
        amounts = {"rows": self.n_rows, "resamples": self.n_resamples, "law": law}
        found = []
        for split in range(self.n_splits[LAWS.index(law)]):
            for task in range(self.n_seeds):
                wide = split == 0 and task < self.n_wide
                sizes = list(self.sizes if wide else self.printed_sizes)
                which = {"task": task, "split": split, "newer": wide, "sizes": sizes, **amounts}
                found += [{**cell, **which} for cell in self._kinds(seed, self.models)]
        return found

    def reference_cells(self, seed: int) -> list[dict[str, Any]]:
        """One task of each kind with a model that is quick to ask."""
        asked = {"task": 0, "split": 0, "law": LAWS[0], "rows": self.n_reference}
        return [{**cell, **asked} for cell in self._kinds(seed, MODELS[1:2])]

    def _kinds(self, seed: int, models: Sequence[str]) -> list[dict[str, Any]]:
        """Every kind of task with each of some models."""
        return [
            {"classes": k, "features": d, "model": model, "seed": seed, "train": self.n_train}
            for k in self.n_classes
            for d in self.n_features
            for model in models
        ]


SOURCE = Scale()  # what the source ran, by both laws
FULL = Scale(
    n_splits=(1, 1),
    n_wide=1,
    n_resamples=20,
    sizes=(30, 50, 90, 170, 300, 500, 1500, 5000),
    n_rows=100_000,
)
QUICK = Scale(
    n_classes=(5,),
    n_features=(2,),
    n_seeds=4,
    n_splits=(1, 1),
    n_wide=4,
    models=MODELS[:2],
    n_resamples=12,
    sizes=(30, 90, 300, 500),
    n_rows=20_000,
    n_reference=100_000,
)


def measure_cell(cell: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Truth, reference, and how far each estimator is from them at every size, by lens."""
    task, model = task_and_model(cell)
    rows = task.sample(cell["rows"], rng=rng)
    p = predictions(model, rows)
    found: dict[str, Any] = {
        "accuracy": float((p.argmax(axis=1) == rows.y).mean()),
        "best accuracy": float(rows.posterior.max(axis=1).mean()),
    }
    for lens in LENSES:
        score, truth = scores_and_truths(p, rows.posterior, lens)
        sums = GapSums.of(score, truth)
        reference = expected_fine_error(sums.curve(score), score, truth)
        value, half_width = sums.error()
        known = {"truth": value, "half width": half_width, "reference": reference}
        found[lens] = {**known, "errors": {}}
    classes = tuple(range(task.n_classes))
    problems = Problems.of(MulticlassSample(y=rows.y, p=p, classes=classes))
    for n in cell["sizes"]:
        drawn = rng.integers(0, len(p), (cell["resamples"], n))
        samples = [problems.take(some) for some in drawn]
        for lens in LENSES:
            known = found[lens]
            estimators = _estimators(lens, task.n_classes, n, with_newer=cell["newer"])
            for name, read in read_all(estimators, samples, lens).items():
                row = _figures(read, known["truth"], known["reference"])
                known["errors"].setdefault(name, {})[str(n)] = row
    return found


def measure_reference(cell: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """What the source's reference reads on its own number of rows, beside its expectation."""
    task, model = task_and_model(cell)
    error = BinnedError(UniformBins(N_FINE, closed="left"))
    read: dict[str, Summary] = {}
    gaps: dict[str, GapSums] = {}
    for block in _blocks(task, cell["rows"], rng):
        p = predictions(model, block)
        sample = MulticlassSample(y=block.y, p=p, classes=tuple(range(task.n_classes)))
        seen: tuple[Problem, ...] = (Confidence().induce(sample), ClasswiseProblem(sample))
        for lens, problem in zip(LENSES, seen, strict=True):
            part = error.summarise(problem)
            assert isinstance(part, Summary)
            pair = scores_and_truths(p, block.posterior, lens)
            if lens in read:
                read[lens] = read[lens].merge(part)
                gaps[lens].add(*pair)
            else:
                read[lens], gaps[lens] = part, GapSums.of(*pair)
    found: dict[str, Any] = {}
    for lens in LENSES:
        score, truth = scores_and_truths(p, block.posterior, lens)
        curve = gaps[lens].curve(score)
        found[lens] = {
            "measured": error.from_summary(read[lens]),
            "expected": expected_fine_error(curve, score, truth, n_rows=cell["rows"]),
            "truth": gaps[lens].error()[0],
        }
    return found


def _blocks(task: GaussianMixtureTask, n: int, rng: np.random.Generator) -> Iterator[TaskSample]:
    """Draw n rows, some at a time."""
    while n > 0:
        yield task.sample(min(n, _BLOCK), rng=rng)
        n -= _BLOCK


def task_and_model(cell: Mapping[str, Any]) -> tuple[GaussianMixtureTask, Any]:
    """The task of a cell, the same for all its models, and a model trained on it."""
    seeds = [cell["seed"], cell["classes"], cell["features"], cell["task"]]
    task = random_task(cell["classes"], cell["features"], cell["law"], seeds)
    rows = task.sample(cell["train"], rng=np.random.default_rng([*seeds, cell["split"]]))
    return task, untrained(cell["model"]).fit(rows.x, rows.y)


def random_task(n_classes: int, n_features: int, law: str, seeds: list[int]) -> GaussianMixtureTask:
    """A task of the source: as its text draws it, or with means twice as far apart.

    Examples
    --------
    The program's means are on [-1, 1], its covariances those of the text on average.

    >>> task = random_task(2, 2, "program", [0])
    >>> bool(-1 < task.modes.means.min() < 0 < task.modes.means.max() < 1)
    True
    """
    rng = np.random.default_rng(seeds)
    if law == "text":
        return random_gaussian_task(n_classes, n_features, rng=rng)
    half = random_gaussian_task(n_classes, n_features, spread=0.15, rng=rng)
    return GaussianMixtureTask(2 * half.modes.means - 1, 4 * half.modes.covariances, half.classes)


def untrained(name: str) -> Any:
    """One of the four models of the source, with scikit-learn's defaults."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.svm import SVC

    if name == "logistic regression":
        return LogisticRegression(max_iter=1000)
    if name == "naive Bayes":
        return GaussianNB()
    if name == "support vectors":
        # Platt's sigmoid on cross-validated margins: what SVC(probability=True) is replaced by.
        return CalibratedClassifierCV(SVC(), ensemble=False)
    return RandomForestClassifier(random_state=0)


def predictions(model: Any, rows: TaskSample) -> FloatArray:
    """Probabilities of all classes; rounding never takes them out of [0, 1]."""
    return np.clip(model.predict_proba(rows.x), 0.0, 1.0)


def _estimators(lens: str, n_classes: int, n: int, *, with_newer: bool) -> dict[str, Estimator]:
    low = 1 / n_classes if lens == "confidence" else 0.0
    found = as_meant(low) | (newer() if with_newer else {})
    if n <= PRINTED_RANGE:
        found |= {RUN + name: estimator for name, estimator in as_run(low).items()}
    return found


def _figures(read: FloatArray, truth: float, reference: float) -> list[float]:
    """Bias, and mean, median and 95 % quantile of the absolute error; `FIGURES`."""
    away = np.abs(read - truth)
    high = np.quantile(np.abs(read - reference), 0.95)
    found = (read.mean() - truth, away.mean(), np.median(away), np.quantile(away, 0.95), high)
    return [float(value) for value in found]
