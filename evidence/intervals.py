"""How often the intervals of an evaluation cover the truth: docs/evidence/intervals.csv.

    python evidence/intervals.py docs/evidence                # 500 repetitions a cell, 15 minutes
    python evidence/intervals.py docs/evidence --repeats 50 --slow 20
    python evidence/intervals.py docs/evidence --resume       # what is missing
    python evidence/intervals.py docs/evidence --figures log "difference(log)"  # anew
    python evidence/intervals.py docs/evidence --with clusters              # anew

Figures that take longer have the repetitions of `--slow`. Weights, clusters and the truth of each
figure are those of `_population.py`; the truth of ICI, E50, E90 and Emax is that of the curve of
the population. A sample without both outcomes has no area under the curve and is not counted for
it. The width is the median of the intervals over that of the normal one with the true variance,
which is known for means. Figures that cover in less than 93 % of a cell, as a few do by chance, are
run on to five times as many samples, and the table has them all.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from _population import LAWS, Population, as_sample, draw, losses, population, scores, truths

from veridical import BrierScore, CumulativeError, LoessError, LogScore, SmoothError
from veridical._core.runtime.progress import track
from veridical._core.sample import BinarySample
from veridical.evaluation._data.source import SampleSource
from veridical.evaluation._figures.limits import figure_limits
from veridical.evaluation._gate.language import spelt
from veridical.inference._cox.binary import recalibration_line
from veridical.inference._intervals.bootstrap import unbinned_limits
from veridical.inference._intervals.mean import IntervalOptions
from veridical.inference._intervals.paired import difference_core
from veridical.inference._intervals.parts import part_limits
from veridical.inference._intervals.rows import rows_of
from veridical.lenses import Binary
from veridical.lenses.reading import Induced
from veridical.scores import get_rule

LEVEL, LEAST = 0.95, 0.93
MORE = 5
SIZES = (30, 60, 100, 400, 2000)
NAMES = ("Beta(0.2, 8), calibrated", "Beta(0.6, 4), slope 1/2", "uniform, wave",
         "uniform, calibrated", "0.3 or 0.9, 0.1 too high", "saturated, slope 1/2")  # fmt: skip
KINDS = ["plain", "weights", "clusters"]
SUMMARIES = ("mean", "median", "p90", "max")
ERRORS = (CumulativeError(), CumulativeError("kuiper"), SmoothError(),
          *(LoessError(summary) for summary in SUMMARIES))  # fmt: skip
Limits = dict[str, tuple[float, float]]
Measure = Callable[[BinarySample], Limits]


def all_truths(of: Population) -> dict[str, float]:
    """What holds for the population, by the names of figures."""
    both = as_sample(of)
    one, other = scores(of, of.p), scores(of, of.p / 2)
    found = truths(of) | {spelt(e.name): e.measure(both) for e in ERRORS}
    return found | {f"difference({rule})": one[rule] - other[rule] for rule in ("brier", "log")}


def spreads(of: Population) -> dict[str, float]:
    """Standard deviations of the rows of figures that are means."""
    one, other = losses(of.p), losses(of.p / 2)
    pairs = {"accuracy": one["zero_one"], "calibration_in_the_large": (-of.p, 1 - of.p)}
    for rule in ("brier", "log"):
        pairs[rule] = one[rule]
        miss, hit = (a - b for a, b in zip(one[rule], other[rule], strict=True))
        pairs[f"difference({rule})"] = miss, hit
    found = {}
    for name, (miss, hit) in pairs.items():
        mean, square = (of.mean(of.rate * hit**k + (1 - of.rate) * miss**k) for k in (1, 2))
        found[name] = math.sqrt(square - mean**2)
    return found


def quick(sample: BinarySample) -> Limits:
    """Limits of figures of an evaluation, without the parts of scores."""
    source = SampleSource(sample, Binary())
    mixed = 0 < sample.y.sum() < sample.n
    found = figure_limits(source, source.areas[0] if mixed else None, LEVEL, with_parts=False)
    return {name: each for name, each in found.items() if name not in ("spherical", "zero-one")}


def differences(sample: BinarySample) -> Limits:
    """Limits of differences from p / 2."""
    pair = tuple(
        Induced(sample, Binary(), BinarySample(
            y=sample.y, p=p, weight=sample.weight, clusters=sample.clusters))
        for p in (sample.p, sample.p / 2)
    )  # fmt: skip
    found = {}
    for score in (BrierScore(), LogScore()):
        difference, _ = difference_core(score, pair, IntervalOptions("analytic", LEVEL))
        found[f"difference({score.name})"] = difference.low, difference.high
    return found


def lines(sample: BinarySample) -> Limits:
    """Limits of lines and of parts of scores."""
    rows = rows_of(sample)
    line = recalibration_line(sample, LEVEL, rows)
    found = {"slope": (line.slope.low, line.slope.high),
             "intercept": (line.in_the_large.low, line.in_the_large.high)}  # fmt: skip
    for score in (BrierScore(), LogScore()):
        parts = part_limits(rows, get_rule(score.name, caller=""), LEVEL)
        if parts is not None:
            found |= {f"{score.name} {name}": each for name, each in parts._asdict().items()}
    return found


def unbinned(sample: BinarySample) -> Limits:
    """Limits of errors without bins."""
    rows = rows_of(sample)
    return {error.name: unbinned_limits(error, rows, LEVEL) for error in ERRORS}


def measure_of(figure: str) -> Measure:
    """What gives the limits of a figure."""
    if figure.startswith("difference"):
        return differences
    if figure in ("slope", "intercept") or figure.endswith(("discrimination", "miscalibration")):
        return lines
    return unbinned if figure in [error.name for error in ERRORS] else quick


def table(
    repeats: int,
    repeats_of_slow: int,
    done: set[tuple[str, ...]],
    figures: set[str],
    kinds: list[str],
) -> Iterator[list[object]]:
    """Every cell of these kinds with its own seed, but for those whose first figure is done.

    Of these figures, if there are any.
    """
    measures = (((quick,), repeats), ((lines, unbinned, differences), repeats_of_slow))
    cells = [(name, n, "plain", *each) for each in measures for n in SIZES for name in NAMES]
    cells += [
        (name, 400, kind, *each)
        for kind in ("weights", "clusters")
        for each in measures
        for name in NAMES
    ]
    populations = {name: population(LAWS[name]) for name in NAMES}
    known = {name: (all_truths(of), spreads(of)) for name, of in populations.items()}
    for index in track(len(cells), "intervals"):
        law, n, kind, parts, number = cells[index]
        if kind not in kinds or (FIRST[parts[0]], law, str(n), kind) in done:
            continue
        needed = {measure_of(name) for name in figures} or set(parts)
        parts = [part for part in parts if part in needed]
        if not parts:
            continue
        rng = np.random.default_rng([22, index])
        every: dict[str, list[tuple[float, float]]] = {}
        wanted = figures
        for turn in range(MORE * number):
            if turn == number:  # a few are beyond by chance: more samples tell
                wanted = {name for name, each in every.items()
                          if sum(missed(each, known[law][0][spell(name)])) > 1 - LEAST}  # fmt: skip
                parts = [part for part in parts if part in map(measure_of, wanted)]
                if not parts:
                    break
            sample = draw(LAWS[law], n, kind, rng)
            for name, limits in chain.from_iterable(part(sample).items() for part in parts):
                if not wanted or name in wanted:
                    every.setdefault(name, []).append(limits)
        for name, found in every.items():
            low, high = np.array(found).T
            truth, spread = known[law][0][spell(name)], known[law][1].get(spell(name))
            below, above = missed(found, truth)
            width = ""
            if spread is not None and kind == "plain":
                width = f"{np.median(high - low) / (3.92 * spread / math.sqrt(n)):.2f}"
            shares = (f"{share:.4f}" for share in (1 - above - below, below, above))
            yield [name, law, n, kind, len(found), *shares, width]


def spell(figure: str) -> str:
    """The name of a figure among truths."""
    return figure if figure.startswith("difference") else spelt(figure)


def missed(found: list[tuple[float, float]], truth: float) -> tuple[float, float]:
    """How often limits were below and above the truth."""
    low, high = np.array(found).T
    return float(np.mean(high < truth - 1e-5)), float(np.mean(low > truth + 1e-5))


FIRST = {quick: "brier", lines: "slope"}
HEADER = ["figure", "law", "n", "with", "repetitions", "coverage", "missed_below_truth",
          "missed_above_truth", "median_width_over_oracle"]  # fmt: skip


def main() -> None:
    """Simulate and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--slow", type=int, default=200)
    parser.add_argument("--resume", action="store_true", help="go on where the table ends")
    parser.add_argument("--figures", nargs="*", default=[], help="simulate only these, anew")
    parser.add_argument(
        "--with", nargs="*", default=KINDS, choices=KINDS, dest="kinds", help="only these, anew"
    )
    given = parser.parse_args()
    path, figures = given.folder / "intervals.csv", set(given.figures)
    anew = bool(figures) or given.kinds != KINDS
    kept = [HEADER]
    if given.resume or anew:
        kept = list(csv.reader(path.open(encoding="utf-8")))
    done = set() if anew else {tuple(row[:4]) for row in kept}
    if anew:
        rows = table(given.repeats, given.slow, done, figures, given.kinds)
        found = {tuple(map(str, row[:4])): row for row in rows}
        kept = [found.get(tuple(row[:4]), row) for row in kept]
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerows(kept)
        return
    with path.open("w", newline="", encoding="utf-8", buffering=1) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows(kept)
        writer.writerows(table(given.repeats, given.slow, done, figures, given.kinds))


if __name__ == "__main__":
    main()
