"""Compiles all kernels into an extension module.

    python -m triplestore.kernels.ahead.build FOLDER

For the wheel (`make wheel`). Needs numba and a C compiler (`$CC`, else `cc`).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from triplestore.kernels.ahead.c_source import Overload, write_c
from triplestore.kernels.ahead.emit import emit, set_processor
from triplestore.kernels.ahead.load import FILE_NAME
from triplestore.kernels.compiled_cache import source_hash
from triplestore.kernels.warm_up import our_kernels

PROCESSORS = {"x86_64": "x86-64-v2"}
"""The kind of processor that code is compiled for, for each machine."""

_KNOWN = {"memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_"}


def build(folder: Path) -> Path:
    """Compile all kernels and link them; returns the extension module in this folder."""
    machine = os.uname().machine
    if machine not in PROCESSORS:
        known = ", ".join(PROCESSORS)
        raise SystemExit(f"triplestore: kernels are compiled ahead of time for {known} only")
    made = folder / FILE_NAME
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        listed, objects = _emit_all(PROCESSORS[machine], scratch)
        source = scratch / "compiled.c"
        source.write_text(write_c(listed, source_hash()))
        _check_symbols(objects)
        _link(source, objects, made)
    return made


def _emit_all(processor: str, folder: Path) -> tuple[list[tuple[str, list[Overload]]], list[Path]]:
    names = list(our_kernels())
    pool = ProcessPoolExecutor(
        mp_context=get_context("spawn"), initializer=set_processor, initargs=(processor,)
    )
    with pool:
        tasks = [pool.submit(_emit, name, i, folder) for i, name in enumerate(names)]
        done = sorted(zip(names, (task.result() for task in tasks), strict=True))
    listed = [(name, overloads) for name, (overloads, _) in done]
    return listed, [file for _, (_, files) in done for file in files]


def _emit(name: str, number: int, folder: Path) -> tuple[list[Overload], list[Path]]:
    return emit(our_kernels()[name], number, folder)


def _check_symbols(objects: list[Path]) -> None:
    """Compiled code must need nothing of numba."""
    said = subprocess.run(
        ["nm", "--undefined-only", *objects], check=True, capture_output=True, text=True
    ).stdout
    unknown = set(re.findall(r"\bU (\S+)", said)) - _KNOWN
    if unknown:
        raise SystemExit(f"triplestore: compiled kernels need {', '.join(sorted(unknown))}")


def _link(source: Path, objects: list[Path], made: Path) -> None:
    import numpy as np

    includes = [f"-I{sysconfig.get_path('include')}", f"-I{np.get_include()}"]
    options = ["-shared", "-fPIC", "-O2", "-fvisibility=hidden", "-Wl,--gc-sections", "-s"]
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, *options, *includes, source, *objects, "-o", made, "-lm"], check=True)


if __name__ == "__main__":
    print(build(Path(sys.argv[1])))  # noqa: T201 - a command of the build
