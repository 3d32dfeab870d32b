"""What pip installs, and the set-up that `make` does, on machines where something is missing."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import triplestore
from triplestore.errors import DISTRIBUTION

REPOSITORY = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())


def packages_on_disk() -> set[str]:
    roots = {
        "triplestore": REPOSITORY / "triplestore",
        "triplestore.loaders": REPOSITORY / "loaders",
        "triplestore.ontologies": REPOSITORY / "ontologies",
    }
    found = set()
    for name, root in roots.items():
        for init in root.rglob("__init__.py"):
            found.add(".".join([name, *init.parent.relative_to(root).parts]))
    return found


def test_packages__are_all_listed() -> None:
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages_on_disk()


def test_metadata__names_the_extras_the_command_and_the_version() -> None:
    about = metadata.metadata(DISTRIBUTION)
    extras = set(about.get_all("Provides-Extra") or ())
    assert {"jit", "spark", "server", "rdflib", "bench", "dev"} <= extras
    assert metadata.version(DISTRIBUTION) == triplestore.__version__
    (command,) = metadata.entry_points(group="console_scripts", name="triplestore")
    assert command.value == "triplestore.cli:main"


def test_install__puts_nothing_but_triplestore_into_the_environment() -> None:
    files = metadata.distribution(DISTRIBUTION).read_text("top_level.txt")
    assert files is not None
    assert files.split() == ["triplestore"]


def test_loaders_and_ontologies__are_inside_the_package(tmp_path: Path) -> None:
    program = "import triplestore.loaders as l, triplestore.ontologies as o; print(l.__name__)"
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True)
    assert run.returncode == 0, run.stderr


def test_readme__says_what_each_dependency_is_for() -> None:
    readme = (REPOSITORY / "README.md").read_text()
    listed = list(PROJECT["project"]["dependencies"])
    for extra, names in PROJECT["project"]["optional-dependencies"].items():
        listed += names if extra not in ("dev", "bench") else []
    for requirement in listed:
        package = re.split(r"[<>=\[ ]", requirement)[0]
        assert f"`{package}`" in readme, package


def test_license__is_apache() -> None:
    assert "Apache License" in (REPOSITORY / "LICENSE").read_text()[:200]
    assert PROJECT["project"]["license"] == "Apache-2.0"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """As much of a clone as set-up needs."""
    folder = tmp_path / "clone"
    (folder / ".ci").mkdir(parents=True)
    for name in ("pyproject.toml", ".ci/setup"):
        shutil.copy(REPOSITORY / name, folder / name)
    return folder


def tools(folder: Path, **scripts: str) -> Path:
    """A PATH with the basic commands, and these shell scripts."""
    folder.mkdir()
    for name in ("bash", "env", "dirname", "cksum", "head", "grep", "tr", "rm", "cat", "mkdir"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    # An unprivileged user, so that a test never installs anything.
    for name, script in {"id": "echo 1000", **scripts}.items():
        path = folder / name.replace("_", ".")
        path.write_text(f"#!{shutil.which('bash')}\n{script}\n")
        path.chmod(0o755)
    return folder


def set_up(
    clone: Path, path: Path, kind: str = "run", **extra: str
) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(path), "HOME": str(clone), **extra}
    return subprocess.run(
        [str(clone / ".ci" / "setup"), kind], env=environment, capture_output=True, text=True
    )


def test_setup__without_python_says_so_in_one_line(clone: Path, tmp_path: Path) -> None:
    run = set_up(clone, tools(tmp_path / "bin"))
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert "needs Python 3.11 or later" in run.stderr


def test_setup__with_an_old_python_says_so_in_one_line(clone: Path, tmp_path: Path) -> None:
    run = set_up(clone, tools(tmp_path / "bin", python3="exit 1"))
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert "needs Python 3.11 or later" in run.stderr


def test_setup__names_the_python_that_was_asked_for(clone: Path, tmp_path: Path) -> None:
    run = set_up(clone, tools(tmp_path / "bin"), PYTHON="/nowhere/python3.9")
    assert run.returncode == 1
    assert "/nowhere/python3.9 is not that" in run.stderr


def test_setup__without_venv_names_the_package_to_install(clone: Path, tmp_path: Path) -> None:
    script = 'case "$2" in *ensurepip*) exit 1;; *print*) echo 3.12;; esac'
    run = set_up(clone, tools(tmp_path / "bin", python3_12=script))
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1
    assert "sudo apt-get install python3.12-venv" in run.stderr


def test_setup__does_nothing_when_nothing_changed_and_all_when_something_did(
    clone: Path, tmp_path: Path
) -> None:
    path = tools(tmp_path / "bin", python3=FAKE_PYTHON)
    first = set_up(clone, path)
    assert first.returncode == 0, first.stderr
    assert installs(clone) == 1
    again = set_up(clone, path)
    assert (again.returncode, again.stderr) == (0, "")
    assert installs(clone) == 1
    with (clone / "pyproject.toml").open("a") as project:
        project.write("\n# changed\n")
    assert set_up(clone, path).returncode == 0
    assert installs(clone) == 2


def test_setup__that_failed_is_tried_again(clone: Path, tmp_path: Path) -> None:
    path = tools(tmp_path / "bin", python3=FAKE_PYTHON)
    failed = set_up(clone, path, PIP_FAILS="1")
    assert failed.returncode == 1
    assert "pip could not install" in failed.stderr
    assert set_up(clone, path).returncode == 0
    assert installs(clone) == 1


def test_setup__for_spark_asks_for_java_in_one_line_and_again_next_time(
    clone: Path, tmp_path: Path
) -> None:
    path = tools(tmp_path / "bin", python3=FAKE_PYTHON)
    for _ in range(2):
        run = set_up(clone, path, "spark", NO_JAVA="1")
        assert run.returncode == 1
        assert run.stderr.splitlines()[-1] == "needs Java"
    assert set_up(clone, path, "spark").returncode == 0
    assert (clone / "installs").read_text().count("--editable .[jit,spark]") == 3


def test_setup__for_tests_goes_on_without_java(clone: Path, tmp_path: Path) -> None:
    run = set_up(clone, tools(tmp_path / "bin", python3=FAKE_PYTHON), "dev", NO_JAVA="1")
    assert run.returncode == 0
    assert run.stderr.splitlines()[-1] == "triplestore: tests with Spark will be skipped"


def installs(clone: Path) -> int:
    return (clone / "installs").read_text().count("--editable .")


# Stands for Python, `python -m venv` and `pip`: makes .venv, and writes down each installation.
FAKE_PYTHON = """
case "$*" in
    "-m venv .venv")
        mkdir -p .venv/bin
        echo "#!$PWD/.venv/bin/python" > .venv/bin/pip
        cat "$0" > .venv/bin/python
        /bin/chmod +x .venv/bin/python .venv/bin/pip ;;
    *"pip install"*)
        [ -z "$PIP_FAILS" ] || exit 1
        echo "$*" >> installs ;;
    *find_java*) [ -z "$NO_JAVA" ] || { echo "needs Java" >&2; exit 1; } ;;
    *sys.version\\)*) echo "3.12 of a test" ;;
