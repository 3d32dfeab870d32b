"""Lines of the access log."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from server.conftest import SEES, Client, basic, wait_until

from triplestore.errors import StorageError, UsageError
from triplestore.server.watching.access_log import AccessLog, LoggedRequest, common_line

COMMON = re.compile(
    r"^127\.0\.0\.1 - (\S+) \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "
    r'"(.*) HTTP/1\.1" (\d+) (\d+)$'
)


def lines_of(path: Path, count: int) -> list[str]:
    wait_until(lambda: path.exists() and len(path.read_text().splitlines()) >= count)
    return path.read_text().splitlines()


def test_common__has_user_request_status_and_size(
    serving: Callable[..., Client], users: Path, tmp_path: Path
) -> None:
    path = tmp_path / "log"
    client = serving(users=users, access_log=str(path))
    reply = client.ask("/query", {"query": SEES}, authorization=basic("rita"), accept="text/csv")
    lines_of(path, 1)  # a line is written when the answer was sent
    client.ask("/nowhere")
    first, second = (COMMON.match(line) for line in lines_of(path, 2))
    assert first is not None and second is not None
    assert first[1] == "rita" and first[2].startswith("GET /query?query=SELECT")
    assert (int(first[3]), int(first[4])) == (200, len(reply.body))
    assert (second[1], second[2], second[3]) == ("-", "GET /nowhere", "401")
    assert "secret" not in path.read_text()


def test_json__has_the_time_it_took(serving: Callable[..., Client], tmp_path: Path) -> None:
    path = tmp_path / "log"
    client = serving(access_log=str(path), log_format="json")
    client.query(SEES)
    (line,) = lines_of(path, 1)
    found = json.loads(line)
    assert (found["method"], found["status"], found["user"]) == ("GET", 200, None)
    assert 0 < found["seconds"] < 60


def test_log__no_client_can_make_a_line_of_its_own(
    serving: Callable[..., Client], tmp_path: Path
) -> None:
    path = tmp_path / "log"
    client = serving(access_log=str(path))
    forged = '/%0a10.0.0.1%20-%20-%20%5b"x"%5d%22%0d'
    client.ask(forged)
    assert len(lines_of(path, 1)) == 1
    assert COMMON.match(path.read_text().rstrip("\n"))


def test_log__long_paths_are_cut() -> None:
    line = common_line(LoggedRequest("::1", "a b", "GET", "/" + "x" * 9000, "1.1", 200, 3, 0.1))
    assert len(line) < 2200 and "a\\x20b" in line


def test_log__notes_clients_that_go_away(serving: Callable[..., Client], tmp_path: Path) -> None:
    path = tmp_path / "log"
    client = serving(access_log=str(path))
    with socket.create_connection(("localhost", client.port)) as connection:
        head = "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n"
        connection.sendall(f"{head}Content-Type: application/sparql-query\r\n\r\nASK".encode())
        time.sleep(0.05)
    assert "POST /query" in lines_of(path, 1)[0]


def test_log__is_opened_anew_when_it_was_moved(
    serving: Callable[..., Client], tmp_path: Path
) -> None:
    path = tmp_path / "log"
    client = serving(access_log=str(path))
    client.query(SEES)
    lines_of(path, 1)
    path.rename(tmp_path / "log.1")
    client.query(SEES)
    assert len(lines_of(path, 1)) == 1


def test_log__what_is_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot write"):
        AccessLog(str(tmp_path / "none" / "log"))
    with pytest.raises(UsageError, match="common or json"):
        AccessLog("-", "xml")
