"""Draw the figure of the README from `examples/forest.csv`.

python docs/figures/make_reliability.py
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl

import veridical

mpl.use("Agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Curve with Wilson intervals above, number of rows below."""
    data = pl.read_csv(ROOT / "examples" / "forest.csv")
    curve = veridical.reliability_curve(data["label"], data["p"], n_bins=15)
    ece = veridical.expected_calibration_error(data["label"], data["p"], n_bins=15)
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(5.2, 6.2), height_ratios=(4, 1), sharex=True, layout="constrained"
    )
    top.plot([0, 1], [0, 1], color="0.6", linewidth=1, label="calibrated")
    limits = np.abs(np.stack([curve.low, curve.high]) - curve.observed)
    top.errorbar(
        curve.predicted, curve.observed, yerr=limits, fmt="o-", color="#1f5fa8", markersize=5,
        linewidth=1.3, capsize=2.5, elinewidth=1, label=f"random forest, ECE {ece:.3f}",
    )  # fmt: skip
    top.annotate(
        "said 0.70,\nhappened 46 times of 46", xy=(0.7, 0.985), xytext=(0.78, 0.5), fontsize=9,
        arrowprops={"arrowstyle": "->", "color": "0.3"}, ha="center",
    )  # fmt: skip
    top.set(ylabel="observed frequency", ylim=(-0.02, 1.02), xlim=(0, 1))
    top.legend(loc="upper left", frameon=False, fontsize=9)
    width = curve.upper - curve.lower
    bottom.bar(curve.lower, curve.count, width=width * 0.94, align="edge", color="#9db8d6")
    bottom.set(xlabel="predicted probability", ylabel="rows")
    for axis in (top, bottom):
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).parent / "reliability.png", dpi=150)


if __name__ == "__main__":
    main()
