"""Compiles all kernels ahead of their first use, in several processes: `triplestore warm-up`.

For a layer of a container image, or before tests: otherwise each kernel is compiled when it is
first called, one after the other.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import triplestore.kernels
from triplestore.kernels import jit
from triplestore.kernels.jit import Kernel


def our_kernels() -> dict[str, Kernel[..., object]]:
    """All kernels of the package by name, large ones first: they take longest to compile."""
    package = triplestore.kernels
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith(".cache_locator"):  # imports numba
            importlib.import_module(module.name)
    found = {
        f"{kernel.__module__}.{kernel.__name__}": kernel
        for kernel in jit.all_kernels()
        if kernel.__module__.startswith(f"{package.__name__}.")
    }
    return dict(sorted(found.items(), key=lambda named: -_size(named[1])))


def compile_all(processes: int | None = None) -> Iterator[str]:
    """Compile all kernels, or find them compiled; yields the name of each that is ready.

    processes  how many work at the same time; by default one per processor
    """
    names = list(our_kernels())
    processes = processes or len(os.sched_getaffinity(0))
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        tasks: list[Future[str]] = [pool.submit(_compile, name) for name in names]
        for task in as_completed(tasks):
            yield task.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _compile(name: str) -> str:
    jit.set_announcements(False)
    module, _, kernel = name.rpartition(".")
    getattr(importlib.import_module(module), kernel).prepare()
    return name


def _size(kernel: Kernel[..., object]) -> int:
    return len(kernel.py_func.__code__.co_code) * len(kernel.signatures)
