"""One of every kind of result, made once."""

from __future__ import annotations

import pytest
from forms.every_result import one_of_each


@pytest.fixture(scope="session")
def every_result(tmp_path_factory):
    return one_of_each(tmp_path_factory.mktemp("results"))
