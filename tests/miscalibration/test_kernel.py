"""Kernel errors: closed cases, double loops over rows, unbiasedness by enumeration, and laws."""

from __future__ import annotations

import itertools
import math
import tracemalloc

import numpy as np
import pytest

from veridical import ClassSpecific, InvalidInputError
from veridical._core.numeric.gram import pair_sum
from veridical.miscalibration._errors.kernel import KernelError, UCMEError

KERNELS = ["laplacian", "gaussian", "total-variation"]
CLOSE = {"rel": 1e-11, "abs": 1e-13}


def binary_rows(n=60, seed=0, tied=False):
    rng = np.random.default_rng(seed)
    p = rng.integers(0, 11, n) / 10 if tied else rng.beta(0.8, 0.6, n)
    return (rng.random(n) < 0.1 + 0.7 * p**1.5).astype(int), p, rng.gamma(1.0, size=n)


def vector_rows(n=60, k=4, seed=0, tied=False):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.7), n)
    p = rng.multinomial(4, p) / 4 if tied else p
    return rng.integers(0, k, n), p, rng.gamma(1.0, size=n)


def similarity(a, b, kernel, h):
    """Kernel of two predictions, scalars or vectors."""
    difference = np.atleast_1d(a) - np.atleast_1d(b)
    if kernel == "total-variation":
        scale = 1 if np.ndim(a) == 0 else 2
        return math.exp(-np.abs(difference).sum() / scale / h)
    distance = math.sqrt((difference**2).sum())
    return math.exp(-(distance**2) / (2 * h**2) if kernel == "gaussian" else -distance / h)


def pair_term(y, p, i, j, kernel, h):
    """h_ij by its definition: delta - p_j[y_i] - p_i[y_j] + p_i . p_j; binary written out."""
    if p.ndim == 1:
        return 2 * (y[i] - p[i]) * (y[j] - p[j]) * similarity(p[i], p[j], kernel, h)
    target = (y[i] == y[j]) - p[j][y[i]] - p[i][y[j]] + p[i] @ p[j]
    return target * similarity(p[i], p[j], kernel, h)


def double_loop(y, p, kernel, h, w=None, weight_type="importance", biased=False):
    w = np.ones(len(y)) if w is None else w
    total = pairs = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            share = w[i] * w[j]
            if i == j and not biased:
                share = 0.0 if weight_type == "importance" else w[i] * (w[i] - 1)
            total += share * pair_term(y, p, i, j, kernel, h)
            pairs += share
    return total / pairs


@pytest.mark.parametrize("kernel", KERNELS)
def test_two_opposite_predictions(kernel):
    """Cases of CalibrationErrors.jl (test/skce.jl): scalars at distance 1, scaled likewise."""
    h = math.sqrt(0.5) if kernel == "gaussian" else 1.0
    unbiased = KernelError(kernel, h)
    biased = KernelError(kernel, h, estimator="biased")
    blocks = KernelError(kernel, h, estimator="block")
    for y, free, full in (
        ([1, 0], 0, 0),
        ([1, 1], 0, 0.5),
        ([0, 1], -2 * math.exp(-1), 1 - math.exp(-1)),
        ([0, 0], 0, 0.5),
    ):
        assert unbiased(y, [1.0, 0.0], labels=[0, 1]) == pytest.approx(free, abs=1e-15)
        assert blocks(y * 10, [1.0, 0.0] * 10, labels=[0, 1]) == pytest.approx(free, abs=1e-15)
        assert biased(y, [1.0, 0.0], labels=[0, 1]) == pytest.approx(full, abs=1e-15)


def test_two_opposite_vectors():
    """The same with vectors; a third class that is never predicted changes nothing."""
    p = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    options = {"lens": "canonical", "labels": [0, 1, 2]}
    for kernel, h in (("gaussian", 1.0), ("laplacian", math.sqrt(2)), ("total-variation", 1.0)):
        assert KernelError(kernel, h)([1, 0], p, **options) == pytest.approx(-2 * math.exp(-1))
        assert KernelError(kernel, h)([0, 1], p, **options) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("rows", [binary_rows, vector_rows])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("h", [0.003, 0.2, 5.0])
