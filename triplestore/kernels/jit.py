"""Declares and compiles kernels: the only module that uses numba.

`@kernel("i64(u64r, u64r, u64w)")` declares a function with the exact signatures it is compiled
for; `@helper` declares a function that only kernels call and that is compiled into them. Nothing
is compiled, and numba is not imported, before the first call of a kernel. Wheels have kernels
compiled ahead of time (`ahead/`); there numba is not used at all.

Always true
    - A kernel has explicit signatures, so that read-only, writable and mapped arrays share one
      compilation (without signatures one kernel was compiled 27 times).
    - Compiled code is kept on disk, and a lock per kernel lets processes share it
      (`compiled_cache.py`).
    - Kernels release the GIL, never use `prange` and never allocate: callers pass arrays.
    - Calls for a few rows run in plain Python, as long as that takes less than loading numba, or
      compiling on a machine where nothing is compiled yet (8 s for a closure of three edges).

Environment
    TRIPLESTORE_KERNELS=python   runs every kernel as plain Python (for tests and coverage)
    TRIPLESTORE_KERNELS=compiled runs no call as plain Python, however few its rows are
    TRIPLESTORE_KERNELS=numba    the same, compiled by numba even if they are compiled ahead of time
    TRIPLESTORE_CACHE=DIR        the folder for compiled kernels (default: the user's cache folder)
    NUMBA_BOUNDSCHECK=1          is supported, with a separate cache folder
"""

from __future__ import annotations

import os
import sys
import threading
import time
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from triplestore.errors import install
from triplestore.kernels.ahead.load import compiled_ahead, compiled_module, is_compiled_ahead
from triplestore.kernels.compiled_cache import is_cached, numba_settings, one_process
from triplestore.kernels.interrupts import interrupts_later
from triplestore.thread_limits import memory_in_use

P = ParamSpec("P")
R = TypeVar("R")

# name -> (numba scalar type, numpy dtype); array types append "r" (read only) or "w" (written).
_SCALARS = {
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "i32": "int32",
    "i64": "int64",
    "f64": "float64",
    "b1": "boolean",
    "void": "void",
}

_FEW_ROWS = 1024
"""Maximum number of array elements of a call that runs in plain Python."""

_PLAIN_SECONDS = 0.2
"""Maximum total seconds of such calls: half the time of loading numba and some kernels."""

_registry: list[Kernel[..., Any]] = []
_lock = threading.RLock()
_announced = False
_announcements = True


def plain_python() -> bool:
    """True if kernels run as plain Python instead of being compiled."""
    return os.environ.get("TRIPLESTORE_KERNELS") == "python"


@cache
def _load_compiled() -> bool:
    with _weighed(), _timed():
        return compiled_module() is not None


@cache
def has_numba() -> bool:
    """Whether kernels can be compiled here; if not, says once how slow they are."""
    try:
        import numba  # noqa: F401
    except ImportError:
        pass
    else:
        return True
    print(  # noqa: T201 - users must learn why everything is slow
        "triplestore: its kernels are not compiled in this installation, and numba is missing, so "
        "they run as plain Python, up to 100 times slower; install a wheel, or numba "
        f"({install('jit')})",
        file=sys.stderr,
    )
    return False


def is_loaded() -> bool:
    """Whether kernels are compiled and numba is loaded, so that even calls for few rows pay off.
    The first of them may take half a second."""
    if plain_python():
        return False
    return "numba" in sys.modules or is_compiled_ahead()


@cache
def is_installed() -> bool:
    """Whether kernels can be had compiled at all, or are asked for as plain Python; says nothing,
    for work that has a faster way than kernels in plain Python."""
    return plain_python() or is_compiled_ahead() or find_spec("numba") is not None


class _Plain(threading.local):
    """Whether this thread runs a kernel, and those that it calls, as plain Python.

    timed  whether that, or preparing a kernel, is being timed
    """

    runs: bool = False
    timed: bool = False


_plain = _Plain()
_plain_seconds = 0.0
_starting = (0.0, 0.0)
_bytes = 0


