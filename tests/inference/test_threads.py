"""The same seed gives the same answers on any number of threads and in any process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

CODE = """
import json
import numpy as np
import veridical as v

rng = np.random.default_rng(0)
p = rng.random(3000)
y = rng.random(3000) < p
vectors = rng.dirichlet(np.ones(5), 800)
k = (rng.random(800)[:, None] >= vectors.cumsum(axis=1)[:, :-1]).sum(axis=1)
few = {"n_resamples": 99, "rng": 1}
tests = [
    v.consistency_test(v.BinnedError(), y, p, **few),
    v.consistency_test(v.SmoothError(), y, p, **few),
    v.consistency_test(v.BinnedError(), k, vectors, lens="classwise", **few),
    v.consistency_test(v.BinnedError(v.SimplexBins(2)), k, vectors, lens="canonical", **few),
    v.pearson_test(y, p.round(2), **few),
    v.hosmer_lemeshow_test(k, vectors, **few),
    v.spiegelhalter_test(k, vectors, null="monte-carlo", **few),
    v.cox_test(y[:90], p[:90], **few),
    v.kernel_test(y, p, **few),
    v.kernel_test(k, vectors, **few),
    v.t_cal_test(y, p, **few),
]
found = [[test.statistic, test.pvalue] for test in tests]
found.append(list(v.multiple_test(v.BinnedError(), k, vectors, **few).adjusted))
found.append([v.evaluate(y, p).error("ECE").pvalue])
print(json.dumps(found))
"""


def run(threads: int) -> list[list[float]]:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(threads))
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(done.stdout)


def test_one_and_two_threads_agree():
    one, two = run(1), run(2)
    for a, b in zip(one, two, strict=True):
        # Matrix products add up in another order: the last digits of a statistic may differ.
        assert a[0] == pytest.approx(b[0], rel=1e-10)
        assert a[1:] == b[1:]


def test_another_process_repeats_the_numbers():
    assert run(2) == run(2)
