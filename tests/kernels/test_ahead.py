"""Kernels compiled ahead of time: the module is used where it may be, and called as numba's are.

`make wheel` makes it of all kernels; here it is made of three, in a copy of the package, and used
by processes that cannot import numba.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import triplestore.kernels
from triplestore.kernels import jit
from triplestore.kernels.ahead.build import PROCESSORS
from triplestore.kernels.ahead.emit import emit
from triplestore.kernels.jit import kernel

KERNELS = Path(triplestore.kernels.__file__).parent
HEADERS = Path(sysconfig.get_path("include")) / "Python.h"

pytestmark = [
    pytest.mark.slow_kernels,  # processes of their own, in each way: once is enough
    pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed"),
    pytest.mark.skipif(
        shutil.which("cc") is None or not HEADERS.exists() or os.uname().machine not in PROCESSORS,
        reason="kernels cannot be compiled ahead of time here (C compiler, Python.h, x86-64)",
    ),
]

NO_NUMBA = "import sys; sys.modules['numba'] = None"

# What a kernel may have: several signatures, tuples, truth values, results, functions it calls.
SUMS = """
import numpy as np
from triplestore.kernels.jit import helper, kernel

@helper
def plus(a, b):
    return a + b

@kernel("i64(u32r, i64w)", "i64(u64r, i64w)")
def add_up(numbers, out):
    total = 0
    for i in range(numbers.size):
        total = plus(total, np.int64(numbers[i]))
        out[i] = total
    return total

@kernel("void(UniTuple(u8r, 2), i64, b1, u64, u64w)")
def choose(texts, place, second, more, out):
    text = texts[1] if second else texts[0]
    out[0] = np.uint64(text[place]) + more

@kernel("i64(i64, i64)")
def divide(a, b):
    return a // b
"""

CALLS = """
import sys
import numpy as np
from triplestore.kernels.ahead.load import is_compiled_ahead
from triplestore.kernels.terms.sums import add_up, choose, divide
numbers, out = np.arange(5, dtype=np.uint32), np.zeros(5, np.int64)
seen = [add_up(numbers, out), *out.tolist()]
large = numbers.astype(np.uint64) << np.uint64(33)
large.flags.writeable = False
seen += [add_up(large, out), add_up(large[:0], out)]
texts, chosen = (np.arange(3, dtype=np.uint8), np.full(2, 7, np.uint8)), np.zeros(1, np.uint64)
for second in (True, False, np.bool_(True)):
    assert choose(texts, np.int64(1), second, (1 << 64) - 8, chosen) is None
    seen.append(int(chosen[0]))
try:
    divide(1, 0)
except ZeroDivisionError:
    seen.append(divide(-7, 2))
print(*seen)
print(is_compiled_ahead(), add_up.__name__, type(add_up.entry).__name__)
"""

REFUSED = """
import numpy as np
from triplestore.kernels.terms.sums import add_up, choose
good, out = np.arange(20, dtype=np.uint32), np.zeros(20, np.int64)
frozen = out.copy()
frozen.flags.writeable = False
wrong = {
    "type": (good.astype(np.int32), out), "size": (good.astype(np.uint16), out),
    "strided": (good[::2], out), "read-only": (good, frozen), "swapped": (good, out.astype(">i8")),
    "table": (good.reshape(4, 5), out), "none": (None, out), "list": ([1], out), "number": (1, out),
}
add_up.prepare()
for name, arguments in wrong.items():
    try:
        add_up(*arguments)
    except TypeError as error:
        assert "No matching definition" in str(error), error
    else:
        raise AssertionError(name)
for arguments in ((good,), (good, out, out)):
    try:
        add_up(*arguments)
    except TypeError:
        print("refused")
