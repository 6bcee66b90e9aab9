"""A local web app: look at predictions, calibrate them, decide with them, and learn."""

from veridical.studio._data.files import parse_size
from veridical.studio._server.server import serve

__all__ = ["parse_size", "serve"]
