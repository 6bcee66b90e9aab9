"""Tests and judgements of checked data, for rooms above."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.inference._cox.binary import recalibration_line
    from veridical.inference._design.equivalence import (
        DEFAULT_MARGIN,
        Margin,
        check_margin,
        equivalence_core,
        equivalence_error,
    )
    from veridical.inference._design.sample_size import Design, Plan, detectable_core, required_core
    from veridical.inference._intervals.paired import KeptScores, difference_core
    from veridical.inference._joint.sums import joint_sums_core
    from veridical.inference._joint.test import joint_core
    from veridical.inference._nulls.consistency import consistency_core, judged
    from veridical.inference._nulls.multiple import Family, corrected, multiple_core
    from veridical.inference._nulls.null import as_estimator
    from veridical.inference._segments.audit import audit_of_rows, check_search
    from veridical.inference._sequential.process import ONSET_ROWS, Bets

__all__ = [
    "DEFAULT_MARGIN",
    "ONSET_ROWS",
    "Bets",
    "Design",
    "Family",
    "KeptScores",
    "Margin",
    "Plan",
    "as_estimator",
    "audit_of_rows",
    "check_margin",
    "check_search",
    "consistency_core",
    "corrected",
    "detectable_core",
    "difference_core",
    "equivalence_core",
    "equivalence_error",
    "joint_core",
    "joint_sums_core",
    "judged",
    "multiple_core",
    "recalibration_line",
    "required_core",
]

__getattr__, __dir__ = late_names(__name__)
