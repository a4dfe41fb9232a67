"""Archives of arrays (``.npz``), read without unpickling, as anyone may write them."""

from __future__ import annotations

import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.io.paths import PathLike, readable


def read_arrays(path: PathLike) -> dict[str, NDArray[Any]]:
    """Read all arrays of an ``.npz`` file.

    Raises
    ------
    InputError
        For a file that is damaged, is no archive or holds objects.
    """
    p = readable(path)
    try:
        with np.load(p, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (
        OSError,
        ValueError,
        EOFError,
        KeyError,
        TypeError,
        AttributeError,
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
    ) as error:
        raise InputError(
            f"{p} is not an archive of arrays that can be read",
            expected="a complete .npz file",
            hint="give the certificate.npz of a run",
        ) from error