def test_errors_are_those_of_a_double_loop(rows, kernel, tied, h):
    y, p, w = rows(tied=tied)
    call = {"lens": "canonical"}
    for weight, weight_type in ((None, "importance"), (w, "importance"), (3 * w, "frequency")):
        call |= {"sample_weight": weight, "weight_type": weight_type}
        expected = double_loop(y, p, kernel, h, weight, weight_type)
        assert KernelError(kernel, h)(y, p, **call) == pytest.approx(expected, **CLOSE)
        expected = double_loop(y, p, kernel, h, weight, biased=True)
        found = KernelError(kernel, h, estimator="biased")(y, p, **call)
        assert found == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("h", [1e-7, 1e-3, 0.03, 1.0])
def test_sums_on_a_line_are_those_over_all_pairs(kernel, h):
    """The fast sums of scalars, also where exp would overflow, against the whole matrix."""
    rng = np.random.default_rng(5)
    p = np.sort(np.concatenate([rng.random(700), 1e-5 * rng.random(300)]))
    charge = rng.normal(size=len(p))
    distance = np.abs(p[:, None] - p)
    whole = np.exp(-(distance**2) / (2 * h**2) if kernel == "gaussian" else -distance / h)
    expected = charge @ whole @ charge
    assert pair_sum(p, charge, kernel, h) == pytest.approx(expected, abs=1e-12 * charge @ charge)


@pytest.mark.parametrize("kernel", KERNELS)
def test_tiles_cover_all_pairs_of_vectors(kernel):
    y, p, _ = vector_rows(n=700, k=3)
    e = np.eye(3)[y] - p
    gap = p[:, None] - p
    distance = np.abs(gap).sum(2) / 2 if kernel == "total-variation" else np.sqrt((gap**2).sum(2))
    whole = np.exp(-(distance**2) / 0.02 if kernel == "gaussian" else -distance / 0.1)
    expected = (whole * (e @ e.T)).sum() / 700**2
    found = KernelError(kernel, 0.1, estimator="biased")(y, p, lens="canonical")
    assert found == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bandwidth", [0.2, "median"])
def test_unbiased_estimate_has_mean_zero_for_a_calibrated_model(kernel, bandwidth):
    """Enumeration of all outcomes of three rows, with their probabilities under the predictions."""
    vectors = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.25, 0.25, 0.5]])
    scalars = np.array([0.2, 0.5, 0.9])
    for p, labels in ((vectors, [0, 1, 2]), (scalars, [0, 1])):
        matrix = p if p.ndim == 2 else np.column_stack([1 - p, p])
        options = {"lens": "canonical", "labels": labels}
        means = dict.fromkeys(("unbiased", "biased", "block"), 0.0)
        for y in itertools.product(labels, repeat=3):
            chance = math.prod(matrix[i, y[i]] for i in range(3))
            for name in means:
                means[name] += chance * KernelError(kernel, bandwidth, name)(y, p, **options)
        assert means["unbiased"] == pytest.approx(0, abs=1e-15)
        assert means["block"] == pytest.approx(0, abs=1e-15)
        variance = (matrix * (1 - matrix)).sum() / 3  # E h_ii, since k(p, p) = 1
        assert means["biased"] == pytest.approx(variance / 3)


def test_two_columns_are_the_binary_problem():
    y, p, w = binary_rows()
    matrix = np.column_stack([1 - p, p])
    for estimator in (KernelError(), KernelError.mmce(), UCMEError()):
        expected = estimator(y, p, sample_weight=w)
        assert estimator(y, matrix, sample_weight=w) == pytest.approx(expected)