def starting() -> tuple[float, float]:
    """The elapsed and the processor seconds in which kernels were compiled, loaded or replaced by
    plain Python: a cost per process, not of the work that needed the kernels."""
    return _starting


def bytes_of_kernels() -> int:
    """The memory in bytes that compiling and loading kernels took."""
    return _bytes


class Kernel(Generic[P, R]):
    """A function that is compiled at its first call, for the signatures it was declared with."""

    def __init__(
        self, function: Callable[P, R], signatures: tuple[str, ...], room: Iterable[str] = ()
    ) -> None:
        self.py_func = function
        names = function.__code__.co_varnames
        self._room = frozenset(map(names.index, room))
        self.signatures = signatures
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self.__wrapped__ = function
        self._entry: Callable[P, R] = self._first_call
        self._dispatcher: Any = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it, compiled."""
        return self._entry(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<kernel {self.__module__}.{self.__name__}>"

    def _first_call(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if not _plain.runs and self._is_ahead():
            return self._entry(*args, **kwargs)
        if self._is_short(args):
            return self._run_plainly(*args, **kwargs)
        self.prepare()
        return self._entry(*args, **kwargs)

    def _is_short(self, args: tuple[Any, ...]) -> bool:
        """Whether a call is carried out in plain Python, because numba is not loaded yet."""
        if _plain.runs:
            return True
        if "numba" in sys.modules or _plain_seconds > _PLAIN_SECONDS:
            return False
        if os.environ.get("TRIPLESTORE_KERNELS"):
            return False
        sizes = [
            arg.size
            for place, arg in enumerate(args)
            if isinstance(arg, np.ndarray) and place not in self._room
        ]
        return sum(sizes) <= _FEW_ROWS

    def _run_plainly(self, *args: P.args, **kwargs: P.kwargs) -> R:
        global _plain_seconds
        if _plain.runs:
            return self.py_func(*args, **kwargs)
        started = time.perf_counter()
        _plain.runs = True
        try:
            with _timed(), np.errstate(over="ignore"):
                return self.py_func(*args, **kwargs)
        finally:
            _plain.runs = False
            _plain_seconds += time.perf_counter() - started

    def prepare(self) -> None:
        """Compile the kernel or load it, once."""
        if plain_python() or not (self._is_ahead() or has_numba()):
            self._entry = _without_overflow_warnings(self.py_func)
        elif self._entry == self._first_call:
            self._entry = self.dispatcher()

    def _is_ahead(self) -> bool:
        """Whether the kernel was compiled ahead of time; then that is what runs from now on."""
        if not _load_compiled():
            return False
        ready = compiled_ahead(f"{self.__module__}.{self.__name__}")
        if ready is not None:
            self._entry = ready
        return ready is not None

    @property
    def entry(self) -> Callable[P, R]:
        """The function that a call runs, for callers that call very often."""
        return self._entry

    def dispatcher(self) -> Any:
        """The numba dispatcher, compiled or loaded from the cache."""
        with _lock, _weighed(), _timed(), interrupts_later():
            if self._dispatcher is None:
                self._dispatcher = self._compile()
            return self._dispatcher

    def _compile(self) -> Any:
        with numba_settings(), self._alone():
            # A helper (no signatures) is compiled into its callers and cached with them.
            return self._jitted(nogil=True, cache=bool(self.signatures))

    def compile_for_linking(self) -> Any:
        """A dispatcher without what calls from Python need, and neither cached nor kept."""
        return self._jitted(no_cpython_wrapper=True, no_cfunc_wrapper=True)

    def _jitted(self, **options: bool) -> Any:
        import numba

        njit: Any = numba.njit  # its stubs do not know `_nrt`
        # Without numba's runtime references to arrays are not counted, which costs more than the
        # work of small helpers (hashing a term 39 -> 11 ns); in return kernels cannot allocate.
        if _can_do_without_runtime():
            options["_nrt"] = False
        signatures = [_signature(text) for text in self.signatures] or None
        return njit(signatures, **options)(_with_compiled_globals(self.py_func))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While this is compiled or loaded, other processes wait, and find it in the cache."""
        if not self.signatures:  # a helper: nothing is compiled yet
            yield
            return
        _announce_unless_cached(self)
        with one_process(f"{self.__module__.removeprefix('triplestore.')}.{self.__name__}"):
            yield


