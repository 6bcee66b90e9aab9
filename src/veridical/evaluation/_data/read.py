"""Arrays, frames, files, queries and tables of sums become one source, read and checked once."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from veridical._core.data.groups import Groups
from veridical._core.data.reading import AS_IT_IS
from veridical._core.data.validation import check_option, is_integer
from veridical._core.typing import BoolArray
from veridical.evaluation._data.source import SampleSource, Source
from veridical.evaluation._data.sums import SumsSource
from veridical.exceptions import InvalidInputError, invalid
from veridical.frames.files import is_large_file
from veridical.frames.grid import RESOLUTION, measured_key
from veridical.frames.inputs import Inputs, Named, name_columns
from veridical.frames.tables import column_names, grid_table, is_lazy
from veridical.lenses import Binary, ClassSpecific, Classwise, Confidence, Lens
from veridical.lenses.reading import RawData, named_lens, resolve_lens
from veridical.summaries import GridSummary
from veridical.summaries.core import table_of_sample

ENGINES = ("auto", "memory", "pushdown")
_BINS = 15  # of a table for a number of bins that is not known before the rows are


def name_model(error: InvalidInputError, name: str) -> InvalidInputError:
    """The same error, saying which of several models it is about."""
    named = InvalidInputError(f"{error}\nModel: {name!r}.")
    named.caller, named.param, named.expected = error.caller, error.param, error.expected
    named.got, named.hint = error.got, error.hint
    return named


@dataclass(frozen=True)
class DataRequest:
    """Data as the user gave them, what is asked, and the name of the function that was called.

    `n_bins` are those a table of sums is made with.
    """

    data: RawData
    _: KW_ONLY
    caller: str
    lens: Any = None
    n_bins: Any = _BINS
    resolution: int = RESOLUTION

    def read(
        self,
        engine: str = "memory",
        *,
        needs_rows: str | None = None,
        adapt: Callable[[Inputs], Inputs] | None = None,
    ) -> Source:
        """Read and check the data: rows into memory, or sums by their engine.

        `needs_rows` names an argument that sums cannot serve; `adapt` changes arrays before they
        are checked.
        """
        sums = self.pushed(engine, needs_rows=needs_rows)
        return self.rows(adapt) if sums is None else sums

    def pushed(self, engine: str, *, needs_rows: str | None = None) -> SumsSource | None:
        """Return sums if they are what is to be used, None if the rows are to be read."""
        check_option(self.caller, "engine", engine, ENGINES)
        needs_rows = "groups" if self.data.groups is not None else needs_rows
        needs_rows = "features" if self.data.features is not None else needs_rows
        if isinstance(self.data.y_true, GridSummary):
            return self._of_summary(engine, needs_rows)
        if engine == "memory":
            return None
        if engine == "auto":
            fits = needs_rows is None and self._is_summable()
            return self._by_engine() if fits and self._in_engine() and not self._cuts() else None
        if needs_rows is not None:
            hint = 'use engine="memory".'
            raise invalid(self.caller, "engine", '"auto" or "memory" here', needs_rows, hint=hint)
        return self.summed(engine)

    def summed(self, engine: str) -> SumsSource:
        """Return sums, whoever makes them."""
        check_option(self.caller, "engine", engine, ENGINES)
        if not self._is_summable():
            hint = 'use "binary", "confidence", "classwise" or `ClassSpecific(label)`.'
            got = f"the {getattr(self.lens, 'name', self.lens)} lens"
            raise invalid(self.caller, "lens", "one that sums answer", got, hint=hint)
        forced = engine == "pushdown" and self.data.y_prob is None and self._names_only()
        if forced or (engine == "auto" and self._in_engine() and not self._cuts()):
            return self._by_engine()
        return self._of_rows()

    def rows(self, adapt: Callable[[Inputs], Inputs] | None = None) -> SampleSource:
        """Read the rows and check them."""
        data = self.data.check(caller=self.caller, adapt=adapt)
        kept = data.kept
        return SampleSource(
            data.sample,
            resolve_lens(self.lens, data.sample, caller=self.caller),
            by=None if data.by is None else self._of_kept(data.by, kept),
            named=data.named,
            asked=self.lens is not None,
            guessed=data.guessed,
            said=data.said,
            left=kept if self.data.how.missing == "drop" else None,
            features=None if self.data.features is None else data.kept_features(caller=self.caller),
        )

    def _of_kept(self, by: Groups, kept: BoolArray) -> Groups:
        """Groups of the rows that have a weight."""
        if len(by.codes) != len(kept):
            hint = "pass one group key per row."
            got = f"{len(by.codes)} keys for {len(kept)} rows"
            raise invalid(self.caller, "by", "as long as `y_true`", got, hint=hint)
        return replace(by, codes=by.codes[kept])

    def _in_engine(self) -> bool:
        """Whether the rows are where they are better left."""
        if self.data.y_prob is not None or not self._names_only():
            return False
        return is_lazy(self.data.y_true) or _is_large(self.data.y_true)

    def _cuts(self) -> bool:
        """Whether groups are parts of a measurement, which only rows can be cut into."""
        by = [self.data.by] if isinstance(self.data.by, str) else self.data.by
        return by is not None and measured_key(self.data.y_true, by, caller=self.caller) is not None

    def _names_only(self) -> bool:
        """Whether weights and groups, if any, are columns of the frame."""
        return all(v is None or _is_name(v) for v in (self.data.sample_weight, self.data.by))

    def _of_summary(self, engine: str, needs_rows: str | None) -> SumsSource:
        for name in ("y_prob", "y", "prob", "labels", "pos_label", "sample_weight", "by"):
            if getattr(self.data, name) is not None:
                hint = "these were decided when the summary was made."
                raise invalid(self.caller, name, "unset for a summary", "a value", hint=hint)
        if needs_rows is not None or engine == "memory":
            got = needs_rows or 'engine="memory"'
            hint = "pass the data themselves."
            raise invalid(self.caller, "y_true", "rows here", f"a summary with {got}", hint=hint)
        if self.data.how != AS_IT_IS:
            hint = "values were read when the summary was made."
            got = "`scale`, `missing`, `normalize` or `by_bins`"
            raise invalid(self.caller, "y_true", "rows here", f"a summary with {got}", hint=hint)
        grid = self.data.y_true
        # Of a summary it is known only that the smaller label was named, if it is positive.
        named = Named(pos_label=len(grid.classes) == 2 and grid.table.positive == 0)
        lens = self._lens(len(grid.classes))
        return SumsSource(grid, lens, self.caller, named=named, asked=self.lens is not None)

    def _is_summable(self) -> bool:
        """Whether sums by cell answer what the lens asks."""
        if self.lens is None:
            return True
        lens = named_lens(self.lens, caller=self.caller)
        return isinstance(lens, (Binary, Confidence, ClassSpecific, Classwise))

    def _lens(self, n_classes: int) -> Lens:
        if self.lens is None:
            return Binary() if n_classes == 2 else Confidence()
        return named_lens(self.lens, caller=self.caller)

    def _by_engine(self) -> SumsSource:
        names = name_columns(
            self.data.y_true,
            y=self.data.y,
            prob=self.data.prob,
            sample_weight=self.data.sample_weight,
            by=self.data.by,
            scale=self.data.how.scale,
            caller=self.caller,
        )
        lens = self._lens(max(2, len(names.prob)))
        table = grid_table(
            self.data.y_true,
            y=names.y,
            prob=names.prob,
            problems=_problems_for(max(2, len(names.prob)), lens),
            n_bins=_table_bins(self.n_bins),
            resolution=self.resolution,
            labels=self.data.labels,
            pos_label=self.data.pos_label,
            sample_weight=names.sample_weight,
            by=names.by,
            reading=self.data.how,
            option=None if self.data.reading is None else "scale",
            caller=self.caller,
        )
        if not math.isfinite(table.total_w2.sum()):
            hint = "divide the weights by their mean: only their ratios matter."
            got = "weights whose squares overflow"
            raise invalid(self.caller, "sample_weight", "of moderate size", got, hint=hint)
        named = names.named._replace(pos_label=self.data.pos_label is not None)
        about: dict[str, Any] = {
            "named": named,
            "asked": self.lens is not None,
            "said": table.notes,
        }
        return SumsSource(GridSummary(table), lens, self.caller, names.said, **about)

    def _of_rows(self) -> SumsSource:
        """Sums of rows that are read into memory."""
        source = self.rows()
        table = table_of_sample(
            source.sample,
            _problems_for(len(source.classes), source.lens),
            n_bins=_table_bins(self.n_bins),
            resolution=self.resolution,
            groups=None if source.by is None else source.samples_by_group(),
        )
        about: dict[str, Any] = {"named": source.named, "asked": source.asked, "said": source.said}
        return SumsSource(GridSummary(table), source.lens, self.caller, source.guessed, **about)


def searched(data: RawData, *, caller: str) -> RawData:
    """The data with all columns as features, if subgroups are to be searched: ``by="auto"``."""
    if not (isinstance(data.by, str) and data.by == "auto"):
        return data
    if data.y_prob is not None:
        hint = "arrays have no other columns: use `audit_segments(y_true, y_prob, features)`."
        raise invalid(caller, "by", 'a frame or a file for "auto"', "arrays", hint=hint)
    if isinstance(data.y_true, GridSummary):
        hint = "pass the rows."
        raise invalid(caller, "by", 'a frame or a file for "auto"', "a summary", hint=hint)
    if "auto" in column_names(data.y_true, caller=caller, param="y_true"):
        hint = 'by=["auto"] means the column; rename it to search all segments.'
        raise invalid(
            caller, "by", 'not the name of a column, to mean "search"', "'auto'", hint=hint
        )
    return replace(data, by=None, features="*" if data.features is None else data.features)


def _problems_for(n_classes: int, lens: Lens) -> Sequence[str | int]:
    """What a table must hold for an evaluation through a lens."""
    if n_classes > 2:
        return ("confidence", *range(n_classes))
    if isinstance(lens, Binary):
        return ("binary",)
    return (
        ("binary", "confidence") if isinstance(lens, Confidence) else ("binary", "confidence", 0, 1)
    )


def _table_bins(n_bins: Any) -> int:
    """Bins of a table from which so many are wanted."""
    return int(n_bins) if is_integer(n_bins) else _BINS


def _is_name(value: Any) -> bool:
    """Whether weights or groups are columns of the frame."""
    if isinstance(value, str):
        return True
    return isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)


def _is_large(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike)) and is_large_file(value)
