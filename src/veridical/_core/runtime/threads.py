"""Work for several threads whose results do not depend on how many there are."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import chain, islice
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def map_in_order(function: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    """Yield ``function(item)`` for each item, in order, computed on as many threads as there are.

    For functions that spend their time in NumPy, which lets other threads run meanwhile. Items are
    asked for as they are needed, few ahead of the results.

    Examples
    --------
    >>> list(map_in_order(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    workers = os.cpu_count() or 1
    source = iter(items)
    started = list(islice(source, 2))
    if workers < 2 or len(started) < 2:
        yield from map(function, chain(started, source))
        return
    with ThreadPoolExecutor(workers) as pool:
        waiting = deque(pool.submit(function, item) for item in started)
        try:
            for item in source:
                waiting.append(pool.submit(function, item))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for each in waiting:
                each.cancel()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Linear algebra on one thread: those of many small matrices would only wait for each other."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, user_api="blas")
