"""Finds kernels that were compiled ahead of time, in the extension module beside this file.

Wheels have the module; a checkout has none. It is used only if it was made from the very kernel
sources that lie beside it.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from triplestore.kernels.compiled_cache import source_hash

FILE_NAME = "_compiled.abi3.so"


def compiled_ahead(name: str) -> Callable[..., Any] | None:
    """The compiled kernel of this full name, if there is one and the environment does not ask for
    another form of kernels."""
    if os.environ.get("TRIPLESTORE_KERNELS") in ("numba", "python"):
        return None
    if os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0"):
        return None
    return getattr(compiled_module(), name, None)


def is_compiled_ahead() -> bool:
    """Whether this installation has compiled kernels, and uses them."""
    return compiled_ahead("source_hash") is not None


@cache
def compiled_module() -> ModuleType | None:
    """The extension module, if there is one for these sources and this machine."""
    file = Path(__file__).with_name(FILE_NAME)
    if not file.exists():
        return None
    spec = importlib.util.spec_from_file_location(f"{__package__}._compiled", file)
    assert spec is not None and spec.loader is not None
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError:  # for another kind of machine
        return None
    return module if module.source_hash == source_hash() else None
