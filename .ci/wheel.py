"""Makes the wheel with kernels compiled ahead of time, and tries it: `make wheel`.

The wheel that pip builds has Python only. This adds the extension module of the kernels and names
the machines that the wheel is for. It works for every Python from 3.11 on (the stable ABI). Then
it is installed into a fresh environment, which gets no numba, and each command is run once.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from triplestore.kernels.ahead.build import build
from triplestore.kernels.ahead.load import FILE_NAME

REPOSITORY = Path(__file__).resolve().parent.parent
INSIDE = f"triplestore/kernels/ahead/{FILE_NAME}"
PLATFORM = "manylinux_2_17"
NEWEST_LIBC = (2, 17)

DATA = """@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:part a owl:TransitiveProperty . :a :part :b . :b :part :c .
"""
QUERY = "SELECT ?x WHERE { <http://example.org/a> <http://example.org/part> ?x }"

COMMANDS = (
    "load -l s -f data.ttl",
    "reason -l s --regime owl-rl",
    "query -l s --query QUERY --results-format tsv",
    "update -l s --update UPDATE",
    "why -l s TRIPLE",
    "info -l s",
    "verify -l s --closure",
    "rules -l s",
    "check -l s",
    "dump -l s --format nq",
    "convert --from-file data.ttl --to-format nt",
    "optimize -l s",
    "backup -l s -d t",
    "warm-up",
    "completion bash",
    "serve --help",
    "ui --help",
    "import --help",
    "pull --help",
)


def main(target: Path) -> None:
    """Make the wheel in this folder and try it."""
    target.mkdir(parents=True, exist_ok=True)
    # What an earlier build left there would be packed as well, such as files of an older page.
    shutil.rmtree(REPOSITORY / "build" / "lib", ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        run(sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", "-w", name, REPOSITORY)
        (plain,) = scratch.glob("entailstore-*.whl")
        kernels = build(scratch)
        check_libc(kernels)
        wheel = add(plain, kernels, target)
        try_out(wheel, scratch)
    print(f"{wheel}  {wheel.stat().st_size / 1e6:.1f} MB")


def check_libc(module: Path) -> None:
    """The module must run with the C library that the name of the wheel promises."""
    said = run("objdump", "-T", module)
    needed = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([\d.]+)", said)}
    if max(needed) > (*NEWEST_LIBC, 99):
        raise SystemExit(f"triplestore: kernels need a C library of version {max(needed)}")


def add(plain: Path, kernels: Path, target: Path) -> Path:
    """A copy of the wheel with the module in it."""
    tag = f"cp311-abi3-{PLATFORM}_{os.uname().machine}"
    made = target / plain.name.replace("py3-none-any", tag)
    content = kernels.read_bytes()
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        files = {name: old.read(name) for name in old.namelist()}
        (record,) = (name for name in files if name.endswith(".dist-info/RECORD"))
        (about,) = (name for name in files if name.endswith(".dist-info/WHEEL"))
        text = files[about].decode().replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
        files[about] = text.replace("Tag: py3-none-any", f"Tag: {tag}").encode()
        files[INSIDE] = content
        lines = [
            line
            for line in files.pop(record).decode().splitlines()
            if line.split(",")[0] not in (about, record)
        ]
        lines += [entry(name, files[name]) for name in (about, INSIDE)]
        for name, data in files.items():
            new.writestr(name, data)
        new.writestr(record, "\n".join([*lines, f"{record},,", ""]))
    return made


def entry(name: str, data: bytes) -> str:
    """A line of RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def try_out(wheel: Path, scratch: Path) -> None:
    """Install it into a fresh environment, and run every command."""
    run(sys.executable, "-m", "venv", scratch / "env")
    python = scratch / "env" / "bin" / "python"
    run(python, "-m", "pip", "--quiet", "install", wheel)
    folder = scratch / "work"
    folder.mkdir()
    (folder / "data.ttl").write_text(DATA)
    ahead = "from triplestore.kernels.ahead.load import is_compiled_ahead as i; print(i())"
    assert run(python, "-c", ahead, cwd=folder) == "True\n", "kernels are not found"
    page = (
        "import pathlib, triplestore; place = pathlib.Path(triplestore.__file__).parent; "
        "bundle = place / 'server' / 'page' / 'bundle'; "
        "print(all((bundle / name).is_file() for name in ('index.html', 'page/licenses.txt')))"
    )
    assert run(python, "-c", page, cwd=folder) == "True\n", (
        "the page for browsers, or the licences of its libraries, are missing"
    )
    words = {
        "QUERY": QUERY,
        "UPDATE": "INSERT DATA { <http://example.org/c> <http://example.org/part> <urn:d> }",
        "TRIPLE": "<http://example.org/a> <http://example.org/part> <http://example.org/c>",
    }
    for command in COMMANDS:
        arguments = [words.get(word, word) for word in command.split()]
        said = run(python.with_name("triplestore"), *arguments, cwd=folder)
        print(f"triplestore {command}: OK")
        if command.startswith("query"):
            assert said.count("example.org") == 2, said


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """What it prints; ends this if it fails."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=variables, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"triplestore: {' '.join(map(str, command))} failed (see above)")
    return done.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
