"""Files: found, read, scanned and written."""

from typing import TYPE_CHECKING

from veridical._core.runtime.late import late_names

if TYPE_CHECKING:
    from veridical.frames._tables.files import (
        ENDINGS,
        FileKind,
        count_rows,
        find_files,
        is_large_file,
        read_arrays,
        scan_file,
        write_arrays,
    )
    from veridical.frames._tables.with_columns import (
        check_apart,
        check_new_columns,
        check_target,
        kind_of,
        write_with_columns,
    )

__all__ = [
    "ENDINGS",
    "FileKind",
    "check_apart",
    "check_new_columns",
    "check_target",
    "count_rows",
    "find_files",
    "is_large_file",
    "kind_of",
    "read_arrays",
    "scan_file",
    "write_arrays",
    "write_with_columns",
]

__getattr__, __dir__ = late_names(__name__)
