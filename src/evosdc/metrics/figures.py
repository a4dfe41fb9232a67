"""The four risks that a search limits and an evaluation reports: one formula, once."""

from __future__ import annotations

import numpy as np

from evosdc.metrics.attribution import disclosed_targets, match_keys
from evosdc.metrics.counts import cell_counts
from evosdc.metrics.data import Categorical


def risk_figures(original: Categorical, synthetic: Categorical) -> dict[str, float]:
    """Return dcap, dcap-u, uniques and disco as shares.

    dcap and dcap-u are the metrics of these names with no match counting 0; uniques
    and disco are `rep_uniques_pct` and `disco_pct` by 100.
    """
    match = match_keys(original, synthetic)
    right = match.original_hits / np.maximum(match.original_matches, 1)
    alone = match.original_size == 1
    a, b = cell_counts(original, synthetic, original.key)
    return {
        "dcap": float(right.mean()),
        "dcap-u": float(right[alone].mean()) if alone.any() else 0.0,
        "uniques": float(((a == 1) & (b == 1)).sum()) / synthetic.rows,
        "disco": float(disclosed_targets(match).mean()),
    }
