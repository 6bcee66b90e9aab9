"""How sure are we? What a figure reads when the model is right, and how uncertain it is."""

from veridical.inference._null import depends_on_fixed_sums, null_level
from veridical.inference._null_sums import null_summaries

__all__ = ["depends_on_fixed_sums", "null_level", "null_summaries"]
