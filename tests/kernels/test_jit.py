"""The switchboard of kernels: caching that notices every edit, modes, and what costs a compilation.

What depends on the environment runs in a process of its own, on a copy of the kernels package.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import triplestore.kernels
from triplestore.kernels import compiled_cache, jit
from triplestore.kernels.jit import Kernel, helper, kernel
from triplestore.kernels.warm_up import our_kernels

pytestmark = pytest.mark.slow_kernels  # processes of their own, in each way: once is enough

KERNELS = Path(triplestore.kernels.__file__).parent

needs_numba = pytest.mark.skipif(
    importlib.util.find_spec("numba") is None, reason="numba is not installed"
)

# Prints the hash of a text by the compiled kernel, and whether numba was needed.
PROGRAM = """
import sys
import numpy as np
from triplestore.kernels import jit
from triplestore.kernels.terms.term_tables import hash_terms
assert jit.__file__.startswith({root!r}), jit.__file__
at, out = np.zeros(1, np.int64), np.zeros(1, np.uint64)
hash_terms(np.arange(20, dtype=np.uint8), at, at + 20, np.ones(1, np.uint8), out)
print(out[0], "numba" in sys.modules)
"""


class Copy:
    """A copy of the kernels package with a cache folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "code" / "triplestore"
        self.cache = folder / "cache"
        shutil.copytree(
            KERNELS, self.package / "kernels", ignore=shutil.ignore_patterns("__pyc*", "*.so")
        )
        needed = ("errors.py", "private_folder.py", "thread_limits.py")  # by kernels
        for name in needed:
            shutil.copy(KERNELS.parent / name, self.package / name)
        (self.package / "__init__.py").touch()

    def edit(self, name: str, old: str, new: str) -> None:
        file = self.package / "kernels" / name
        text = file.read_text()
        assert text.count(old) == 1, f"{old!r} is not once in {name}"
        file.write_text(text.replace(old, new))

    def start(self, program: str = PROGRAM, **variables: str) -> subprocess.Popen[str]:
        """A process that runs the program."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("TRIPLESTORE_KERNELS", "NUMBA_BOUNDSCHECK")
        }
        environment |= {
            "PYTHONPATH": str(self.package.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TRIPLESTORE_CACHE": str(self.cache),
            "TRIPLESTORE_KERNELS": "numba",
        }
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-c", program.format(root=str(self.package.parent))],
            env=environment | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.package.parent,  # or the package in the working folder would be found first
        )

    def run(self, program: str = PROGRAM, **variables: str) -> tuple[str, str]:
        """What the program prints on stdout and stderr."""
        process = self.start(program, **variables)
        out, error = process.communicate()
        assert process.returncode == 0, error
        return out, error


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


@needs_numba
def test_cache__editing_a_helper_in_another_file_changes_what_a_cached_caller_does(copy):
    before, said = copy.run()
    assert "compiling kernels" in said
    again, said = copy.run()
    assert again == before
    assert said == ""  # loaded from the cache

    copy.edit("terms/hashing.py", "END_2 = np.uint64(0xC4CEB9FE1A85EC53)", "END_2 = np.uint64(3)")
    after, said = copy.run()
    assert after != before
    assert "compiling kernels" in said
    by_python, _ = copy.run(TRIPLESTORE_KERNELS="python")
    assert by_python.split()[0] == after.split()[0]

    copy.edit("terms/hashing.py", "END_2 = np.uint64(3)", "END_2 = np.uint64(0xC4CEB9FE1A85EC53)")
    assert copy.run() == (before, "")  # its code is still there


@needs_numba
def test_plain_python__needs_no_numba_and_gives_the_same(copy):
    compiled, _ = copy.run()
    plain, said = copy.run(TRIPLESTORE_KERNELS="python")
    assert compiled.split()[1] == "True"
    assert plain.split() == [compiled.split()[0], "False"]
    assert said == ""
    assert not copy.run(
        "import triplestore.kernels.terms.term_tables", TRIPLESTORE_KERNELS="python"
    )[0]


FEW_AND_MANY = """
import sys
import numpy as np
from triplestore.kernels import jit
from triplestore.kernels.rows.sorted_sets import unite
few = np.arange(9, dtype=np.uint64)
many = np.arange(2000, dtype=np.uint64)
def united(left, right):
    out = np.zeros(len(left) + len(right), np.uint64)
    return out[: unite(left, right, out)].tolist()
