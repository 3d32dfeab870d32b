"""The package as one file for a cluster: for `--py-files` of spark-submit.

Start at `package`. The file is a zip with `loaders` and `ontologies` where pip installs them; equal
sources give equal bytes. The dependencies (numpy, numba, pyoxigraph, pyarrow, pandas,
backports.zstd) have compiled code: they must be in the Python of the workers, or in an environment
of `--archives`.

    python -m triplestore.loaders.spark.jobs.packaging FOLDER
    cd FOLDER && spark-submit --py-files triplestore.zip job.py import -l DIR SOURCE

`job.py` is the command line as a program for spark-submit, which makes the session.

Python would import from the zip itself, but not the extension module of a wheel, and numba would
not find its cache. So what the zip holds at `triplestore` only unpacks the rest, once on each
machine, into a folder that is named by its content.
"""

from __future__ import annotations

import hashlib
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import triplestore
import triplestore.loaders
import triplestore.ontologies

PAYLOAD = "unpacked/"
"""The folder of the modules in the zip."""

JOB = """# `triplestore ...` as a job: spark-submit --py-files triplestore.zip job.py ...
from triplestore.cli import main

if __name__ == "__main__":
    main(prog_name="triplestore")
"""

_FIRST = "triplestore/private_folder.py"  # imported by the unpacking
_EPOCH = (1980, 1, 1, 0, 0, 0)  # one date for all, so that the bytes depend only on the content
_ROOTS = {
    "triplestore": triplestore,
    "triplestore/loaders": triplestore.loaders,
    "triplestore/ontologies": triplestore.ontologies,
}


def package(target: Path) -> Path:
    """Write the zip to `target`, completely or not; returns the path."""
    files = {f"{PAYLOAD}{name}": file.read_bytes() for name, file in sorted(sources())}
    digest = hashlib.blake2b(digest_size=8)
    for name, content in files.items():
        digest.update(f"{name} {len(content)}\n".encode() + content)
    unpacking = Path(__file__).with_name("unpacking.py").read_text()
    start = f"{unpacking}\n\nstart({digest.hexdigest()!r}, __file__, globals())\n"
    beside = target.with_name(f"{target.name}.tmp")
    with zipfile.ZipFile(beside, "w") as archive:
        ready = {"triplestore/__init__.py": start.encode(), _FIRST: files[f"{PAYLOAD}{_FIRST}"]}
        for name, content in {**ready, **files}.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return beside.replace(target)


def sources() -> Iterator[tuple[str, Path]]:
    """Each file of the package, compiled kernels included: its path and the file itself."""
    for prefix, module in _ROOTS.items():
        folder = module.__path__[0]
        for file in Path(folder).rglob("*.*"):
            if file.suffix in (".py", ".properties", ".so"):
                yield f"{prefix}/{file.relative_to(folder).as_posix()}", file


def write_all(folder: Path) -> tuple[Path, Path]:
    """Write the zip and its program for spark-submit: two files in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "job.py"
    program.write_text(JOB)
    return package(folder / "triplestore.zip"), program


def main() -> None:
    """Write both files to the folder of the command line, and print their names."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m triplestore.loaders.spark.jobs.packaging FOLDER")
    for file in write_all(Path(sys.argv[1])):
        print(file)  # noqa: T201 - the output of a command


if __name__ == "__main__":
    main()
