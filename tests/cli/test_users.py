"""The commands `users` and the options of `serve`."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner, Result

pytest.importorskip("starlette", reason="the extra `server` is not installed")

from triplestore import Store
from triplestore.cli import main
from triplestore.server.access import read_users
from triplestore.server.access.passwords import is_password, token_hash


def run(*arguments: str, given: str = "") -> Result:
    return CliRunner().invoke(main, ["users", *arguments], input=given)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "users.toml"


def test_add__asks_twice_for_the_password(file: Path) -> None:
    done = run("add", "ada", "--role", "write", "-f", str(file), given="good secret\n" * 2)
    assert done.exit_code == 0, done.output
    assert "good secret" not in done.output + file.read_text()
    record = read_users(file).named("ada")
    assert record is not None and record.role == "write" and record.password is not None
    assert is_password("good secret", record.password)
    assert file.stat().st_mode & 0o777 == 0o600


def test_add__again_replaces_password_and_role_but_not_tokens(file: Path) -> None:
    first = ["add", "ada", "-f", str(file), "--password-stdin"]
    assert run(*first, given="first secret\n").exit_code == 0
    made = run("token", "ada", "-f", str(file)).output.strip()
    assert run(*first, "--role", "admin", given="second secret\n").exit_code == 0
    record = read_users(file).named("ada")
    assert record is not None and record.password is not None
    assert (record.role, record.tokens) == ("admin", {"token": token_hash(made)})
    assert is_password("second secret", record.password)


def test_token__is_shown_once_and_not_kept(file: Path) -> None:
    assert run("add", "ci", "-f", str(file), "--no-password").exit_code == 0
    done = run("token", "ci", "--name", "build", "-f", str(file))
    made = done.output.strip()
    assert made.startswith("ts_") and made not in file.read_text()
    found = read_users(file).with_token(token_hash(made))
    assert found is not None and found.name == "ci"
    again = run("token", "ci", "--name", "build", "-f", str(file))
    assert again.exit_code == 1 and "has a token 'build'" in again.output


def test_remove_and_list(file: Path) -> None:
    run("add", "ada", "-f", str(file), "--password-stdin", given="good secret\n")
    run("add", "bob", "--store", "museum", "-f", str(file), "--no-password")
    run("token", "bob", "-f", str(file))
    assert run("list", "-f", str(file)).output.splitlines() == [
        "ada\tread\tpassword",
        "bob\tread of museum\ttoken token",
    ]
    assert run("remove", "bob", "--token", "token", "-f", str(file)).exit_code == 0
    assert run("remove", "ada", "-f", str(file)).exit_code == 0
    assert run("list", "-f", str(file)).output == "bob\tread of museum\t\n"


@pytest.mark.parametrize(
    ("arguments", "given", "words"),
    [
        (["add", "a:b", "--no-password"], "", "cannot be a name"),
        (["add", "ada", "--password-stdin"], "short\n", "at least 8"),
        (["token", "none"], "", "cannot read"),
        (["list"], "", "cannot read"),
    ],
)
def test_users__what_is_wrong_is_said(
    file: Path, arguments: list[str], given: str, words: str
) -> None:
    done = run(*arguments, "-f", str(file), given=given)
    assert done.exit_code == 1 and words in done.output
    assert not file.exists()


def test_users__unknown_ones(file: Path) -> None:
    run("add", "ada", "-f", str(file), "--no-password")
    for arguments in (["token", "bob"], ["remove", "bob"], ["remove", "ada", "--token", "x"]):
        done = run(*arguments, "-f", str(file))
        assert done.exit_code == 1 and "no" in done.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "-l PATH"),
        (["-l", "s", "--store", "a=s"], "-l PATH"),
        (["--store", "a"], "not NAME=PATH"),
        (["--store", "a=s", "--store", "a=s"], "given twice"),
        (["--store", "query=s"], "cannot be the name"),
        (["-l", "s", "--users", "u", "--no-login"], "not both"),
        (["-l", "s", "--users", "none"], "cannot read none"),
        (["-l", "s", "--tls-key", "none"], "needs a certificate"),
        (["-l", "s", "--tls-cert", "none"], "cannot use none"),
        (["-l", "s", "--bind", "0.0.0.0:0"], "--no-login"),
        (["-l", "s", "--access-log", "none/log"], "cannot write none/log"),
    ],
)
def test_serve__what_is_wrong_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store("s"):
        pass
    done = CliRunner().invoke(main, ["serve", "--bind", "localhost:0", *arguments])
    assert done.exit_code in (1, 2) and words in done.output


def test_serve__with_users_and_several_stores(tmp_path: Path, file: Path) -> None:
    for name in ("a", "b"):
        with Store(tmp_path / name) as store:
            store.load(f"<http://e/{name}> <http://e/p> 1 .", "ttl")
    run("add", "ci", "-f", str(file), "--no-password")
    token = run("token", "ci", "-f", str(file)).output.strip()
    command = [sys.executable, "-m", "triplestore.cli", "serve", "--store", "one=a", "--store"]
    command += ["two=b", "--users", str(file), "--bind", "localhost:0", "--access-log", "log"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("a, b are served at http://"), line
        address = line.split()[-1]
        with pytest.raises(HTTPError) as refused:
            urlopen(f"{address}/one/query?query=ASK%7B%7D", timeout=20)
        assert refused.value.code == 401
        refused.value.close()
        asked = Request(f"{address}/two/store?default", headers={"Accept": "text/turtle"})
        asked.add_header("Authorization", f"Bearer {token}")
        with urlopen(asked, timeout=20) as answer:
            assert b"http://e/b" in answer.read()
        time.sleep(0.1)
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "")
    lines = (tmp_path / "log").read_text().splitlines()
    assert ["401" in lines[0], " - ci [" in lines[1], token in "".join(lines)] == [
        True,
        True,
        False,
    ]
