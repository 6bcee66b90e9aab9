"""How often the joint test finds something in calibrated predictions, and in wrong ones.

    python evidence/verdict.py docs/evidence                 # both tables: 45 minutes
    python evidence/verdict.py docs/evidence --only levels --classes 2 3 --sizes 30 100
    python evidence/verdict.py /tmp --repeats 20             # at most 20 repetitions a cell

Writes verdict_levels.csv and verdict_power.csv, and with --page what they say into a page. The
rank of what was observed among draws is uniform for any number of draws, so levels are simulated
with 39, or 19 from 2,000 rows on (both meet 5 % exactly); power with 499. Every cell has a seed of
its own.

The rule before is that of a headline without joint control: a consistency test of ECE (and of
classwise ECE), and slope and level of the log odds with normal limits, each looked at. It is cut
so that it finds something in 5 % of calibrated samples of the same predictions.
"""

from __future__ import annotations

import argparse
import csv
import math
import warnings
import zlib
from pathlib import Path

import numpy as np
from _predictions import draw_outcomes
from _verdict_laws import BINARY_LAWS, WRONGS, predictions

from veridical import BinnedError, VeridicalWarning, consistency_test
from veridical._core.runtime.progress import track
from veridical.inference import joint_test
from veridical.lenses import Confidence
from veridical.results import JointTest

LEVEL = 0.05
SIZES = (30, 100, 400, 2000, 20_000)
DRAWS = {30: 39, 100: 39, 400: 39, 2000: 19, 20_000: 19}
REPEATS = {2: 1000, 3: 1000, 10: 300, 100: 300}
VARIANTS = ("plain", "groups and weights")
POWER_REPEATS, POWER_DRAWS = 200, 499

LEVEL_HEADER = ["classes", "predictions", "n", "with", "repetitions", "draws", "found", "limit"]
POWER_HEADER = ["wrong", "classes", "n", "repetitions", "found", "holm", "best_part", "best",
                "before"]  # fmt: skip


def seed_of(*names: object) -> int:
    """Seed of a cell from what it is, so that other cells may come and go."""
    return zlib.crc32(repr(names).encode())


def joint(y: np.ndarray, p: np.ndarray, rng: np.random.Generator, n_resamples: int, **also: object
          ) -> JointTest:  # fmt: skip
    """The joint test of a sample, all classes known."""
    labels = list(range(2 if p.ndim == 1 else p.shape[1]))
    return joint_test(y, p, labels=labels, n_resamples=n_resamples, rng=rng, **also)


def limit(repetitions: int) -> float:
    """Largest share of false alarms that chance explains."""
    return LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / repetitions)


def level_cells() -> list[tuple[int, str, int, str]]:
    """Every cell of the table of levels: classes, law, rows, with what."""
    return [(k, law, n, variant) for k in REPEATS for law in BINARY_LAWS for n in SIZES
            for variant in VARIANTS if k <= 3 or n <= 2000]  # fmt: skip


def level_row(cell: tuple[int, str, int, str], repetitions: int) -> list[object]:
    """Share of calibrated samples in which something is found."""
    n_classes, law, n, variant = cell
    rng = np.random.default_rng(seed_of("level", *cell))
    draws = DRAWS[n]
    found = 0
    for _ in range(repetitions):
        p = predictions(law, n, n_classes, rng)
        y = draw_outcomes(p, rng)
        also = {}
        if variant != "plain":
            also = {"by": rng.integers(10, size=n), "sample_weight": rng.exponential(size=n)}
        found += joint(y, p, rng, draws, **also).rejected
    return [n_classes, law, n, variant, repetitions, draws, f"{found / repetitions:.4f}",
            f"{limit(repetitions):.4f}"]  # fmt: skip


