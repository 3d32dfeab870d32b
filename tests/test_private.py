"""Folders of compiled code: only folders that no other user can write to are used."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from triplestore import private_folder as private
from triplestore.private_folder import is_private, private_folder


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """A home whose cache cannot be made, and a folder for temporary files of one's own."""
    (tmp_path / "home").write_text("not a folder")
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TRIPLESTORE_CACHE", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    private._fresh.cache_clear()
    yield shared
    private._fresh.cache_clear()


def predictable(shared: Path) -> Path:
    return shared / f"triplestore-{os.getuid()}"


def test_folder__is_made_for_the_user_alone(places):
    folder = private_folder("kernels-1")
    assert folder == predictable(places) / "kernels-1"
    assert folder.stat().st_mode & 0o777 == 0o700 == folder.parent.stat().st_mode & 0o777
    assert private_folder("kernels-1") == folder


def test_folder_that_others_can_write_to__is_not_used(places, capsys):
    predictable(places).mkdir()
    predictable(places).chmod(0o777)
    folder = private_folder("kernels-1")
    assert predictable(places) not in folder.parents and is_private(folder)
    assert private_folder("kernels-1") == folder  # one for the process
    assert "TRIPLESTORE_CACHE" in capsys.readouterr().err


def test_folder_below_that_others_can_write_to__is_not_used(places):
    planted = predictable(places) / "kernels-1"
    planted.mkdir(parents=True)
    predictable(places).chmod(0o700)
    planted.chmod(0o770)
    assert private_folder("kernels-1") != planted


def test_symbolic_link__is_not_used(places, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    predictable(places).symlink_to(tmp_path / "elsewhere")
    assert not is_private(predictable(places))
    assert predictable(places) not in private_folder().parents
    assert private_folder() != predictable(places)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_folder_of_another_user__is_not_used(places, monkeypatch):
    mine = os.getuid()
    predictable(places).mkdir(mode=0o700)
    assert is_private(predictable(places))
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    assert not is_private(predictable(places))


def test_folder_that_others_can_replace__is_not_used(places):
    predictable(places).mkdir(mode=0o700)
    places.chmod(0o777)  # without the sticky bit, anybody may rename what is in it
    assert not is_private(predictable(places))


def test_folder_that_was_named__is_held_to_the_same(places, tmp_path, monkeypatch):
    named = tmp_path / "named"
    monkeypatch.setenv("TRIPLESTORE_CACHE", str(named))
    assert private_folder() == named
    named.chmod(0o775)
    assert private_folder() != named


def test_new_folder__is_removed_when_the_process_ends(places):
    predictable(places).symlink_to("/")
    program = (
        "from triplestore.private_folder import private_folder; f = private_folder('kernels');"
        "(f / 'x').touch(); print(f)"
    )
    environment = {**os.environ, "TMPDIR": str(places)}
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
    )
    assert places in Path(run.stdout.strip()).parents
    assert not Path(run.stdout.strip()).parent.exists()
