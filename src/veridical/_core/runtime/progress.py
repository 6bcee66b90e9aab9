"""A progress bar for whoever waits longer than two seconds at a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

_PATIENCE = 2.0


def track(n: int, what: str) -> Iterator[int]:
    """Count from 0 to n - 1, with a bar on standard error once it has taken two seconds."""
    start = time.monotonic()
    for index in range(n):
        yield index
        if time.monotonic() - start > _PATIENCE and sys.stderr.isatty():
            yield from _with_bar(index + 1, n, what)
            return


def _with_bar(first: int, n: int, what: str) -> Iterator[int]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=n, completed=first)
        for index in range(first, n):
            yield index
            progress.advance(task)
