"""What a sequential test found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from veridical._core.typing import FloatArray
from veridical.results._test import CalibrationTest, format_pvalue


@dataclass(frozen=True, kw_only=True, eq=False)
class SequentialTest(CalibrationTest):
    """Outcome of a test that may be looked at after every row.

    Attributes
    ----------
    e_value : evidence at the end: on average at most 1 if the predictions are calibrated and the
        number of rows was fixed beforehand (with lag 1 also if the data decided when to stop)
    max_e_value : largest evidence after any row, also the `statistic`; with a lag above 1 it is
        guarded, and may be below `e_value`
    pvalue : 1 / `max_e_value`, at most 1: valid whenever and for whatever reason one stops
    path : log of the evidence after each row
    alarm_at : index of the first row after which the evidence reached 1 / `level`, or None
    level : chance of a false alarm, ever
    direction : what seems wrong, in words, if there was an alarm
    lag, alternative : as asked
    """

    _text_columns: ClassVar[tuple[str, ...]] = (
        *CalibrationTest._text_columns,
        "direction",
        "alternative",
    )
    _number_columns: ClassVar[tuple[str, ...]] = (*CalibrationTest._number_columns, "alarm_at")

    e_value: float
    max_e_value: float
    path: FloatArray
    alarm_at: int | None
    level: float
    direction: str | None
    lag: int
    alternative: str

    def __post_init__(self) -> None:
        self.path.setflags(write=False)

    def __str__(self) -> str:
        found = "no alarm"
        if self.alarm_at is not None:
            found = f"alarm at row {self.alarm_at} ({self.direction})"
        return (
            f"{self.method}: {found}, e = {self.e_value:.4g}, largest {self.max_e_value:.4g},"
            f" p = {format_pvalue(self.pvalue)} at any time (alarm from {1 / self.level:.4g};"
            f" {self.lens}, lag {self.lag}, n={self.n_samples})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SequentialTest) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def _columns(self) -> dict[str, list[object]]:
        names = ("e_value", "max_e_value", "alarm_at", "level", "direction", "lag", "alternative")
        return super()._columns() | {name: [getattr(self, name)] for name in names}
