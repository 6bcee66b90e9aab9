"""Results on disk: one CSV file a method, only ever appended to."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pandas as pd

KEY = ("half", "data", "model", "n_classes", "split", "n", "n_test")
COLUMNS = (*KEY, "method", "version", "log_loss", "brier", "accuracy", "seconds", "failure")


class Store:
    """A folder of results; a row counts as present while its version is the installed one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def _path(self, method: str) -> Path:
        return self.folder / f"{method.replace(' ', '_')}.csv"

    def forget(self, method: str) -> None:
        """Drop the results of a method."""
        self._path(method).unlink(missing_ok=True)

    def present(self, method: str, version: str) -> set[tuple[str, str, int, int]]:
        """Cells (data, model, split, n) that a method in this version has results of."""
        if not self._path(method).exists():
            return set()
        frame = pd.read_csv(self._path(method))
        frame = frame[frame["version"] == version]
        columns = [frame[name].tolist() for name in ("data", "model", "split", "n")]
        return set(zip(*columns, strict=True))

    def add(self, rows: list[dict[str, Any]]) -> None:
        """Append rows to the files of their methods."""
        for row in rows:
            path = self._path(row["method"])
            new = not path.exists()
            with path.open("a", newline="") as stream:
                writer = csv.DictWriter(stream, COLUMNS)
                if new:
                    writer.writeheader()
                writer.writerow(row)

    def frame(self) -> pd.DataFrame:
        """All results; of repeated cells the last, whatever its version."""
        parts = [pd.read_csv(path) for path in sorted(self.folder.glob("*.csv"))]
        frame = pd.concat(parts, ignore_index=True)
        cell = ["data", "model", "split", "n", "method"]
        return frame.drop_duplicates(cell, keep="last", ignore_index=True)
