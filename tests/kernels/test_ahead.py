"""Kernels compiled ahead of time: the module is used where it may be, and called as numba's are.

`make wheel` makes it of all kernels; here it is made of those of one file, in a copy of the
package, and used by processes that cannot import numba.
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
from triplestore.kernels.ahead.build import PROCESSORS

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

# Few rows and many, read-only and mapped arrays; each prints the hash of the same text.
CALLS = """
import sys
import numpy as np
from triplestore.kernels.ahead.load import is_compiled_ahead
from triplestore.kernels.terms.term_tables import hash_terms
text, out = np.arange(20, dtype=np.uint8), np.zeros(1, np.uint64)
at, kinds = np.zeros(1, np.int64), np.ones(1, np.uint8)
assert hash_terms(text, at, at + 20, kinds, out) is None
seen = [int(out[0])]
for array in (text, at, kinds):
    array.flags.writeable = False
hash_terms(text, at, at + 20, kinds, out)
seen.append(int(out[0]))
assert len(set(seen)) == 1
print(seen[0], is_compiled_ahead(), hash_terms.__name__, type(hash_terms.entry).__name__)
"""

REFUSED = """
import numpy as np
from triplestore.kernels.terms.term_tables import hash_terms
text, out = np.arange(20, dtype=np.uint8), np.zeros(1, np.uint64)
at, kinds = np.zeros(1, np.int64), np.ones(1, np.uint8)
frozen = out.copy()
frozen.flags.writeable = False
good = [text, at, at + 20, kinds, out]
wrong = {
    "dtype": (1, at.astype(np.int32)), "sign": (1, at.astype(np.uint64)), "strided": (0, text[::2]),
    "read-only": (4, frozen), "swapped": (4, out.astype(">u8")), "table": (0, text.reshape(4, 5)),
    "none": (2, None), "list": (2, [20]), "number": (2, 20),
}
hash_terms.prepare()
for name, (place, value) in wrong.items():
    try:
        hash_terms(*good[:place], value, *good[place + 1:])
    except TypeError as error:
        assert "No matching definition" in str(error), error
    else:
        raise AssertionError(name)
try:
    hash_terms(*good[:-1])
except TypeError:
    print("refused")
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with few kernels, compiled ahead of time."""
    root = tmp_path_factory.mktemp("ahead")
    package = root / "triplestore"
    ignored = shutil.ignore_patterns("__pyc*", "*.so", "closures", "documents", "rows", "rules")
    shutil.copytree(KERNELS, package / "kernels", ignore=ignored)
    for name in ("value_keys", "sort_terms"):
        (package / "kernels" / "terms" / f"{name}.py").unlink()
    for name in ("private_folder.py", "thread_limits.py"):  # what kernels import besides
        shutil.copy(KERNELS.parent / name, package / name)
    (package / "__init__.py").touch()
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
    assert said[1:] == ["True", "hash_terms", "builtin_function_or_method"]
    assert shown == ""
    by_numba, _ = run(built, CALLS, TRIPLESTORE_KERNELS="numba")
    assert by_numba == [said[0], "False", "hash_terms", "CPUDispatcher"]
    by_python, _ = run(built, NO_NUMBA + CALLS, TRIPLESTORE_KERNELS="python")
    assert by_python[:2] == [said[0], "False"]


def test_ahead__is_not_used_where_bounds_are_checked(built: Path) -> None:
    assert run(built, CALLS, NUMBA_BOUNDSCHECK="1")[0][1] == "False"


@pytest.mark.parametrize("kernels", ["", "numba"])
def test_ahead__arguments_that_do_not_match_are_refused(built: Path, kernels: str) -> None:
    assert run(built, REFUSED, TRIPLESTORE_KERNELS=kernels)[0] == ["refused"]


def test_ahead__is_not_used_with_other_sources(built: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(built, copy)
    hashing = copy / "triplestore" / "kernels" / "terms" / "hashing.py"
    hashing.write_text(hashing.read_text() + "\n# changed\n")
    assert run(copy, CALLS, TRIPLESTORE_KERNELS="compiled")[0][1] == "False"


MANY = """
import numpy as np
from triplestore.kernels.terms.term_tables import hash_terms
text, out = np.arange(250, dtype=np.uint8), np.zeros(2000, np.uint64)
at, lengths = np.zeros(2000, np.int64), np.full(2000, 20, np.int64)
hash_terms(text, at, lengths, np.ones(2000, np.uint8), out)
print(out[0])
"""


def test_without_numba_and_module__kernels_run_as_plain_python_with_a_warning(
    built: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(built, copy, ignore=shutil.ignore_patterns("*.so"))
    said, shown = run(copy, 'import sys; sys.modules["numba"] = None' + MANY)
    assert shown.count("\n") == 1
    assert "numba is missing" in shown and "triplestore[jit]" in shown
    assert said == run(built, MANY)[0]
