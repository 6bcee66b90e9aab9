"""How sure are we? What a figure reads when the model is right, and how uncertain it is."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.inference._cox.cox import cox_test
    from veridical.inference._design.equivalence import equivalence_test
    from veridical.inference._design.sample_size import detectable_error, required_sample_size
    from veridical.inference._goodness.chi_square import pearson_test
    from veridical.inference._goodness.hosmer_lemeshow import hosmer_lemeshow_test
    from veridical.inference._goodness.spiegelhalter import spiegelhalter_test
    from veridical.inference._intervals.bootstrap import bootstrap_interval
    from veridical.inference._intervals.paired import paired_difference
    from veridical.inference._intervals.ranks import mean_ranks
    from veridical.inference._joint.test import joint_test
    from veridical.inference._kernel.t_cal import t_cal_test
    from veridical.inference._kernel.test import kernel_test
    from veridical.inference._nulls.consistency import consistency_test
    from veridical.inference._nulls.multiple import adjust_pvalues, multiple_test
    from veridical.inference._nulls.null import null_level
    from veridical.inference._segments.audit import audit_segments
    from veridical.inference._sequential.process import EProcess
    from veridical.inference._sequential.test import sequential_test

__all__ = [
    "EProcess",
    "adjust_pvalues",
    "audit_segments",
    "bootstrap_interval",
    "consistency_test",
    "cox_test",
    "detectable_error",
    "equivalence_test",
    "hosmer_lemeshow_test",
    "joint_test",
    "kernel_test",
    "mean_ranks",
    "multiple_test",
    "null_level",
    "paired_difference",
    "pearson_test",
    "required_sample_size",
    "sequential_test",
    "spiegelhalter_test",
    "t_cal_test",
]

__getattr__, __dir__ = late_names(__name__)
