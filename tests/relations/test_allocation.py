"""Freed arrays are reused by the next ones: seen by the page faults of a process of its own."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
{opening}

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.empty(3 << 20, np.uint8).fill(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
print(faults())
"""


def faults_of_the_second_array(opening: str) -> int:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(opening=opening)],
        capture_output=True,
        text=True,
        check=True,
        env={},
    )
    return int(run.stdout)


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or sys.maxsize < 2**32,
    reason="only glibc on 64 bits gives freed arrays of this size back; others have other rules",
)
def test_an_array_takes_the_memory_of_one_freed_before() -> None:
    pages = (3 << 20) // 4096
    assert faults_of_the_second_array("") > pages // 2  # or there is nothing to be gained
    assert faults_of_the_second_array("from triplestore import Store; Store()") < pages // 10
