"""`triplestore ui` and `serve --ui`: a server of this machine, and a browser with its page."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from triplestore import Store

pytest.importorskip("uvicorn", reason="the extra `server` is not installed")


@pytest.mark.parametrize(
    "command", [["ui", "family.db"], ["serve", "-l", "family.db", "--bind", "localhost:0", "--ui"]]
)
def test_ui__opens_the_browser_at_the_address_of_the_server(
    tmp_path: Path, command: list[str]
) -> None:
    with Store(tmp_path / "family.db") as store:
        store.load("<http://e/a> <http://e/b> <http://e/c> .", "nt")
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}.part" && mv "{opened}.part" "{opened}"\n')
    browser.chmod(0o755)
    running = subprocess.Popen(
        [sys.executable, "-m", "triplestore", *command],
        cwd=tmp_path,
        env={**os.environ, "BROWSER": str(browser), "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    try:
        said = running.stderr.readline()
        while "served at" not in said:
            assert said, "the server did not start"
            said = running.stderr.readline()
        found = re.search(r"http://(127\.0\.0\.1|\[::1\]):\d+", said)
        assert found is not None, said
        end = time.monotonic() + 20
        while not opened.exists():
            assert time.monotonic() < end, "the browser was not opened"
            time.sleep(0.05)
        assert opened.read_text().strip() == found[0]
        with urllib.request.urlopen(f"{found[0]}/health", timeout=20) as answer:
            assert b'"ok"' in answer.read()
    finally:
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=30)
    assert running.returncode == 0


def test_ui__an_unknown_store_is_said_in_one_line(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "triplestore", "ui", "none.db", "--no-browser"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1 and "none.db" in run.stderr
