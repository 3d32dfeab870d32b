"""The files of one side: of a path, of a folder, or of a revision of git.

Start reading at `files_at` and `files_in_git`. A file is known by its name relative to the side and
by the id that git gives to its content, so an unchanged file is not read.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha1
from pathlib import Path, PurePosixPath

from triplestore.data_classes import data_class
from triplestore.errors import MissingError, UsageError, unreadable
from triplestore.loaders.formats import split_name


@data_class
class SideFile:
    """One file: its name, the id of its content, and how to read it."""

    name: str
    content_id: str
    read: Callable[[], bytes]


@data_class
class FileSide:
    """Files as one side of a comparison.

    label  for reports
    read   gives any other file of the side, such as one of rules; None if it is not there
    """

    label: str
    files: tuple[SideFile, ...]
    read: Callable[[str], bytes | None]


def content_id(data: bytes) -> str:
    """The id that git gives to a content.

    >>> content_id(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    made = sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    made.update(data)
    return made.hexdigest()


def is_data(name: str) -> bool:
    """Whether a file is read as data, by its name.

    >>> is_data("a/onto.ttl.gz"), is_data("README.md")
    (True, False)
    """
    return split_name(name)[0] is not None and not PurePosixPath(name).name.startswith(".")


# -- files on disk --------------------------------------------------------------------------------


def files_at(path: Path, only: Sequence[str] = ()) -> FileSide:
    """The file at a path, or all files of RDF in a folder and its folders."""
    if path.is_dir():
        inside = (file for file in sorted(path.rglob("*")) if file.is_file())
        named = [(file.relative_to(path).as_posix(), file) for file in inside]
        chosen = [one for one in named if _wanted(one[0], only)]
        root = path
    elif path.is_file():
        chosen, root = [(path.name, path)], path.parent
    else:
        raise MissingError(f"cannot read {path}: it does not exist")
    files = tuple(_on_disk(name, file) for name, file in chosen)
    return FileSide(str(path), files, lambda name: _other(root, name))


def _wanted(name: str, only: Sequence[str]) -> bool:
    if any(part.startswith(".") for part in name.split("/")[:-1]):
        return False
    return is_data(name) and (not only or any(_below(name, one) for one in only))


def _below(name: str, folder: str) -> bool:
    folder = folder.strip("/").removeprefix("./")
    return folder in ("", ".") or name == folder or name.startswith(f"{folder}/")


def _on_disk(name: str, file: Path) -> SideFile:
    data = _bytes_of(file)
    return SideFile(name, content_id(data), lambda: _bytes_of(file))


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise unreadable(file, error) from error


def _other(root: Path, name: str) -> bytes | None:
    for file in (root / name, Path(name)):
        if file.is_file():
            return _bytes_of(file)
    return None


# -- files in git ---------------------------------------------------------------------------------


def is_revision(text: str, folder: Path) -> bool:
    """Whether git knows a commit by this name in the repository of a folder."""
    if not text or text.startswith("-"):
        return False
    found = _run(folder, "rev-parse", "--verify", "--quiet", f"{text}^{{commit}}")
    return found.returncode == 0


def merge_base(one: str, other: str, folder: Path) -> str:
    """The last commit that two revisions have in common."""
    for revision in (one, other):
        _refuse_option(revision)
    return _git(folder, "merge-base", one, other).decode().strip()


def files_in_git(revision: str, folder: Path, only: Sequence[str] = ()) -> FileSide:
    """The files of a revision, as far as they are RDF; `only` these files and folders.

    Paths are relative to the folder, as for git. The working tree is neither read nor changed.
    """
    _refuse_option(revision)
    prefix = _git(folder, "rev-parse", "--show-prefix").decode().strip()
    commit = _git(folder, "rev-parse", "--verify", f"{revision}^{{commit}}").decode().strip()
    listed = _git(folder, "ls-tree", "-r", "-z", "--full-tree", commit)
    files = []
    for entry in listed.split(b"\0"):
        if not entry:
            continue
        about, _, raw = entry.partition(b"\t")
        mode, kind, blob = about.decode().split()
        path = raw.decode("utf-8", "surrogateescape")
        if kind != "blob" or mode == "120000" or not path.startswith(prefix):
            continue
        name = path[len(prefix) :]
        if _wanted(name, only):
            files.append(SideFile(name, blob, _reader(folder, blob, name)))
    label = f"{revision} ({commit[:10]})"
    return FileSide(label, tuple(files), lambda name: _shown(folder, commit, prefix + name))


def _refuse_option(revision: str) -> None:
    if revision.startswith("-"):
        raise UsageError(f"{revision!r} is not a revision of git")


def _reader(folder: Path, blob: str, name: str) -> Callable[[], bytes]:
    def read() -> bytes:
        data = _git(folder, "cat-file", "blob", blob)
        if data.startswith(b"version https://git-lfs.github.com/spec/"):
            raise UsageError(
                f"{name} is a pointer of Git LFS in this revision, not the file: run `git lfs "
                "checkout` and compare the files instead"
            )
        return data

    return read


def _shown(folder: Path, commit: str, path: str) -> bytes | None:
    found = _run(folder, "cat-file", "blob", f"{commit}:{path}")
    return found.stdout if found.returncode == 0 else None


def _git(folder: Path, *arguments: str) -> bytes:
    found = _run(folder, *arguments)
    if found.returncode:
        said = found.stderr.decode(errors="replace").strip().splitlines()
        raise UsageError(f"git {arguments[0]} failed: {said[0] if said else 'no message'}")
    return found.stdout


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, check=False
        )
    except FileNotFoundError:
        raise UsageError("git is not installed: compare files or folders instead") from None


def by_name(files: Iterable[SideFile]) -> dict[str, SideFile]:
    """The files by their names."""
    return {file.name: file for file in files}
