"""The examples in docstrings and in the README are run.

The modules are found by their installed names, so that `loaders/` is seen as
`triplestore.loaders`, once, as users see it.
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import triplestore

REPOSITORY = Path(__file__).resolve().parent.parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
OPTIONAL = ("triplestore.loaders.spark", "triplestore.server", "triplestore.__main__")


def module_names() -> list[str]:
    names = ["triplestore"]
    for name in ("triplestore", "triplestore.loaders", "triplestore.ontologies"):
        package = importlib.import_module(name)
        folder = package.__path__[:1]  # a checkout has a second one, with what is not installed
        names += [found.name for found in pkgutil.walk_packages(folder, package.__name__ + ".")]
        names.append(name)
    return sorted(name for name in set(names) if not name.startswith(OPTIONAL))


@pytest.mark.parametrize("name", module_names())
def test_docstrings__examples_are_true(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert result.failed == 0


def test_doctests__find_the_folders_installed_inside_the_package() -> None:
    assert "triplestore.loaders" in module_names()
    assert "triplestore.ontologies" in module_names()
    assert triplestore.__version__
