"""Two kernels by Numba and as compiled extensions: what a wheel would save and cost.

    python -m venv /tmp/wheels && /tmp/wheels/bin/pip install numba cython setuptools
    /tmp/wheels/bin/python benchmarks/wheels.py

The kernels are shortest paths with a binary heap, as searches of networks use them, and
moves of a copy of records that update its tables of counts. Each is written for Numba,
for Cython and for Rust (rustc, no crates) and must give the same numbers. Printed are
processor seconds of the best of five runs, seconds to compile or build, and bytes.
"""

from __future__ import annotations

import ctypes
import json
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numba
import numpy as np

NODES, ARCS, SOURCES = 2_000, 400_000, 20
RECORDS, COLUMNS, LEVELS, MOVES = 5_000, 12, 8, 2_000_000

# One text for Numba and, with types in front, for Cython.
_PATHS = """
    for s in range({sources}):
        for v in range(nodes):
            key[v] = 1e300
            spot[v] = -1
        key[s] = 0.0
        heap[0] = s
        spot[s] = 0
        size = 1
        while size > 0:
            top = heap[0]
            spot[top] = -2
            size -= 1
            if size > 0:
                node = heap[size]
                at = 0
                while True:
                    child = 2 * at + 1
                    if child >= size:
                        break
                    if child + 1 < size and key[heap[child + 1]] < key[heap[child]]:
                        child += 1
                    if not key[heap[child]] < key[node]:
                        break
                    heap[at] = heap[child]
                    spot[heap[at]] = at
                    at = child
                heap[at] = node
                spot[node] = at
            for p in range(start[top], start[top + 1]):
                node = head[p]
                value = key[top] + price[p]
                if spot[node] == -2 or value >= key[node]:
                    continue
                key[node] = value
                at = spot[node]
                if at < 0:
                    at = size
                    size += 1
                while at > 0:
                    child = (at - 1) >> 1
                    if not value < key[heap[child]]:
                        break
                    heap[at] = heap[child]
                    spot[heap[at]] = at
                    at = child
                heap[at] = node
                spot[node] = at
        for v in range(nodes):
            total += key[v]
    return total
"""
_MOVES = """
    for move in range(moves):
        word = word * 6364136223846793005 + 1442695040888963407
        i = ((word >> 33) & 0xFFFF) % records
        j = ((word >> 17) & 0xFFFF) % columns
        new = ((word >> 45) & 0xFFFF) % levels
        old = codes[i, j]
        if old == new:
            continue
        gain = 0
        for k in range(columns):
            if k == j:
                continue
            other = codes[i, k]
            gain += 1 - 2 * (counts[j, k, old, other] - aim[j, k, old, other])
            gain += 1 + 2 * (counts[j, k, new, other] - aim[j, k, new, other])
        if gain > 0:
            continue
        for k in range(columns):
            if k == j:
                continue
            other = codes[i, k]
            counts[j, k, old, other] -= 1
            counts[k, j, other, old] -= 1
            counts[j, k, new, other] += 1
            counts[k, j, other, new] += 1
        codes[i, j] = new
        total += gain
    return total
"""
_PATHS = _PATHS.format(sources=SOURCES)
_RUST = """
#[no_mangle]
pub unsafe extern "C" fn paths(nodes: usize, start: *const i32, head: *const i32,
        price: *const f64, key: *mut f64, heap: *mut i32, spot: *mut i32) -> f64 {
    let start = std::slice::from_raw_parts(start, nodes + 1);
    let arcs = start[nodes] as usize;
    let head = std::slice::from_raw_parts(head, arcs);
    let price = std::slice::from_raw_parts(price, arcs);
    let key = std::slice::from_raw_parts_mut(key, nodes);
    let heap = std::slice::from_raw_parts_mut(heap, nodes);
    let spot = std::slice::from_raw_parts_mut(spot, nodes);
    let mut total = 0.0;
    for s in 0..SOURCES {
        key.fill(1e300);
        spot.fill(-1);
        key[s] = 0.0; heap[0] = s as i32; spot[s] = 0;
        let mut size = 1usize;
        while size > 0 {
            let top = heap[0] as usize;
            spot[top] = -2;
            size -= 1;
            if size > 0 {
                let node = heap[size];
                let mut at = 0usize;
                loop {
                    let mut child = 2 * at + 1;
                    if child >= size { break; }
                    if child + 1 < size
                        && key[heap[child + 1] as usize] < key[heap[child] as usize] {
                        child += 1;
                    }
                    if !(key[heap[child] as usize] < key[node as usize]) { break; }
                    heap[at] = heap[child];
                    spot[heap[at] as usize] = at as i32;
                    at = child;
                }
                heap[at] = node;
                spot[node as usize] = at as i32;
            }
            for p in start[top] as usize..start[top + 1] as usize {
                let node = head[p] as usize;
                let value = key[top] + price[p];
                if spot[node] == -2 || value >= key[node] { continue; }
                key[node] = value;
                let mut at = if spot[node] < 0 { size += 1; size - 1 }
                    else { spot[node] as usize };
                while at > 0 {
                    let above = (at - 1) >> 1;
                    if !(value < key[heap[above] as usize]) { break; }
                    heap[at] = heap[above];
                    spot[heap[at] as usize] = at as i32;
                    at = above;
                }
                heap[at] = node as i32;
                spot[node] = at as i32;
            }
        }
        for v in 0..nodes { total += key[v]; }
    }
    total
}

#[no_mangle]
pub unsafe extern "C" fn moves(records: usize, columns: usize, levels: usize,
        moves: usize, codes: *mut i32, counts: *mut i32, aim: *const i32) -> i64 {
    let cells = columns * columns * levels * levels;
    let codes = std::slice::from_raw_parts_mut(codes, records * columns);
    let counts = std::slice::from_raw_parts_mut(counts, cells);
    let aim = std::slice::from_raw_parts(aim, cells);
    let at = |j: usize, k: usize, a: usize, b: usize|
        ((j * columns + k) * levels + a) * levels + b;
    let (mut word, mut total) = (1u64, 0i64);
    for _ in 0..moves {
        word = word.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let i = (word >> 33 & 0xFFFF) as usize % records;
        let j = (word >> 17 & 0xFFFF) as usize % columns;
        let new = (word >> 45 & 0xFFFF) as usize % levels;
        let old = codes[i * columns + j] as usize;
        if old == new { continue; }
        let mut gain = 0i64;
        for k in 0..columns {
            if k == j { continue; }
            let other = codes[i * columns + k] as usize;
            let (a, b) = (at(j, k, old, other), at(j, k, new, other));
            gain += (1 - 2 * (counts[a] - aim[a])) as i64;
            gain += (1 + 2 * (counts[b] - aim[b])) as i64;
        }
        if gain > 0 { continue; }
        for k in 0..columns {
            if k == j { continue; }
            let other = codes[i * columns + k] as usize;
            counts[at(j, k, old, other)] -= 1;
            counts[at(k, j, other, old)] -= 1;
            counts[at(j, k, new, other)] += 1;
            counts[at(k, j, other, new)] += 1;
        }
        codes[i * columns + j] = new as i32;
        total += gain;
    }
    total
}
"""
_CYTHON = """
# cython: boundscheck=False, wraparound=False, cdivision=True, language_level=3
ctypedef unsigned long long u64
def paths(int nodes, int[::1] start, int[::1] head, double[::1] price,
          double[::1] key, int[::1] heap, int[::1] spot):
    cdef double total = 0.0, value
    cdef int s, v, top, size, node, at, child, p
{paths}
def moves(int records, int columns, int levels, long moves, int[:, ::1] codes,
          int[:, :, :, ::1] counts, int[:, :, :, ::1] aim):
    cdef u64 word = 1
    cdef long total = 0, gain, move
    cdef int i, j, k, old, new, other
{moves}
"""
_NUMBA = """
def paths(nodes, start, head, price, key, heap, spot):
    total = 0.0
{paths}
def moves(records, columns, levels, moves, codes, counts, aim):
    word = 1
    total = 0
{moves}
"""


