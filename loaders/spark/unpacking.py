"""How the packaged `triplestore` comes to life where it is imported; the beginning of the zip.

`packaging` puts this text into the zip as `triplestore/__init__.py`, with a call of `start` below
it. It is imported where nothing else of the package is there yet, so it imports nothing of it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

_PAYLOAD = "unpacked/"


def start(content: str, file: str, scope: dict[str, Any]) -> None:
    """Unpack the zip that `file` lies in, and be the package that comes out of it."""
    folder = unpack(Path(file).parent.parent, content) / "triplestore"
    init = folder / "__init__.py"
    scope |= {"__path__": [str(folder)], "__file__": str(init)}
    scope["__spec__"].submodule_search_locations[:] = [str(folder)]
    exec(compile(init.read_text(), str(init), "exec"), scope)


def unpack(archive: Path, content: str) -> Path:
    """The folder with the modules, made unless another process has made it before."""
    base = _cache()
    folder = base / f"package-{content}"
    if not folder.is_dir():
        making = Path(tempfile.mkdtemp(prefix=f"package-{content}-", dir=base))
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(making, [n for n in packed.namelist() if n.startswith(_PAYLOAD)])
        try:
            (making / _PAYLOAD).rename(folder)
        except OSError:  # somebody else was faster, and made the same
            if not folder.is_dir():
                raise
        shutil.rmtree(making, ignore_errors=True)
    return folder


def _cache() -> Path:
    """The folder for what can be made again: where compiled kernels are kept, too."""
    given = os.environ.get("TRIPLESTORE_CACHE")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    for base in (Path(given),) if given else (home / "triplestore", _of_this_user()):
        try:
            base.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(base, os.W_OK) and base.stat().st_uid == os.getuid():
            return base
    return Path(tempfile.mkdtemp(prefix="triplestore-"))


def _of_this_user() -> Path:
    return Path(tempfile.gettempdir()) / f"triplestore-{os.getuid()}"
