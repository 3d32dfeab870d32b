"""Errors of the system become messages that name the file and say what to do."""

from __future__ import annotations

import errno

import pytest

from triplestore.errors import StorageError
from triplestore.storage.files.system import RealFiles, explained


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.ENOSPC, r"No space left on device \(.* bytes free\); no commit is lost"),
        (errno.EROFS, "Read-only file system; to read a store that cannot be written"),
        (errno.EMFILE, "ulimit -n"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_system_errors__say_what_failed_where_and_what_to_do(tmp_path, number, hint):
    path = tmp_path / "journal-000001.log"
    with pytest.raises(StorageError, match=hint) as caught, explained("writing", path):
        raise OSError(number, "text of the system", "somewhere")
    assert caught.value.errno == number
    assert str(caught.value).startswith(f"writing {path} failed: ")


def test_lock__is_free_again_after_release(tmp_path):
    files = RealFiles()
    lock = files.lock(tmp_path / "LOCK")
    assert lock is not None
    assert files.lock(tmp_path / "LOCK") is None
    lock.release()
    again = files.lock(tmp_path / "LOCK")
    assert again is not None
    again.release()


def test_read__gives_parts_of_a_file(tmp_path):
    files = RealFiles()
    (tmp_path / "a").write_bytes(bytes(range(100)))
    assert files.read(tmp_path / "a", 10, 5) == bytes(range(10, 15))
    assert files.read(tmp_path / "a", 95) == bytes(range(95, 100))
    assert files.read(tmp_path / "a", 95, 50) == bytes(range(95, 100))
    assert files.read(tmp_path / "a", 200) == b""