text = good.astype(np.uint8)
for texts in ((text,), (text, good), text):
    try:
        choose(texts, 0, True, 0, out.astype(np.uint64))
    except TypeError:
        print("refused")
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with these kernels, compiled ahead of time."""
    root = tmp_path_factory.mktemp("ahead")
    package = root / "triplestore"
    others = ("closures", "documents", "rows", "rules", "terms")
    ignored = shutil.ignore_patterns("__pyc*", "*.so", *others)
    shutil.copytree(KERNELS, package / "kernels", ignore=ignored)
    for name in ("errors.py", "private_folder.py", "thread_limits.py"):  # also imported
        shutil.copy(KERNELS.parent / name, package / name)
    (package / "kernels" / "terms").mkdir()
    (package / "kernels" / "terms" / "sums.py").write_text(SUMS)
    for folder in (package, package / "kernels" / "terms"):
        (folder / "__init__.py").touch()
    ahead = package / "kernels" / "ahead"
    command = [sys.executable, "-m", "triplestore.kernels.ahead.build", str(ahead)]
    done = subprocess.run(command, cwd=root, env=environment(root), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return root


def environment(root: Path, **variables: str) -> dict[str, str]:
    outer = {
        name: value
        for name, value in os.environ.items()
        if name not in ("TRIPLESTORE_KERNELS", "NUMBA_BOUNDSCHECK")
    }
    own = {"PYTHONPATH": str(root), "TRIPLESTORE_CACHE": str(root / "cache")}
    return {**outer, **own, **variables}


def run(root: Path, program: str, **variables: str) -> tuple[list[str], str]:
    """The words that the program prints, and what it says on stderr."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=environment(root, **variables),
        capture_output=True,
        text=True,
        cwd=root,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


def test_ahead__needs_no_numba_and_gives_the_same(built: Path) -> None:
    said, shown = run(built, NO_NUMBA + CALLS)
    assert said[-3:] == ["True", "add_up", "builtin_function_or_method"]
    assert shown == ""
    by_numba, _ = run(built, CALLS, TRIPLESTORE_KERNELS="numba")
    assert by_numba == [*said[:-3], "False", "add_up", "CPUDispatcher"]
    by_python, _ = run(built, NO_NUMBA + CALLS, TRIPLESTORE_KERNELS="python")
    assert by_python[:-1] == [*said[:-3], "False", "add_up"]


def test_ahead__is_not_used_where_bounds_are_checked(built: Path) -> None:
    assert run(built, CALLS, NUMBA_BOUNDSCHECK="1")[0][-3] == "False"


@pytest.mark.parametrize("kernels", ["", "numba"])
def test_ahead__arguments_that_do_not_match_are_refused(built: Path, kernels: str) -> None:
    assert run(built, REFUSED, TRIPLESTORE_KERNELS=kernels)[0] == ["refused"] * 5


def test_ahead__is_not_used_with_other_sources(built: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(built, copy)
    sums = copy / "triplestore" / "kernels" / "terms" / "sums.py"
    sums.write_text(sums.read_text().replace("total = 0", "total = 5"))
    said, _ = run(copy, CALLS, TRIPLESTORE_KERNELS="compiled")
    assert said[0] == "15" and said[-3] == "False"


MANY = """
import numpy as np
from triplestore.kernels.terms.sums import add_up
print(add_up(np.arange(3000, dtype=np.uint64), np.zeros(3000, np.int64)))
"""


def test_without_numba_and_module__kernels_run_as_plain_python_with_a_warning(
    built: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(built, copy, ignore=shutil.ignore_patterns("*.so"))
    said, shown = run(copy, NO_NUMBA + MANY)
    assert said == run(built, MANY)[0] == [str(2999 * 1500)]
    assert shown.count("\n") == 1
    assert "numba is missing" in shown and "entailstore[jit]" in shown


def test_kernels_that_raise__cannot_be_compiled_ahead() -> None:
    @kernel("i64(i64)")
    def refuse(number: int) -> int:
        if number < 0:
            raise ValueError
        return number

    jit._registry.remove(refuse)
    with pytest.raises(TypeError, match="raises an error"):
        emit(refuse, 0, Path())