@pytest.mark.parametrize("size", [2, 3, 7, 60])
@pytest.mark.parametrize("kernel", KERNELS)
def test_blocks_average_the_estimates_of_their_rows(size, kernel):
    for y, p, w in (binary_rows(), vector_rows()):
        blocks = [slice(k * size, (k + 1) * size) for k in range(60 // size)]
        each = [double_loop(y[rows], p[rows], kernel, 0.3) for rows in blocks]
        estimator = KernelError(kernel, 0.3, "block", size)
        assert estimator(y, p, lens="canonical") == pytest.approx(np.mean(each), **CLOSE)
        pairs = [w[rows].sum() ** 2 - (w[rows] ** 2).sum() for rows in blocks]
        each = [double_loop(y[rows], p[rows], kernel, 0.3, w[rows]) for rows in blocks]
        found = estimator(y, p, lens="canonical", sample_weight=w)
        assert found == pytest.approx(np.average(each, weights=pairs), **CLOSE)


def test_one_block_of_all_rows_is_the_unbiased_estimate():
    for y, p, w in (binary_rows(), vector_rows()):
        options = {"lens": "canonical", "sample_weight": w}
        block = KernelError(estimator="block", block_size=60)(y, p, **options)
        assert block == pytest.approx(KernelError()(y, p, **options), **CLOSE)


def test_biased_estimate_is_never_negative():
    for seed in range(30):
        for y, p, w in (binary_rows(15, seed), vector_rows(15, 3, seed)):
            for kernel in KERNELS:
                estimator = KernelError(kernel, estimator="biased")
                assert estimator(y, p, lens="canonical", sample_weight=w) > 0


def test_mmce_is_the_formula_of_its_authors():
    rng = np.random.default_rng(6)
    p, y = rng.dirichlet(np.ones(3), 50), rng.integers(0, 3, 50)
    top, right = p.max(axis=1), p.argmax(axis=1) == y
    whole = np.exp(-np.abs(top[:, None] - top) / 0.2)
    expected = math.sqrt((right - top) @ whole @ (right - top)) / 50
    assert KernelError.mmce()(y, p) == pytest.approx(expected, rel=1e-12)
    assert KernelError.mmce() == KernelError("laplacian", 0.2, "mmce")
    half = KernelError(bandwidth=0.2, estimator="biased")(y, p) / 2
    assert KernelError.mmce()(y, p) == pytest.approx(math.sqrt(half), rel=1e-12)
    with pytest.raises(InvalidInputError, match="lens"):
        KernelError.mmce()(y, p, lens="canonical")


@pytest.mark.parametrize("rows", [binary_rows, vector_rows])
@pytest.mark.parametrize("kernel", KERNELS)
def test_median_bandwidth_is_the_median_distance(rows, kernel):
    y, p, _ = rows(n=61)
    distances = sorted(
        -math.log(similarity(p[i], p[j], "laplacian" if kernel == "gaussian" else kernel, 1.0))
        for i in range(61)
        for j in range(i)
    )
    median = distances[(len(distances) - 1) // 2]
    expected = KernelError(kernel, median)(y, p, lens="canonical")
    assert KernelError(kernel)(y, p, lens="canonical") == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_pairs_of_crowded_predictions_count_by_the_variance_of_their_outcomes(classes):
    rng = np.random.default_rng(1)
    rest = rng.beta(0.02, 10, (80, classes - 1)) / classes
    p = np.column_stack([1 - rest.sum(axis=1), rest])
    y = rng.integers(0, classes, 80)
    points = p[:, 1] if classes == 2 else p
    pairs = []
    for i, j in itertools.combinations(range(80), 2):
        apart = abs(p[i, 1] - p[j, 1]) if classes == 2 else math.dist(p[i], p[j])
        doubts = [q[1] * (1 - q[1]) if classes == 2 else 1 - sum(q**2) for q in (p[i], p[j])]
        pairs.append((apart, doubts[0] * doubts[1]))
    pairs.sort()
    distances = [apart for apart, _ in pairs]
    assert distances[len(pairs) // 2] < sum(distances) / len(pairs) / 20
    reached = list(itertools.accumulate(weight for _, weight in pairs))
    middle = next(k for k, weight in enumerate(reached) if weight >= reached[-1] / 2)
    expected = KernelError("laplacian", distances[middle])(
        y, points, labels=range(classes), lens="canonical"
    )
    found = KernelError("laplacian")(y, points, labels=range(classes), lens="canonical")
    assert found == pytest.approx(expected, rel=1e-9)


def test_median_bandwidth_of_many_rows_is_taken_from_a_thousand():
    y, p, _ = binary_rows(n=5000)
    kept = np.sort(p)[2::5]  # the middle one of each five
    gaps = np.abs(kept[:, None] - kept)[np.triu_indices(1000, 1)]
    expected = KernelError(bandwidth=np.sort(gaps)[(len(gaps) - 1) // 2])(y, p)
    assert KernelError()(y, p) == pytest.approx(expected, rel=1e-12)
    moved = np.random.default_rng(7).permutation(5000)
    assert KernelError()(y[moved], p[moved]) == pytest.approx(expected, **CLOSE)
    for weight in (0.1, 3.0):  # equal weights, whose cumulated sums are rounded
        found = KernelError()(y[moved], p[moved], sample_weight=np.full(5000, weight))
        assert found == pytest.approx(expected, **CLOSE)


def test_equal_predictions_need_no_bandwidth():
    assert KernelError(estimator="biased")([0, 1, 1, 1], [0.5] * 4) == pytest.approx(2 * 0.25**2)
    p = np.tile([0.5, 0.25, 0.25], (4, 1))
    gap = np.array([0.25, 0.5, 0.25]) - p[0]
    found = KernelError(estimator="biased")([0, 1, 1, 2], p, lens="canonical")
    assert found == pytest.approx(gap @ gap)


ESTIMATORS = [
    *(KernelError(kernel, estimator=name) for kernel in KERNELS for name in ("unbiased", "biased")),
    KernelError(bandwidth=0.1),
    KernelError.mmce("median"),
    *(UCMEError(kernel=kernel) for kernel in KERNELS),
]


@pytest.mark.parametrize("rows", [binary_rows, vector_rows])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_laws_of_weights_and_order(rows, estimator):
    for tied in (False, True):
        y, p, w = rows(n=200, tied=tied)
        options = {"lens": "canonical" if getattr(estimator, "estimator", "") != "mmce" else None}
        plain = estimator(y, p, **options)
        weighted = estimator(y, p, sample_weight=w, **options)
        moved = np.random.default_rng(1).permutation(len(y))
        assert estimator(y[moved], p[moved], **options) == pytest.approx(plain, **CLOSE)
        found = estimator(y, p, sample_weight=np.ones(len(y)), **options)
        assert found == pytest.approx(plain, **CLOSE)
        for factor in (0.1, 7.0):
            found = estimator(y, p, sample_weight=factor * w, **options)
            assert found == pytest.approx(weighted, **CLOSE)
        kept, zeros = moved[:150], np.zeros(len(y))
        zeros[kept] = w[kept]
        removed = estimator(y[kept], p[kept], sample_weight=w[kept], **options)
        assert estimator(y, p, sample_weight=zeros, **options) == pytest.approx(removed, **CLOSE)
        times = np.random.default_rng(2).integers(0, 4, len(y))
        repeated = estimator(np.repeat(y, times), np.repeat(p, times, axis=0), **options)
        for weight_type in ("frequency", "importance"):
            if weight_type == "importance" and "unbiased" in repr(estimator):
                continue  # n matters
            found = estimator(y, p, sample_weight=times, weight_type=weight_type, **options)
            assert found == pytest.approx(repeated, **CLOSE)
        single = estimator(y, p.astype(np.float32), sample_weight=w, **options)
        assert single == pytest.approx(weighted, rel=2e-5, abs=2e-6)


@pytest.mark.parametrize("estimator", [KernelError(), KernelError.mmce(), UCMEError()], ids=repr)
def test_classwise_error_is_the_mean_over_classes(estimator):
    y, p, w = vector_rows()
    each = [estimator(y, p, lens=ClassSpecific(k), sample_weight=w) for k in range(4)]
    found = estimator(y, p, lens="classwise", sample_weight=w)
    assert found == pytest.approx(np.mean(each))


def test_no_matrix_of_all_pairs_is_held():
    y, p, _ = vector_rows(n=5000, k=10)
    for kernel in KERNELS:
        tracemalloc.start()
        KernelError(kernel)(y, p, lens="canonical")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 60e6  # one n x n matrix is 200 MB, an n x n x K array 2 GB


def test_embedding_is_that_of_a_loop():
    for y, p, w in (binary_rows(), vector_rows()):
        vectors = p.ndim == 2
        places = np.array([[0.7, 0.1, 0.1, 0.1], [0.25] * 4]) if vectors else np.array([0.2, 0.9])
        targets = [1, 3]
        for kernel in KERNELS:
            expected = 0.0
            for place, target in zip(places, targets, strict=True):
                terms = [
                    w[i]
                    * similarity(p[i], place, kernel, 0.3)
                    * ((y[i] == target) - p[i][target] if vectors else y[i] - p[i])
                    for i in range(len(y))
                ]
                expected += (sum(terms) / w.sum()) ** 2 / 2
            estimator = UCMEError(places, targets if vectors else None, kernel, 0.3)
            found = estimator(y, p, lens="canonical", sample_weight=w)
            assert found == pytest.approx(expected, **CLOSE)


def test_embedding_cases_of_calibration_errors_jl():
    """test/ucme.jl: kernel exp(-4 d^2), three places; here with a third class nobody predicts."""
    places = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
    estimator = UCMEError(places, ["a", "a", "b"], "gaussian", math.sqrt(1 / 8))
    p = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    for y, expected in (
        (["a", "b"], 0),
        (["a", "a"], (math.exp(-16) + math.exp(-4) + 1) / 12),
        (["b", "a"], (1 - math.exp(-8)) ** 2 / 6),
        (["b", "b"], (math.exp(-16) + math.exp(-4) + 1) / 12),
    ):
        found = estimator(y, p, lens="canonical", labels=["a", "b", "c"])
        assert found == pytest.approx(expected, abs=1e-15)


def test_embedding_looks_at_ten_places_of_every_class_by_default():
    y, p, _ = vector_rows(k=3)
    levels = np.arange(0.05, 1, 0.1)
    places, targets = [], []
    for k in range(3):
        for level in levels:
            row = np.full(3, (1 - level) / 2)
            row[k] = level
            places.append(row)
            targets.append(k)
    given = UCMEError(places, targets)
    assert UCMEError()(y, p, lens="canonical") == pytest.approx(given(y, p, lens="canonical"))
    y, p, _ = binary_rows()
    assert UCMEError()(y, p) == pytest.approx(UCMEError(levels)(y, p))


def test_embedding_is_a_value_whatever_its_places_came_in():
    places, targets = np.array([[0.5, 0.25, 0.25]]), np.array([2])
    one, other = UCMEError(places, targets), UCMEError(places.tolist(), [2])
    assert one == other
    assert hash(one) == hash(other)
    assert one.definition == "laplacian kernel, bandwidth median, 1 places"


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: KernelError("laplace"), "kernel"),
        (lambda: KernelError(bandwidth="mean"), "bandwidth"),
        (lambda: KernelError(bandwidth=0), "bandwidth"),
        (lambda: KernelError(bandwidth=math.inf), "bandwidth"),
        (lambda: KernelError(bandwidth=True), "bandwidth"),
        (lambda: KernelError(estimator="linear"), "estimator"),
        (lambda: KernelError(block_size=1), "block_size"),
        (lambda: KernelError(estimator="block", block_size=5)([0, 1], [0.1, 0.9]), "block_size"),
        (lambda: KernelError()([1], [0.5]), "y_true"),
        (lambda: UCMEError([1.5]), "test_predictions"),
        (lambda: UCMEError([]), "test_predictions"),
        (lambda: UCMEError(None, [1]), "test_predictions"),
        (lambda: UCMEError([[0.5, 0.25, 0.25]]), "test_targets"),
        (lambda: UCMEError([0.5], [0, 1]), "test_targets"),
        (lambda: UCMEError([[0.5, 0.5]], [0])([0, 1], [0.5, 0.5]), "test_predictions"),
        (
            lambda: UCMEError([[0.5, 0.25, 0.25]], [7])([0, 1], np.eye(3)[:2], lens="canonical"),
            "test_targets",
        ),
    ],
)
def test_bad_options_are_named(make, named):
    with pytest.raises(InvalidInputError, match=f"Error: `{named}` must be"):
        make()


def test_names_and_definitions_say_what_is_computed():
    assert KernelError().name == "SKCE"
    assert KernelError(estimator="biased").name == "SKCE biased"
    assert KernelError.mmce().name == "MMCE"
    assert UCMEError().name == "UCME"
    block = KernelError(bandwidth=0.2, estimator="block", block_size=4)
    assert block.definition == "laplacian kernel, bandwidth 0.2, block of 4 rows"


# --- kernels of the user


def own_laplacian(a, b):
    """The Laplacian of bandwidth 0.3, as a user might write it."""
    a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)
    return np.exp(-np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=-1)) / 0.3)