def _numba() -> tuple[Any, Any, float, int]:
    names: dict[str, Any] = {}
    exec(_NUMBA.format(paths=_PATHS, moves=_MOVES), names)
    kernels = [numba.njit(names[name]) for name in ("paths", "moves")]
    began = time.process_time()
    _run(*kernels, small=True)
    return *kernels, time.process_time() - began, 0


def _cython(folder: Path) -> tuple[Any, Any, float, int]:
    path = folder / "by_cython.pyx"
    moves = re.sub(r"(\d{19})", r"\1ULL", _MOVES)
    path.write_text(_CYTHON.format(paths=_PATHS, moves=moves))
    began = time.perf_counter()
    build = (
        "from setuptools import Extension, setup\n"
        "from Cython.Build import cythonize\n"
        "setup(script_args=['-q', 'build_ext', '--inplace'], ext_modules=cythonize("
        "[Extension('by_cython', ['by_cython.pyx'], extra_compile_args=['-O3'])]))\n"
    )
    subprocess.run([sys.executable, "-c", build], cwd=folder, check=True)
    spent = time.perf_counter() - began
    sys.path.insert(0, str(folder))
    import by_cython  # type: ignore[import-not-found]

    size = sum(each.stat().st_size for each in folder.glob("by_cython*.so"))
    return by_cython.paths, by_cython.moves, spent, size


