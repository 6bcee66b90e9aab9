"""Results: frozen records that carry their definition, print themselves and lose nothing."""

from veridical.results._base import Result
from veridical.results._comparison import Comparison, ModelDifference
from veridical.results._consistency import ConsistencyTest
from veridical.results._cox import Coefficient, CoxTest
from veridical.results._curve import CurveReading, ReliabilityCurve
from veridical.results._difference import Difference
from veridical.results._equivalence import EquivalenceTest
from veridical.results._evaluation import Evaluation
from veridical.results._figures import Decomposition, MeasuredError
from veridical.results._interval import Interval
from veridical.results._multiple import MultipleTest
from veridical.results._null import NullLevel
from veridical.results._sample_size import SampleSize
from veridical.results._sequential import SequentialTest
from veridical.results._test import CalibrationTest
from veridical.results._test_report import TestReport

__all__ = [
    "CalibrationTest",
    "Coefficient",
    "Comparison",
    "ConsistencyTest",
    "CoxTest",
    "CurveReading",
    "Decomposition",
    "Difference",
    "EquivalenceTest",
    "Evaluation",
    "Interval",
    "MeasuredError",
    "ModelDifference",
    "MultipleTest",
    "NullLevel",
    "ReliabilityCurve",
    "Result",
    "SampleSize",
    "SequentialTest",
    "TestReport",
]
