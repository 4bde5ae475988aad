"""Several samples a task: pass@k (at least one succeeds), pass^k (all succeed), and their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from probatum.stats.inputs import Floats, Integers, Labels, binary, check_size, counts_of, picked, whole
from probatum.stats.mean import Strata, mean_interval, picked_strata
from probatum.stats.proportion import proportion_interval
from probatum.stats.result import Interval

__all__ = ["pass_at_k", "pass_at_k_interval", "pass_hat_k", "pass_hat_k_interval", "pass_power_k"]

_BLOCK = 1 << 14
"""Triples that are worked on at once: keeps the arrays in the cache."""
_PATIENCE = 64
"""Draws between two looks at whether anything can still change."""


@overload
def pass_at_k(n: int, c: int, k: int) -> float: ...
@overload
def pass_at_k(n: npt.ArrayLike, c: npt.ArrayLike, k: npt.ArrayLike) -> npt.NDArray[Any]: ...
def pass_at_k(n: npt.ArrayLike, c: npt.ArrayLike, k: npt.ArrayLike) -> float | npt.NDArray[Any]:
    """Unbiased estimate of the probability that at least one of k samples succeeds, of n with c successes.

    1 - C(n-c, k)/C(n, k), as a sum of min(c, k) positive terms: relative error below 1e-12, no overflow.
    Numbers give a float. Arrays (broadcast against each other) give an array; where k is outside 1 … n its
    entry is `None`, and then the array has dtype object, so that no sum passes over it unseen.

    Raises:
        ValueError: c is outside 0 … n, or (for numbers) k is outside 1 … n: with n < k the estimator is
            undefined, and the value 1.0 that some code returns there is wrong.

    Source: Chen et al. 2021, arXiv:2107.03374, section 2.1.
    """
    if np.ndim(n) == np.ndim(c) == np.ndim(k) == 0:
        size, hits, draws = _triple(n, c, k)
        return float(_at_least_one(np.array([size]), np.array([hits]), np.array([draws]))[0])
    return _vectorised(n, c, k, _at_least_one)


@overload
def pass_hat_k(n: int, c: int, k: int) -> float: ...
@overload
def pass_hat_k(n: npt.ArrayLike, c: npt.ArrayLike, k: npt.ArrayLike) -> npt.NDArray[Any]: ...
def pass_hat_k(n: npt.ArrayLike, c: npt.ArrayLike, k: npt.ArrayLike) -> float | npt.NDArray[Any]:
    """Unbiased estimate of the probability that k samples all succeed (pass^k): C(c, k)/C(n, k).

    The plug-in (c/n)^k is biased. Arguments, shapes and errors as `pass_at_k`.

    Source: Yao et al. 2024, arXiv:2406.12045 (τ-bench).
    """
    if np.ndim(n) == np.ndim(c) == np.ndim(k) == 0:
        size, hits, draws = _triple(n, c, k)
        return float(_all_of(np.array([size]), np.array([hits]), np.array([draws]))[0])
    return _vectorised(n, c, k, _all_of)


def _triple(n: object, c: object, k: object) -> tuple[int, int, int]:
    size = whole(n, "n", minimum=1)
    hits = whole(c, "c")
    draws = whole(k, "k", minimum=1)
    if hits > size:
        raise ValueError(f"{hits} successes in {size} samples")
    if draws > size:
        raise ValueError(f"k={draws} needs at least {draws} samples, and there are {size}: undefined")
    return size, hits, draws


def _vectorised(
    n: npt.ArrayLike, c: npt.ArrayLike, k: npt.ArrayLike, of: Callable[[Integers, Integers, Integers], Floats]
) -> npt.NDArray[Any]:
    arrays = (counts_of(n, "n"), counts_of(c, "c"), counts_of(k, "k", negative=True))
    try:
        sizes, hits, draws = np.broadcast_arrays(*arrays)
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise ValueError(f"n, c and k must be aligned: their shapes are {shapes}") from None
    if (hits > sizes).any():
        worst = int(np.argmax((hits > sizes).ravel()))
        raise ValueError(f"{int(hits.flat[worst])} successes in {int(sizes.flat[worst])} samples")
    undefined = (draws > sizes) | (draws < 1)
    shape = sizes.shape
    flat = [np.where(undefined, 1, array).ravel() for array in (sizes, hits, draws)]
    if undefined.any():
        flat[1] = np.minimum(flat[1], flat[0])
    values = np.empty(sizes.size)
    for start in range(0, sizes.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        values[block] = of(*(array[block] for array in flat))
    shaped = values.reshape(shape)
    if not undefined.any():
        return shaped
    partly = shaped.astype(object)
    partly[undefined] = None
    return partly


def _per_task(
    n: npt.ArrayLike, c: npt.ArrayLike, k: int, of: Callable[[Integers, Integers, Integers], Floats]
) -> npt.NDArray[Any]:
    """One estimate a task, shape (tasks,)."""
    if not np.size(c) or np.ndim(c) > 1 or np.ndim(n) > 1:
        raise ValueError(f"n and c must have one entry a task: shapes {np.shape(n)} and {np.shape(c)}")
    if np.ndim(n) and np.shape(n) != np.shape(np.atleast_1d(c)):
        raise ValueError(f"{np.size(n)} numbers of samples do not match {np.size(c)} of successes")
    return np.atleast_1d(_vectorised(n, c, whole(k, "k", minimum=1), of))


def _at_least_one(n: Integers, c: Integers, k: Integers) -> Floats:
    """S ← S + (1 - S)·hⱼ, hⱼ = max(c,k)/(n-j), j < min(c,k): every term is positive, so nothing cancels."""

    def step(total: Floats, hit: Floats) -> None:
        hit *= 1 - total
        total += hit

    return _draw(n, c, k, step, start=0.0, end=1.0)


def _all_of(n: Integers, c: Integers, k: Integers) -> Floats:
    """C(c,k)/C(n,k) = Π (1 - hⱼ): no failure among k draws."""

    def step(total: Floats, hit: Floats) -> None:
        total *= 1 - hit

    return _draw(n, n - c, k, step, start=1.0, end=0.0)


def _draw(
    n: Integers, c: Integers, k: Integers, step: Callable[[Floats, Floats], None], *, start: float, end: float
) -> Floats:
    """Runs `step` over the min(c, k) draws of each triple; `end` where one of the draws must hit."""
    few, many = np.minimum(c, k), np.maximum(c, k).astype(np.float64)
    longest = int(few.max(initial=0))
    keys = np.negative(few).astype(np.int16 if longest < 2**15 else np.int64)  # int16 sorts by radix
    order = np.argsort(keys, kind="stable")
    few, many, left = few[order], many[order], n[order].astype(np.float64)
    certain = (many + few) > left
    total = np.full(len(n), start)
    ascending = np.negative(few)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for start_of in range(0, longest, _PATIENCE):
            draws = np.arange(start_of, min(start_of + _PATIENCE, longest))
            running = np.searchsorted(ascending, np.negative(draws), side="left")
            for count in running.tolist():
                step(total[:count], many[:count] / left[:count])
                left[:count] -= 1
            if (total[: running[-1]] == end).all():
                break
    total[certain] = end
    result = np.empty(len(n))
    result[order] = total
    return result


def _task_interval(
    values: npt.NDArray[Any], k: int, clusters: Labels | None, strata: Labels | Strata | None, level: float
) -> Interval:
    """Interval over tasks of per-task estimates, some of which may be undefined."""
    defined = np.array([value is not None for value in values], dtype=bool)
    kept = np.flatnonzero(defined)
    absent = int(len(values) - len(kept))
    missing = {f"fewer than {k} samples": absent} if absent else {}
    note = (
        (f"{absent} of {len(values)} tasks have fewer than {k} samples and are left out",) if absent else ()
    )
    if not kept.size:
        return Interval(value=None, level=level, missing=missing, warnings=note, estimand="undefined")
    for labels, name in (
        (clusters, "clusters"),
        (strata.labels if isinstance(strata, Strata) else strata, "strata"),
    ):
        if labels is not None:
            check_size(labels, len(values), name, "tasks")
    found = mean_interval(
        values[kept].astype(np.float64),
        clusters=picked(clusters, kept),
        strata=picked_strata(strata, kept),
        level=level,
        bounds=(0.0, 1.0),
    )
    return replace(found, missing=missing, warnings=(*note, *found.warnings))


def pass_at_k_interval(
    n: npt.ArrayLike,
    c: npt.ArrayLike,
    k: int,
    clusters: Labels | None = None,
    strata: Labels | Strata | None = None,
    level: float = 0.95,
) -> Interval:
    """Mean pass@k over tasks, each with its own n and c, and its interval over *tasks*.

    Tasks with fewer than k samples are left out and counted in `missing`.

    Raises:
        ValueError: no task, or counts that are out of range.
    """
    values = _per_task(n, c, k, _at_least_one)
    return _named(_task_interval(values, k, clusters, strata, level), f"pass@{k}", n, k)


def pass_hat_k_interval(
    n: npt.ArrayLike,
    c: npt.ArrayLike,
    k: int,
    clusters: Labels | None = None,
    strata: Labels | Strata | None = None,
    level: float = 0.95,
) -> Interval:
    """Mean pass^k over tasks and its interval over *tasks*; arguments as `pass_at_k_interval`."""
    values = _per_task(n, c, k, _all_of)
    return _named(_task_interval(values, k, clusters, strata, level), f"pass^{k}", n, k)


def _named(interval: Interval, name: str, n: npt.ArrayLike, k: int) -> Interval:
    warnings = interval.warnings
    least = int(np.min(n))
    if 1 < k <= least < 2 * k:
        warnings = (*warnings, f"{name} from {least} samples a task is noisy: at least {2 * k} are advised")
    return replace(interval, estimand=f"{name}, averaged over the population of tasks", warnings=warnings)


def pass_power_k(episodes: Sequence[Sequence[bool]], level: float = 0.95) -> Interval:
    """Share of tasks of which *every* repeated run succeeded, with Wilson's interval over tasks.

    This is pass^k only where every task has exactly k runs; with unequal runs a warning says so.

    Raises:
        ValueError: no task, a task without a run, or an outcome that is not 0/1 (or a boolean).
    """
    if isinstance(episodes, Mapping):
        raise ValueError("episodes must be a sequence of runs for each task; give the values of the mapping")  # noqa: TRY004 - misuse is ValueError here
    try:
        runs = [list(task) for task in episodes]
    except TypeError:
        raise ValueError("episodes must hold a sequence of runs for each task") from None
    if not runs or not all(runs):
        raise ValueError(
            f"every task needs at least one run: {sum(not task for task in runs)} of {len(runs)} have none"
        )
    for task in runs:
        binary(task, "outcomes of runs")
    found = proportion_interval(sum(all(task) for task in runs), len(runs), level=level)
    lengths = sorted({len(task) for task in runs})
    warnings = found.warnings
    if len(lengths) > 1:
        warnings = (
            *warnings,
            f"tasks have {lengths[0]} to {lengths[-1]} runs: this is not pass^k for any k; use pass_hat_k",
        )
    return replace(
        found,
        estimand="probability that all runs of a task succeed, over the population of tasks",
        warnings=warnings,
    )