def smallest_before(y: np.ndarray, p: np.ndarray, rng: np.random.Generator) -> float:
    """The smallest p-value of those that were looked at one by one."""
    labels = list(range(2 if p.ndim == 1 else p.shape[1]))
    options = {"labels": labels, "n_resamples": 99, "rng": rng}
    found = [consistency_test(BinnedError(), y, p, **options).pvalue]
    z, q = (y, p) if p.ndim == 1 else Confidence()(y, p)
    if p.ndim == 2:
        found.append(consistency_test(BinnedError(), y, p, lens="classwise", **options).pvalue)
    found += line_pvalues(z, q)
    return min(found)


def line_pvalues(y: np.ndarray, p: np.ndarray) -> list[float]:
    """Wald's p-values of slope 1, and of level 0 for slope 1, of the log odds."""
    odds = np.log(p / (1 - p))
    fits = []
    for design, offset, truth in (
        (np.column_stack([np.ones_like(odds), odds]), 0.0, 1.0),
        (np.ones((len(odds), 1)), odds, 0.0),
    ):
        if np.linalg.matrix_rank(design) < design.shape[1]:
            continue  # predictions that are all alike have no slope
        beta = np.zeros(design.shape[1])
        beta[-1] = truth
        for _ in range(25):
            q = 1 / (1 + np.exp(-(design @ beta + offset)))
            information = design.T @ (design * (q * (1 - q))[:, None])
            beta = beta + np.linalg.solve(information, design.T @ (y - q))
        error = math.sqrt(np.linalg.inv(information)[-1, -1])
        fits.append(math.erfc(abs(beta[-1] - truth) / error / math.sqrt(2)))
    return fits


def power_row(cell: tuple[str, int, int], repetitions: int) -> list[object]:
    """Share of wrong samples found: by the joint test, by Holm, by the best part, and before."""
    wrong, n_classes, n = cell
    draw = WRONGS[wrong][2]
    data, chance = np.random.default_rng(seed_of("power", *cell)).spawn(2)
    found, holm, before, null = 0, 0, [], []
    own: list[list[float]] = []
    for _ in range(repetitions):
        p, truth, groups = draw(n, data)
        y = draw_outcomes(truth, data)
        test = joint(y, p, chance, POWER_DRAWS, **({} if groups is None else {"by": groups}))
        own.append([part.pvalue for part in test.parts])
        found += test.rejected
        holm += min(own[-1]) * len(own[-1]) <= LEVEL  # Holm rejects any if Bonferroni does
        before.append(smallest_before(y, p, chance))
        null.append(smallest_before(draw_outcomes(p, data), p, chance))
    shares = (np.array(own) <= LEVEL).mean(axis=0)
    at = int(shares.argmax())
    name, label = test.parts[at].name, test.parts[at].label
    cut = np.sort(null)[max(0, int(LEVEL * repetitions) - 1)]
    return [wrong, n_classes, n, repetitions, f"{found / repetitions:.3f}",
            f"{holm / repetitions:.3f}", name if label is None else f"{name} {label}",
            f"{shares[at]:.3f}", f"{np.mean(np.array(before) <= cut):.3f}"]  # fmt: skip


def percent(share: str) -> str:
    """A share in per cent."""
    return f"{100 * float(share):.0f}"


