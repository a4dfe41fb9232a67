"""Several objectives, all minimised: dominance, fronts, crowding and niches."""

from __future__ import annotations

import numpy as np

from evosdc.arrays import Flags, Long, Real


def dominance_matrix(points: Real) -> Flags:
    """``[i, j]``: point `i` dominates point `j`."""
    a, b = points[:, None, :], points[None, :, :]
    return np.all(a <= b, axis=2) & np.any(a < b, axis=2)


def non_dominated(points: Real) -> Long:
    """Numbers of the points that no other dominates."""
    return np.flatnonzero(~dominance_matrix(points).any(axis=0))


def non_dominated_fronts(points: Real) -> list[Long]:
    """Sort points into fronts, the best first (Deb et al. 2002)."""
    beats = dominance_matrix(points)
    left = beats.sum(axis=0)
    alive = np.ones(len(points), dtype=bool)
    fronts: list[Long] = []
    while alive.any():
        front = np.flatnonzero(alive & (left == 0))
        fronts.append(front)
        alive[front] = False
        left = left - beats[front].sum(axis=0)
    return fronts


def crowding_distance(points: Real) -> Real:
    """Return the distance of each point of a front to its neighbours (Deb et al. 2002).

    It is infinite at the ends of the front.
    """
    n, objectives = points.shape
    distance = np.zeros(n)
    for k in range(objectives):
        order = np.argsort(points[:, k], kind="stable")
        spread = points[order[-1], k] - points[order[0], k]
        distance[order[0]] = distance[order[-1]] = np.inf
        if n > 2 and spread > 0:
            gaps = points[order[2:], k] - points[order[:-2], k]
            distance[order[1:-1]] += gaps / spread
    return distance


def gaps_between(points: Real) -> Real:
    """Euclidean distances between points."""
    return np.asarray(np.linalg.norm(points[:, None, :] - points[None, :, :], axis=2))


def niche_count(gaps: Real, radius: float) -> Real:
    """Return the niche count of each point by triangular sharing (Horn et al. 1994)."""
    return np.maximum(0.0, 1.0 - gaps / radius).sum(axis=1)
