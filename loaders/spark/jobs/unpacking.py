"""The packaged `triplestore` unpacks itself when it is imported; the beginning of the zip.

`packaging` puts this text into the zip as `triplestore/__init__.py`, followed by a call of `start`.
When it is imported, only `triplestore.private_folder` exists.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from triplestore.private_folder import private_folder

_PAYLOAD = "unpacked/"


def start(content: str, file: str, scope: dict[str, Any]) -> None:
    """Unpack the zip that contains `file`, and become the unpacked package."""
    folder = unpack(Path(file).parent.parent, content) / "triplestore"
    init = folder / "__init__.py"
    scope |= {"__path__": [str(folder)], "__file__": str(init)}
    scope["__spec__"].submodule_search_locations[:] = [str(folder)]
    exec(compile(init.read_text(), str(init), "exec"), scope)


def unpack(archive: Path, content: str) -> Path:
    """The folder with the modules, made unless another process has made it."""
    base = private_folder()
    folder = base / f"package-{content}"
    if not folder.is_dir():
        making = Path(tempfile.mkdtemp(prefix=f"package-{content}-", dir=base))
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(making, [n for n in packed.namelist() if n.startswith(_PAYLOAD)])
        try:
            (making / _PAYLOAD).rename(folder)
        except OSError:  # another process was faster
            if not folder.is_dir():
                raise
        shutil.rmtree(making, ignore_errors=True)
    return folder