esac
"""


@pytest.mark.long
def test_wheel__installs_and_works_in_a_fresh_environment(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", tmp_path, REPOSITORY], check=True)
    (wheel,) = tmp_path.glob("entailstore-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "triplestore/loaders/__init__.py" in names
    assert "triplestore/py.typed" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"triplestore"}
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "--quiet", "install", wheel], check=True)
    program = "from triplestore import Store; assert Store().load('<a:a> <a:b> <a:c> .', 'nt')"
    subprocess.run([python, "-c", program], check=True, cwd=tmp_path, env=os.environ)


def wheel_maker() -> Any:
    spec = importlib.util.spec_from_file_location("wheel_maker", REPOSITORY / ".ci" / "wheel.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_wheel__with_kernels_is_for_one_kind_of_machine_and_lists_them(tmp_path: Path) -> None:
    plain, kernels = tmp_path / "triplestore-1-py3-none-any.whl", tmp_path / "compiled.so"
    kernels.write_bytes(b"code")
    about = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("triplestore/__init__.py", "")
        archive.writestr("triplestore-1.dist-info/WHEEL", about)
        listed = ["triplestore/__init__.py,sha256=x,0", "triplestore-1.dist-info/WHEEL,sha256=y,9"]
        own = "triplestore-1.dist-info/RECORD,,"
        archive.writestr("triplestore-1.dist-info/RECORD", "\n".join([*listed, own, ""]))
    (tmp_path / "made").mkdir()
    made = wheel_maker().add(plain, kernels, tmp_path / "made")
    machine = os.uname().machine
    assert made.name == f"triplestore-1-cp311-abi3-manylinux_2_17_{machine}.whl"
    archive = zipfile.ZipFile(made)
    assert archive.testzip() is None
    assert archive.read("triplestore/kernels/ahead/_compiled.abi3.so") == b"code"
    said = archive.read("triplestore-1.dist-info/WHEEL").decode()
    assert "Root-Is-Purelib: false" in said
    assert f"Tag: cp311-abi3-manylinux_2_17_{machine}" in said
    record = archive.read("triplestore-1.dist-info/RECORD").decode().splitlines()
    assert sorted(line.split(",")[0] for line in record) == sorted(archive.namelist())
    assert listed[0] in record and listed[1] not in record and record[-1] == own


@pytest.mark.long
def test_make_wheel__works_in_an_environment_without_numba(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, REPOSITORY / ".ci" / "wheel.py", tmp_path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("entailstore-*-cp311-abi3-manylinux_2_17_*.whl"))) == 1
