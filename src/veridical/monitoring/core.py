"""A status as text, and a look at everything at one moment, for commands and pages."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.monitoring._judge.prometheus import prometheus_text
    from veridical.monitoring._store.address import is_address
    from veridical.monitoring._store.store import store_exists
    from veridical.monitoring._watch.monitor import one_moment, tell_alarms

__all__ = ["is_address", "one_moment", "prometheus_text", "store_exists", "tell_alarms"]

__getattr__, __dir__ = late_names(__name__)