def quadratic(a, b):
    """Not one on the diagonal, and not bounded by one."""
    a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)
    return (0.5 + 2 * a @ b.T) ** 2


@pytest.mark.parametrize("estimator", ["unbiased", "biased", "block"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_known_kernel_given_as_a_function_reads_the_same(estimator, k, weighted):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(k), 150)
    p = np.concatenate([p, p[:20]])  # ties
    y, w = rng.integers(0, k, 170), rng.uniform(0.5, 2, 170)
    options = {"lens": "canonical", "sample_weight": w if weighted else None}
    shape = {"estimator": estimator, "block_size": 5}
    known = KernelError("laplacian", 0.3, **shape)(y, p, **options)
    assert KernelError(own_laplacian, **shape)(y, p, **options) == pytest.approx(known, rel=1e-9)
    places = [0.2, 0.6] if k == 2 else [[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]
    ucme = UCMEError(places, None if k == 2 else [0, 2], "laplacian", 0.3)(y, p, **options)
    own = UCMEError(places, None if k == 2 else [0, 2], own_laplacian)
    assert own(y, p, **options) == pytest.approx(ucme, rel=1e-9)


@pytest.mark.parametrize("estimator", ["unbiased", "biased", "block"])
def test_any_kernel_is_summed_over_pairs_by_definition(estimator):
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), 40)
    y = rng.integers(0, 3, 40)
    e = np.eye(3)[y] - p
    h = quadratic(p, p) * (e @ e.T)
    pairs = {"unbiased": ~np.eye(40, dtype=bool), "biased": np.ones((40, 40), dtype=bool)}
    pairs["block"] = pairs["unbiased"] & (np.arange(40)[:, None] // 4 == np.arange(40) // 4)
    found = KernelError(quadratic, estimator=estimator, block_size=4)(y, p, lens="canonical")
    assert found == pytest.approx(h[pairs[estimator]].mean())


def test_what_a_kernel_returns_is_checked():
    y, p = [0, 1, 1], [0.2, 0.5, 0.7]
    with pytest.raises(InvalidInputError, match=r"`kernel` must be a function.*got shape \(3,\)"):
        KernelError(lambda a, b: a)(y, p)
    with pytest.raises(InvalidInputError, match="got NaN or infinity"):
        KernelError(lambda a, b: np.full((len(a), len(b)), np.nan))(y, p)
    with pytest.raises(InvalidInputError, match="`bandwidth` must be unset with a function"):
        KernelError(own_laplacian, bandwidth=0.2)
    assert KernelError(own_laplacian).definition == "given kernel own_laplacian, unbiased"