def _rust(folder: Path) -> tuple[Any, Any, float, int]:
    source, made = folder / "by_rust.rs", folder / "libby_rust.so"
    source.write_text(_RUST.replace("SOURCES", str(SOURCES)))
    began = time.perf_counter()
    command = ["rustc", "-O", "--crate-type", "cdylib", "-o", made, source]
    subprocess.run(command, check=True)
    spent = time.perf_counter() - began
    library = ctypes.CDLL(str(made))
    library.paths.restype, library.moves.restype = ctypes.c_double, ctypes.c_int64

    def called(function: Any) -> Any:
        def call(*given: Any) -> Any:
            return function(
                *(
                    ctypes.c_void_p(each.ctypes.data)
                    if isinstance(each, np.ndarray)
                    else ctypes.c_size_t(each)
                    for each in given
                )
            )

        return call

    return called(library.paths), called(library.moves), spent, made.stat().st_size


def _run(
    paths: Any, moves: Any, *, small: bool = False
) -> dict[str, tuple[float, Any]]:
    """Run both kernels on the same data; return seconds and what they gave."""
    rng = np.random.default_rng(0)
    nodes, arcs = NODES, NODES if small else ARCS
    tail = np.sort(rng.integers(0, nodes, arcs))
    start = np.searchsorted(tail, np.arange(nodes + 1)).astype(np.int32)
    head = rng.integers(0, nodes, arcs).astype(np.int32)
    scratch = np.zeros(nodes, np.int32)
    graph = (nodes, start, head, rng.random(arcs), np.zeros(nodes), scratch)
    codes = rng.integers(0, LEVELS, (RECORDS, COLUMNS)).astype(np.int32)
    shape = (COLUMNS, COLUMNS, LEVELS, LEVELS)
    counts, aim = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    others = np.minimum(codes, rng.integers(0, LEVELS, codes.shape))
    for table, held in ((counts, codes), (aim, others)):
        for j in range(COLUMNS):
            for k in range(COLUMNS):
                np.add.at(table[j, k], (held[:, j], held[:, k]), 1)
    sizes = (RECORDS, COLUMNS, LEVELS, 1_000 if small else MOVES)
    began = time.process_time()
    first = paths(*graph, scratch.copy())
    between = time.process_time()
    second = moves(*sizes, codes, counts, aim)
    return {
        "paths": (between - began, round(first, 6)),
        "moves": (time.process_time() - between, (second, int(counts.sum()))),
    }


def main() -> None:
    """Print one line per way and kernel."""
    with tempfile.TemporaryDirectory() as made:
        ways = {
            "numba": _numba(),
            "cython": _cython(Path(made)),
            "rust": _rust(Path(made)),
        }
        runs = {
            way: [_run(paths, moves) for _ in range(5)]
            for way, (paths, moves, *_) in ways.items()
        }
    for kernel in ("paths", "moves"):
        given = {json.dumps(run[kernel][1]) for each in runs.values() for run in each}
        if len(given) != 1:
            raise SystemExit(f"{kernel}: the ways differ: {given}")
        best = {way: min(run[kernel][0] for run in each) for way, each in runs.items()}
        for way, seconds in best.items():
            ratio = seconds / best["numba"]
            sys.stdout.write(f"{kernel} {way:7} {seconds:.3f} s  x{ratio:.2f}\n")
    for way, (_, _, spent, size) in ways.items():
        sys.stdout.write(f"{way:7} made in {spent:.1f} s, {size:,} bytes\n")
    about = (platform.machine(), platform.python_version(), numba.__version__)
    sys.stdout.write(" ".join(about) + "\n")


if __name__ == "__main__":
    main()
