"""The examples in the docstrings of modules that need pyspark."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

from triplestore.loaders import spark as package

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = sorted(
    found.name for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
)


@pytest.mark.usefixtures("spark_available")
@pytest.mark.parametrize("name", MODULES)
def test_docstrings__examples_are_true(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(importlib.import_module(name), optionflags=FLAGS).failed == 0
