"""Old place of the experiments, which are in the distribution veridical-lab now."""

from veridical._core.runtime.moved import moved_error

raise moved_error(__name__) or ImportError(__name__)
