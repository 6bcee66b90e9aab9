"""What one studio holds in memory: the last few tables and what they tell, a fit, a game."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.validation import check_option, check_sample
from veridical._core.sample import BinarySample, Sample
from veridical._core.typing import Array, FloatArray
from veridical.calibrators import Calibrator
from veridical.calibrators.core import CheckedRows
from veridical.evaluation.data import SampleSource
from veridical.lenses import Binary, Canonical, ClassSpecific, Classwise, Confidence, Lens
from veridical.lenses.reading import default_lens
from veridical.results import Comparison
from veridical.studio._data.answers import CALLER, Refused
from veridical.studio._data.files import Settings, drop
from veridical.studio._data.live import LensView

if TYPE_CHECKING:
    from veridical.planning import HealthcareGame
    from veridical.studio._data.fit import Fit

_MOST_TABLES = 3
_MOST_VIEWS = 16


@dataclass(frozen=True)
class ColumnMapping:
    """Which columns are what."""

    y: str
    prob: tuple[str, ...]
    weight: str | None
    by: str | None


@dataclass(frozen=True)
class Picked:
    """The calibrator that was chosen, fitted to all rows, and what it makes of them."""

    method: str
    calibrator: Calibrator
    sample: Sample


@dataclass
class Dataset:
    """Rows that passed the checks, and the views of them that were asked for last.

    Attributes
    ----------
    mapping : which columns are what
    source : checked rows and their subgroups
    labels, pos_label : classes in column order and the positive class, if they were named
    picked : the calibrator chosen, if one was
    comparison : of calibrators on held-out rows, if one was made
    """

    mapping: ColumnMapping
    source: SampleSource
    labels: list[Any] | None = None
    pos_label: Any = None
    picked: Picked | None = None
    comparison: Comparison | None = None
    fitted: dict[str, Calibrator] = field(default_factory=dict)
    _views: OrderedDict[tuple[str, str], LensView] = field(default_factory=OrderedDict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def sample(self) -> Sample:
        """Checked rows."""
        return self.source.sample

    @property
    def classes(self) -> tuple[Any, ...]:
        """Labels; the last of two is the positive one."""
        return self.sample.classes

    def stage(self, name: str) -> Sample:
        """Rows with predictions as given ("before") or calibrated ("after")."""
        if name == "after" and self.picked is not None:
            return self.picked.sample
        return self.sample

    def view(self, lens: Lens, stage: str) -> LensView:
        """Rows through a lens; the last few are kept."""
        stage = "after" if stage == "after" and self.picked is not None else "before"
        key = (lens.name, stage)
        with self._lock:
            view = self._views.get(key)
            if view is None:
                sample = self.stage(stage)
                own = default_lens(sample)
                base = None if lens.name == own.name else self.view(own, stage)
                rows = replace(self.source, sample=sample, lens=lens, asked=base is not None)
                view = self._views[key] = LensView(rows, base)
            self._views.move_to_end(key)
            while len(self._views) > _MOST_VIEWS:
                self._views.popitem(last=False)
        return view

    def pick(self, method: str) -> Picked:
        """Choose one of the fitted calibrators, or none of them with an unknown name."""
        calibrator = self.fitted[method]
        after = check_sample(
            self.outcomes,
            calibrator.predict_proba(self.values),
            caller=CALLER,
            labels=np.asarray(calibrator.classes_).tolist(),
            pos_label=self.positive,
            sample_weight=self.sample.weight,
        )
        with self._lock:
            self.picked = Picked(method, calibrator, after)
            for key in [key for key in self._views if key[1] == "after"]:
                del self._views[key]
        return self.picked

    @property
    def chosen(self) -> Picked:
        """The calibrator that was chosen."""
        if self.picked is None:
            raise Refused(
                409, "no calibrator yet", "fit some on the page Calibrate and choose one."
            )
        return self.picked

    @property
    def is_binary(self) -> bool:
        """Whether there are two classes."""
        return isinstance(self.sample, BinarySample)

    @property
    def positive(self) -> Any:
        """The positive class of two; None of more."""
        return self.sample.classes[1] if self.is_binary else None

    @property
    def about(self) -> str:
        """What predictions of two classes are the probability of; empty of more."""
        return f"probability that {self.mapping.y} = {self.positive}" if self.is_binary else ""

    @property
    def outcomes(self) -> Array:
        """Labels of the checked rows."""
        return np.asarray(self.sample.columns)[self.sample.index]

    @property
    def values(self) -> FloatArray:
        """Predictions of the checked rows as calibrators take them."""
        return self.sample.p if self.one_column else np.ascontiguousarray(self.sample.matrix)

    @property
    def rows(self) -> CheckedRows:
        """The checked rows as calibrators are fitted to them."""
        return CheckedRows.of_sample(self.sample)

    @property
    def one_column(self) -> bool:
        """Whether predictions are one column, about the positive class."""
        return self.is_binary and len(self.mapping.prob) == 1

    def binary(self, stage: str, label: Any) -> BinarySample:
        """Did a class occur, and how probable was it said to be?"""
        sample = self.stage(stage)
        if isinstance(sample, BinarySample):
            return sample
        return ClassSpecific(label).induce(sample)


_MOST_CLASSES = 100  # more would make a list nobody reads
_CANONICAL_UP_TO = 10  # classes for which cells of whole vectors hold rows


def lens_choices(sample: Sample) -> list[tuple[str, Lens]]:
    """Names and lenses, the default first."""
    if isinstance(sample, BinarySample):
        return [("binary", Binary()), ("confidence", Confidence())]
    several: list[tuple[str, Lens]] = [("confidence", Confidence()), ("classwise", Classwise())]
    if len(sample.classes) <= _CANONICAL_UP_TO and sample.n <= 100_000:
        several.append(("canonical", Canonical()))
    classes = sample.classes[:_MOST_CLASSES]
    return [*several, *((f"class {label}", ClassSpecific(label)) for label in classes)]


def lens_of(sample: Sample, name: str | None) -> Lens:
    """The lens of that name; default the first."""
    choices = dict(lens_choices(sample))
    if not name:
        return next(iter(choices.values()))
    check_option(CALLER, "lens", name, choices)
    return choices[name]


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
    def in_use(self) -> tuple[OpenTable, Dataset]:
        """The current table, with its predictions and outcomes."""
        current = self.current
        if current is None or current.data is None:
            raise Refused(409, "no data yet", "choose a file and its columns first.")
        return current, current.data

    @property
    def data(self) -> Dataset:
        """Predictions and outcomes of the current table."""
        return self.in_use[1]

    def end(self) -> None:
        """Stop what is running."""
        with self.lock:
            if self.fit is not None:
                self.fit.cancel()