assert united(few, few + np.uint64(4)) == list(range(13))
print("numba" in sys.modules)
{then}
print("numba" in sys.modules)
"""


@needs_numba
@pytest.mark.parametrize(
    ("then", "loads"),
    [
        ("assert united(many, many + np.uint64(1)) == list(range(2001))", True),
        ("jit._plain_seconds = 9.0; assert united(few, few) == list(range(9))", True),
        ("assert united(few, few) == list(range(9))", False),
    ],
)
def test_few_rows__are_worked_on_in_plain_python_until_that_takes_too_long(copy, then, loads):
    shown, said = copy.run(FEW_AND_MANY.replace("{then}", then), TRIPLESTORE_KERNELS="")
    assert shown.split() == ["False", str(loads)]
    assert ("compiling" in said) == loads


CALLERS = """
import sys, threading
import numpy as np
from triplestore.kernels.rows.sorted_sets import mark_members
keys = np.arange(5, dtype=np.uint64)
wrong = []
def look():
    for _ in range(50):
        found = np.zeros(5, np.uint8)
        if mark_members(keys, keys[:3].copy(), found) != 3 or found.tolist() != [1, 1, 1, 0, 0]:
            wrong.append(found.tolist())
threads = [threading.Thread(target=look) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
try:
    mark_members(keys, None, keys)
except AttributeError:
    print(wrong, "numba" in sys.modules)
found = np.zeros(5, np.uint8)
print(mark_members(keys, keys, found))  # a helper in it is plain Python, too: also after an error
"""


def test_few_rows__of_several_threads_and_after_an_error(copy):
    shown, _ = copy.run(CALLERS, TRIPLESTORE_KERNELS="")
    assert shown.split() == ["[]", "False", "5"]


OUT_OF_BOUNDS = """
import numpy as np
from triplestore.kernels import compiled_cache
from triplestore.kernels.terms.term_tables import copy_spans
at, one = np.zeros(1, np.int64), np.ones(1, np.int64)
out = np.zeros(8, np.uint8)
try:
    copy_spans(np.zeros(8, np.uint8), at, one, at + 8, out[:8])
except IndexError:
    print("refused", compiled_cache.cache_folder())
else:
    print("silent", compiled_cache.cache_folder())
"""


@needs_numba
def test_bounds_check__finds_a_write_beyond_the_end_and_has_its_own_cache(copy):
    # The one byte written beyond the array is still inside the allocation.
    checked, _ = copy.run(OUT_OF_BOUNDS, NUMBA_BOUNDSCHECK="1")
    unchecked, _ = copy.run(OUT_OF_BOUNDS)
    assert checked.startswith("refused")
    assert unchecked.startswith("silent")
    assert checked.split()[1] != unchecked.split()[1]


@needs_numba
def test_cache__no_folder_that_can_be_written_is_no_error(copy):
    blocked = copy.package.parent / "file"
    blocked.touch()
    out, _ = copy.run(TRIPLESTORE_CACHE=str(blocked / "below"))
    assert out == copy.run()[0]


# Prints whether the kernel was compiled, not loaded.
COUNTED = """
from triplestore.kernels.terms.term_tables import hash_terms
print(bool(hash_terms.dispatcher().stats.cache_misses))
"""


@needs_numba
def test_cache__a_copy_at_another_place_shares_it(copy, tmp_path):
    other = Copy(tmp_path / "other")
    other.cache = copy.cache
    assert copy.run(COUNTED)[0] == "True\n"
    assert other.run(COUNTED) == ("False\n", "")


@needs_numba
def test_cache__of_two_processes_at_a_time_one_compiles(copy, tmp_path):
    programs = [copy.start(COUNTED), copy.start(COUNTED)]
    said = sorted(program.communicate(timeout=300)[0] for program in programs)
    assert said == ["False\n", "True\n"]


@needs_numba
def test_lock__of_a_process_that_stands_still_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRIPLESTORE_CACHE", str(tmp_path))
    monkeypatch.setattr(compiled_cache, "_WAIT_SECONDS", 0.1)
    with compiled_cache.one_process("a"), compiled_cache.one_process("a"):
        pass  # got here after 0.1 s
    monkeypatch.setattr(compiled_cache, "_WAIT_SECONDS", 900.0)
    with compiled_cache.one_process("a"), compiled_cache.one_process("b"):
        pass


WARM = """
from triplestore.kernels.warm_up import compile_all, our_kernels
if __name__ == "__main__":
    done = sorted(compile_all(2))
    print(done == sorted(our_kernels()), *(name.rpartition(".")[2] for name in done))
"""


@needs_numba
def test_warm_up__compiles_every_kernel(copy):
    for folder in ("closures", "documents", "rows", "rules"):  # 28 s of processor time
        shutil.rmtree(copy.package / "kernels" / folder)
    for name in ("value_keys", "sort_terms"):
        (copy.package / "kernels" / "terms" / f"{name}.py").unlink()
    said, shown = copy.run(WARM)
    assert said.split()[0] == "True" and "hash_terms" in said.split()
    assert shown == ""
    assert copy.run(COUNTED) == ("False\n", "")


SILENT = "from triplestore.kernels import jit; jit.set_announcements(False)" + PROGRAM


@needs_numba
def test_announcement__can_be_turned_off(copy):
    assert copy.run(SILENT) == (copy.run()[0], "")


@kernel("i64(u32r, u32r, i64w)")
def add_up(left, right, out):
    """The sum of both, and where they differ."""
    total = 0
    for i in range(left.size):
        total += plus(np.int64(left[i]), np.int64(right[i]))
        out[i] = total
    return total


@helper
def plus(a, b):
    """The sum."""
    return a + b


@needs_numba
def test_kernel__frozen_writable_and_mapped_arrays_share_one_compilation(tmp_path):
    plain = np.arange(6, dtype=np.uint32)
    frozen = plain.copy()
    frozen.flags.writeable = False
    plain.tofile(tmp_path / "numbers")
    mapped = np.memmap(tmp_path / "numbers", np.uint32, "r")
    writable_map = np.memmap(tmp_path / "numbers", np.uint32, "r+")
    from_bytes = np.frombuffer(plain.tobytes(), np.uint32)
    part = np.arange(12, dtype=np.uint32)[3:9] - np.uint32(3)
    out = np.zeros(6, np.int64)
    arrays = [plain, frozen, mapped, np.asarray(mapped), writable_map, from_bytes, part]
    for left in arrays:
        for right in arrays:
            assert add_up(left, right, out) == 30
    if not jit.plain_python():
        assert len(add_up.dispatcher().signatures) == 1


@needs_numba
@pytest.mark.skipif(jit.plain_python(), reason="plain Python takes any array")
def test_kernel__what_was_not_declared_is_refused_and_never_compiled():
    numbers = np.arange(6, dtype=np.uint32)
    out = np.zeros(6, np.int64)
    frozen = out.copy()
    frozen.flags.writeable = False
    wrong = [
        (numbers.astype(np.uint64), numbers, out),
        (np.arange(12, dtype=np.uint32)[::2], numbers, out),
        (numbers, numbers, frozen),
    ]
    for arguments in wrong:
        with pytest.raises(TypeError, match="No matching definition"):
            add_up(*arguments)
    assert len(add_up.dispatcher().signatures) == 1


@needs_numba
@pytest.mark.skipif(jit.plain_python(), reason="plain Python may allocate")
def test_kernel__cannot_allocate():
    @kernel("i64(i64)")
    def allocate(size):
        return np.zeros(size, np.int64).size

    jit._registry.remove(allocate)
    with pytest.raises(Exception, match="function zeros"):
        allocate(3)


def test_kernel__needs_a_signature():
    with pytest.raises(TypeError, match="needs a signature"):
        kernel()(lambda: None)


def test_kernel__keeps_name_and_docstring():
    assert add_up.__name__ == "add_up"
    assert add_up.__doc__ == "The sum of both, and where they differ."
    assert repr(add_up).endswith(".add_up>")
    assert add_up in jit.all_kernels()
    assert isinstance(plus, Kernel) and plus not in jit.all_kernels()


def test_all_kernels__are_few_and_documented():
    """Each signature costs 0.1 to 0.5 s at the first use on a machine."""
    ours = our_kernels().values()
    assert all(k.__doc__ for k in ours)
    assert sum(len(k.signatures) for k in ours) <= 84


@needs_numba
def test_ctrl_c__while_a_kernel_is_loaded_takes_effect_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @kernel("i64(i64)")
    def same(number: int) -> int:
        return number

    def interrupted(self: Kernel[..., int]) -> object:
        signal.raise_signal(signal.SIGINT)
        return self.py_func  # it gets here

    monkeypatch.setattr(Kernel, "_compile", interrupted)
    monkeypatch.setenv("TRIPLESTORE_KERNELS", "numba")
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        same(3)
    assert signal.getsignal(signal.SIGINT) is handler
    assert same(3) == 3, "it was loaded all the same"
    jit._registry.remove(same)


@needs_numba
def test_kernels__are_loaded_in_other_threads_too(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    @kernel("i64(i64)")
    def same(number: int) -> int:
        return number

    monkeypatch.setattr(Kernel, "_compile", lambda self: self.py_func)
    thread = threading.Thread(target=lambda: made.append(same(3)))
    thread.start()
    thread.join()
    assert made == [3]
    jit._registry.remove(same)
