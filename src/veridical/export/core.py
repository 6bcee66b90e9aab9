"""Files and dialects, for commands and the studio."""

from veridical.export._text.files import COLUMN_OF, read_file
from veridical.export._text.sql_writer import DIALECTS

__all__ = ["COLUMN_OF", "DIALECTS", "read_file"]
