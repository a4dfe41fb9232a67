"""Work that threads take in turns: a counter that they raise one after the other.

A kernel that asks for its next piece itself is called once per thread. Cutting the work
up beforehand costs a call per piece, and the last piece keeps the others waiting.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from evosdc.arrays import Long


def new_counter() -> Long:
    """Return a counter at its beginning."""
    return np.zeros(1, np.int64)


@intrinsic
def next_number(_: Any, counter: Any) -> Any:
    """Return the counter and raise it by one, atomically."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        place = cgutils.get_item_pointer(
            context,
            builder,
            signature.args[0],
            array,
            [context.get_constant(types.intp, 0)],
        )
        return builder.atomic_rmw(
            "add", place, ir.Constant(ir.IntType(64), 1), "seq_cst"
        )

    return types.int64(counter), generate