def kernel(*signatures: str, room: Iterable[str] = ()) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Declare a compiled function with its exact signatures.

    room  array arguments that are larger than their content, so that their size is ignored

    A signature is written `result(argument, ...)` with the scalars `u8 u16 u32 u64 i32 i64 f64 b1
    void` and arrays as scalar plus `r` (C-contiguous, only read) or `w` (C-contiguous, written),
    such as `"i64(u64r, u64r, u64w)"`. A tuple result is `UniTuple(i64, 2)`.
    """

    def declare(function: Callable[P, R]) -> Kernel[P, R]:
        if not signatures:
            raise TypeError(f"kernel {function.__name__} needs a signature; use @helper for none")
        declared = Kernel(function, signatures, room)
        _registry.append(declared)
        return declared

    return declare


def helper(function: Callable[P, R]) -> Kernel[P, R]:
    """Declare a function that only kernels call; it is compiled into each of them."""
    return Kernel(function, ())


def all_kernels() -> tuple[Kernel[..., Any], ...]:
    """Every kernel declared by the modules imported so far."""
    return tuple(_registry)


def set_announcements(on: bool) -> None:
    """Whether to report on stderr that kernels are being compiled (default: True)."""
    global _announcements
    _announcements = on


def _can_do_without_runtime() -> bool:
    """Whether this numba has the option `_nrt`; without it kernels are slower."""
    from numba.core.cpu import CPUTargetOptions

    return hasattr(CPUTargetOptions, "_nrt")


@contextmanager
def _timed() -> Iterator[None]:
    """Add the time of the block to `_starting`, once if blocks are nested."""
    global _starting
    if _plain.timed:
        yield
        return
    _plain.timed = True
    started = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        _plain.timed = False
        passed, worked = _starting
        passed += time.perf_counter() - started[0]
        _starting = passed, worked + time.process_time() - started[1]


@contextmanager
def _weighed() -> Iterator[None]:
    """Add the memory that the block takes to `_bytes`, once if blocks are nested."""
    global _bytes
    if _plain.timed:
        yield
        return
    before = memory_in_use()
    try:
        yield
    finally:
        _bytes += max(0, memory_in_use() - before)


def _signature(text: str) -> Any:
    from numba import types as nb

    names: dict[str, Any] = {"UniTuple": nb.UniTuple, "Tuple": nb.Tuple}
    for short, name in _SCALARS.items():
        scalar = getattr(nb, name)
        names[short] = scalar
        if short != "void":
            names[short + "r"] = nb.Array(scalar, 1, "C", readonly=True)
            names[short + "w"] = nb.Array(scalar, 1, "C")
    return eval(text, {"__builtins__": {}}, names)


def _with_compiled_globals(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of `function` whose references to other kernels are their compiled forms."""
    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        value = scope.get(name)
        if isinstance(value, Kernel):
            scope[name] = value.dispatcher()
    assert isinstance(function, types.FunctionType)
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    copy.__doc__ = function.__doc__
    return copy


def _without_overflow_warnings(function: Callable[P, R]) -> Callable[P, R]:
    """Hashes overflow intentionally; in plain Python numpy scalars would warn about it."""

    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(over="ignore"):
            return function(*args, **kwargs)

    return run


def _announce_unless_cached(declared: Kernel[..., Any]) -> None:
    global _announced
    if _announced or not _announcements:
        return
    function = declared.py_func
    if is_cached(function.__qualname__, function.__code__.co_firstlineno):
        return
    _announced = True
    print(  # noqa: T201 - this is the one line a user sees while the first use takes seconds
        "triplestore: compiling kernels for this machine (once, some seconds) ...",
        file=sys.stderr,
        flush=True,
    )
