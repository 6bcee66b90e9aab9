"""Summary of `refits.py`: how far other pools are from the average of all maps of all folds.

    python benchmarks/league/pools.py docs/evidence/pools.csv "tune half, split 1=REFITS.csv" ...

Mean, lowest and highest difference in log loss over cells, by number of classes and of rows;
`from_refit` is the largest distance of a compiled map from the pool that it follows.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

CELL = ["data", "model", "split", "n"]
COLUMNS = ["run", "classes", "n", "pool", "cells", "mean", "lowest", "highest", "from_refit"]


def classes_of(n_classes: int) -> str:
    """Which of three kinds a number of classes is of."""
    return "2" if n_classes == 2 else "3-10" if n_classes <= 10 else "11+"


def summary(frame: pd.DataFrame, run: str) -> pd.DataFrame:
    """Rows of the table from one run of `refits.py`."""
    wide = frame.pivot(index=[*CELL, "n_classes"], columns="pool", values="log_loss")
    kinds = wide.index.get_level_values("n_classes").map(classes_of)
    numbers = wide.index.get_level_values("n")
    rows = []
    for kind in ("2", "3-10", "11+"):
        for n in sorted(numbers.unique()):
            part = wide[(kinds == kind) & (numbers == n)]
            for pool in [name for name in wide if name != "folds"]:
                gap = (part[pool] - part["folds"]).dropna()
                if gap.empty:
                    continue
                figures = [f"{value:.2e}" for value in (gap.mean(), gap.min(), gap.max())]
                off = (part["compact"] - part["refit"]).abs().max() if pool == "compact" else None
                last = "" if off is None else f"{off:.1e}"
                rows.append([run, kind, n, pool, len(gap), *figures, last])
    return pd.DataFrame(rows, columns=COLUMNS)


def main() -> None:
    """Write the table of all runs given as NAME=FILE."""
    runs = [argument.rsplit("=", 1) for argument in sys.argv[2:]]
    parts = [summary(pd.read_csv(path), name) for name, path in runs]
    pd.concat(parts, ignore_index=True).to_csv(Path(sys.argv[1]), index=False)


if __name__ == "__main__":
    main()
