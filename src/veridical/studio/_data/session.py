"""What one studio holds in memory: the last few tables, a fit, a game."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veridical.studio._data.answers import Refused
from veridical.studio._data.files import Settings, drop

if TYPE_CHECKING:
    from veridical.planning import HealthcareGame
    from veridical.studio._data.dataset import Dataset
    from veridical.studio._data.fit import Fit

_MOST_TABLES = 3


@dataclass
class OpenTable:
    """A file that was opened, and what was made of it.

    Attributes
    ----------
    identifier : what the browser calls it
    name : what people call it
    path : where it is
    uploaded : whether the studio may delete it
    columns : names
    data : its predictions and outcomes, once columns are mapped
    """

    identifier: str
    name: str
    path: Path
    uploaded: bool
    columns: list[str]
    data: Dataset | None = None


@dataclass
class Session:
    """One reader's work. `lock` is held while any of it is exchanged, never while computing."""

    settings: Settings
    lock: threading.RLock = field(default_factory=threading.RLock)
    tables: OrderedDict[str, OpenTable] = field(default_factory=OrderedDict)
    fit: Fit | None = None
    game: HealthcareGame | None = None
    _count: int = 0

    def new_target(self, stem: str) -> Path:
        """A path in the private folder that nothing uses yet; the ending is to be added."""
        with self.lock:
            self._count += 1
            return self.settings.workspace / f"{stem}-{self._count}"

    def keep(self, name: str, path: Path, columns: list[str]) -> OpenTable:
        """Remember a table; the one unused for longest is forgotten."""
        with self.lock:
            self._count += 1
            uploaded = path.is_relative_to(self.settings.workspace)
            table = OpenTable(str(self._count), name, path, uploaded, columns)
            self.tables[table.identifier] = table
            while len(self.tables) > _MOST_TABLES:
                _, old = self.tables.popitem(last=False)
                if old.uploaded:
                    drop(old.path)
        return table

    def table(self, identifier: Any) -> OpenTable:
        """An open table, which counts as used."""
        with self.lock:
            found = self.tables.get(str(identifier))
            if found is None:
                raise Refused(404, "that table is no longer open", "open the file again.")
            self.tables.move_to_end(found.identifier)
            return found

    @property
    def current(self) -> OpenTable | None:
        """The table whose columns were mapped or that was opened last."""
        with self.lock:
            mapped = [table for table in self.tables.values() if table.data is not None]
            return mapped[-1] if mapped else None

    @property
    def data(self) -> Dataset:
        """Predictions and outcomes of the current table."""
        current = self.current
        if current is None or current.data is None:
            raise Refused(409, "no data yet", "choose a file and its columns first.")
        return current.data

    def end(self) -> None:
        """Stop what is running."""
        with self.lock:
            if self.fit is not None:
                self.fit.cancel()
