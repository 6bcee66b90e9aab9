"""Maps that move the scores of another one along a line of their own in each of some cases."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from veridical._core.data.schema import Fields, Number, Numbers, Relations
from veridical._core.data.segments import cross
from veridical._core.formula import Cases, Clip, Conditions, Linear, Log, Logistic, Nodes, Quotient
from veridical._core.typing import FloatArray, IntArray
from veridical.calibrators._base.calibrator import Calibrator
from veridical.calibrators._base.features import FeatureCalibrator
from veridical.calibrators._base.nodes import softmax_of
from veridical.calibrators._base.persistence import Part
from veridical.calibrators._base.rows import positive_last
from veridical.calibrators._segments.cross_fitted import FLOOR
from veridical.calibrators._softmax.softmax import softmax_in_place
from veridical.calibrators._softmax.structured import StructuredMatrixCalibrator
from veridical.calibrators._wrappers.wrapping import WrappingCalibrator, predict_part

_LARGEST = 1e6


@dataclass(eq=False, repr=False)
class LineCalibrator(WrappingCalibrator, FeatureCalibrator):
    """m, and what cases of the features add to its log probabilities: offsets + slope * u."""

    _exclusive: ClassVar[bool] = False  # whether every row is in one case and no other
    _fitted = Fields(
        base_=Part(),
        offsets_=Numbers("h", "K", low=-_LARGEST, high=_LARGEST),
        slopes_=Numbers("h", low=-_LARGEST, high=_LARGEST),
        sizes_=Numbers("h", low=0),
        gain_=Number(),
        gain_error_=Number(low=0),
    )

    calibrator: Calibrator | None = None

    @property
    def _given(self) -> Calibrator:
        return StructuredMatrixCalibrator() if self.calibrator is None else self.calibrator

    def _relations(self) -> Relations:
        yield from super()._relations()
        yield "features_", self._uses_features, "there"

    @abstractmethod
    def _members(self, codes: IntArray) -> Any:
        """Sparse or dense (cells, cases), 1 where a case holds a cell of these codes."""

    @abstractmethod
    def _conditions(self) -> tuple[Conditions, ...]:
        """What the rows of each case have in common."""

    def _combine(self, values: FloatArray) -> FloatArray:
        return predict_part(self.base_, values)

    def _predict_by(self, values: FloatArray, codes: IntArray) -> FloatArray:
        if values.ndim == 2:
            values = positive_last(values, self.positive_index_)
        p = self._combine(values)
        if len(self.slopes_):
            cells = cross(codes, self.features_.n_codes)
            members = self._members(cells.codes)
            scores = np.log(np.maximum(p, FLOOR))
            scores *= 1 + (members @ self.slopes_)[cells.place, None]
            scores += (members @ self.offsets_)[cells.place]
            p = softmax_in_place(scores)
        return positive_last(p, self.positive_index_)

    def _combine_nodes(self, inputs: Nodes) -> Nodes:
        outputs = self.base_._formula(inputs)
        if not len(self.slopes_):
            return outputs
        conditions = self._conditions()
        raised = tuple(Clip(each, FLOOR) for each in outputs)
        offsets = np.ascontiguousarray(self.offsets_.T)
        if len(outputs) == 2:
            u = Log(Quotient(raised[1], raised[0]))
            shift = offsets[1] - offsets[0]
            added = Cases(u, conditions, shift, self.slopes_, self._exclusive)
            odds = Linear(((1.0, u), (1.0, added)))
            return Logistic(Linear(((-1.0, odds),))), Logistic(odds)
        logs = tuple(map(Log, raised))
        return softmax_of(
            tuple(
                Linear(((1.0, u), (1.0, Cases(u, conditions, own, self.slopes_, self._exclusive))))
                for u, own in zip(logs, offsets, strict=True)
            )
        )
