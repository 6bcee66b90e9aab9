"""Files, dialects and checked exports, for commands and the studio."""

from veridical.export._checked.export_map import TARGETS, export_map
from veridical.export._text.files import COLUMN_OF, read_file
from veridical.export._text.sql_dialects import DIALECTS

__all__ = ["COLUMN_OF", "DIALECTS", "TARGETS", "export_map", "read_file"]
