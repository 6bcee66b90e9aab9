"""A local web app: look at predictions, calibrate them, decide with them, and learn."""

from veridical.studio._server import serve
from veridical.studio._settings import parse_size

__all__ = ["parse_size", "serve"]