def page_text(levels: list[dict[str, str]], power: list[dict[str, str]]) -> str:
    """What the tables say, for the page that helps to choose a test."""
    worst = max(levels, key=lambda row: float(row["found"]) - float(row["limit"]))
    beyond = sum(float(row["found"]) > float(row["limit"]) for row in levels)
    runs = np.array([int(row["repetitions"]) for row in levels], dtype=float)
    mean = float(runs @ [float(row["found"]) for row in levels] / runs.sum())
    found, most = (f"{100 * float(worst[name]):.1f} %" for name in ("found", "limit"))
    head = ["what is wrong", "K", "n", "joint test", "Holm, same parts", "best part alone",
            "rule before, cut to 5 %"]  # fmt: skip
    lines = [
        f"False alarms: {len(levels)} cells of {int(runs.min()):,} to {int(runs.max()):,}"
        f" calibrated samples, {100 * mean:.1f} % in all; {beyond or 'none'} beyond 5 % by more"
        f" than three standard errors. The nearest to its limit is {worst['predictions']}, K ="
        f" {worst['classes']}, n = {int(worst['n']):,}, {worst['with']}: {found} (limit {most}).",
        "",
        f"| {' | '.join(head)} |",
        "|---" * len(head) + "|",
    ]
    for row in power:
        lines.append(
            f"| {row['wrong']} | {row['classes']} | {int(row['n']):,} | {percent(row['found'])}"
            f" | {percent(row['holm'])} | {percent(row['best'])} ({row['best_part']})"
            f" | {percent(row['before'])} |"
        )
    return "\n".join(lines)


def write_page(page: Path, folder: Path) -> None:
    """Rewrite what stands between the markers of the page."""
    tables = []
    for name in ("levels", "power"):
        with (folder / f"verdict_{name}.csv").open(newline="", encoding="utf-8") as file:
            tables.append(list(csv.DictReader(file)))
    start, end = "<!-- joint test -->\n", "<!-- end of joint test -->"
    before, rest = page.read_text(encoding="utf-8").split(start)
    after = rest.split(end)[1]
    text = f"{before}{start}{page_text(*tables)}\n{end}{after}"
    page.write_text(text, encoding="utf-8")


def repeats(name: str, cell: tuple[object, ...]) -> int:
    """How many samples a cell of a table takes."""
    return POWER_REPEATS if name == "power" else REPEATS[int(str(cell[0]))]


def held(path: Path, width: int) -> dict[tuple[str, ...], list[object]]:
    """Rows of a table that is there, by what they are about."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {tuple(row[:width]): list(row) for row in list(csv.reader(file))[1:]}


def main() -> None:
    """Write the tables; rows of cells that are not simulated now stay as they are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=["levels", "power"])
    parser.add_argument("--classes", type=int, nargs="*", default=list(REPEATS))
    parser.add_argument("--sizes", type=int, nargs="*")
    parser.add_argument("--repeats", type=int, default=10**6)
    parser.add_argument("--resume", action="store_true", help="leave cells that are there")
    parser.add_argument("--page", type=Path, help="page to put the tables on")
    parser.add_argument("--page-only", action="store_true", help="simulate nothing")
    options = parser.parse_args()
    warnings.simplefilter("ignore", VeridicalWarning)
    warnings.simplefilter("ignore", RuntimeWarning)
    wrongs = [(wrong, WRONGS[wrong][0], n) for wrong in WRONGS for n in WRONGS[wrong][1]]
    tables = {
        "power": (POWER_HEADER, power_row, wrongs, 1, 2),
        "levels": (LEVEL_HEADER, level_row, level_cells(), 0, 2),
    }
    for name, (header, row, cells, classes, size) in tables.items():
        if options.only not in (None, name) or options.page_only:
            continue
        wanted = [cell for cell in cells if cell[classes] in options.classes
                  and (options.sizes is None or cell[size] in options.sizes)]  # fmt: skip
        path, width = options.folder / f"verdict_{name}.csv", len(cells[0])
        for index in track(len(wanted), name):
            key, known = tuple(str(value) for value in wanted[index]), held(path, width)
            often = min(options.repeats, repeats(name, wanted[index]))
            if options.resume and key in known and int(str(known[key][width])) >= often:
                continue
            rows = known | {key: row(wanted[index], often)}
            order = [tuple(str(value) for value in cell) for cell in cells]
            with path.open("w", newline="", encoding="utf-8") as file:
                lines = [header, *(rows[key] for key in order if key in rows)]
                csv.writer(file, lineterminator="\n").writerows(lines)
    if options.page is not None:
        write_page(options.page, options.folder)


if __name__ == "__main__":
    main()
