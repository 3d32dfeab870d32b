"""The prompt: lines in, with editing, history and completion where the terminal has them.

Start at `converse` for a terminal, and `carry_out` for statements from elsewhere. The history is a
file in the user's state folder (`TRIPLESTORE_HISTORY` names another one; empty for none).
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from triplestore.cli.shell.commands import statements_of
from triplestore.cli.shell.completion import DELIMITERS, candidates
from triplestore.cli.shell.session import Session
from triplestore.cli.shell.statements import is_complete, on_one_line
from triplestore.errors import TripleStoreError

MAX_HISTORY = 2000
"""Maximum number of statements that are kept."""


def converse(session: Session, name: str, read: Callable[[str], str] = input) -> None:
    """Read statements from a terminal and carry them out, until its user has enough.

    read : asks for a line with a prompt, and raises EOFError at the end
    """
    lines: list[str] = []
    with _Editing(session, lines) as editing:
        while not session.over:
            prompt = f"{name}> " if not lines else f"{'':>{max(0, len(name) - 3)}}...> "
            try:
                line = read(prompt)
            except EOFError:
                session.write("")
                return
            except KeyboardInterrupt:
                session.write("")
                lines.clear()
                continue
            if not lines and not line.strip():
                continue
            lines.append(line)
            statement = "\n".join(lines)
            if not is_complete(statement):
                continue
            lines.clear()
            editing.remember(statement)
            _try(session, statement)


def carry_out(session: Session, text: str) -> bool:
    """Carry out statements one after the other, up to the first that fails; false if one did."""
    for statement in statements_of(text.split("\n")):
        if not _try(session, statement):
            return False
        if session.over:
            break
    return True


def _try(session: Session, statement: str) -> bool:
    """Carry out a statement; errors are written, and the shell continues."""
    try:
        session.run(statement)
    except KeyboardInterrupt:
        print("interrupted; nothing was changed", file=sys.stderr)  # noqa: T201
        return False
    except (TripleStoreError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        return False
    return True


class _Editing:
    """`readline`, where there is one: completion and history for the time of a block."""

    def __init__(self, session: Session, lines: list[str]) -> None:
        self._session = session
        self._lines = lines
        self._readline: Any = None
        self._found: list[str] = []
        self._history = _history_file()

    def __enter__(self) -> _Editing:
        try:
            import readline
        except ImportError:  # Windows
            return self
        self._readline = readline
        readline.set_completer(self._complete)
        readline.set_completer_delims(DELIMITERS)
        # The variant of macOS has another language.
        edit_line = "libedit" in (readline.__doc__ or "")
        readline.parse_and_bind("bind ^I rl_complete" if edit_line else "tab: complete")
        readline.set_auto_history(False)
        readline.set_history_length(MAX_HISTORY)
        if self._history is not None:
            with contextlib.suppress(OSError):
                readline.read_history_file(self._history)
        return self

    def __exit__(self, *_: object) -> None:
        if self._readline is None:
            return
        self._readline.set_completer(None)
        if self._history is not None:
            with contextlib.suppress(OSError):
                self._history.parent.mkdir(parents=True, exist_ok=True)
                self._readline.write_history_file(self._history)

    def remember(self, statement: str) -> None:
        """Take a statement into the history, on one line; not twice in a row."""
        if self._readline is None:
            return
        line = on_one_line(statement)
        last = self._readline.get_current_history_length()
        if line and (not last or self._readline.get_history_item(last) != line):
            self._readline.add_history(line)

    def _complete(self, word: str, state: int) -> str | None:
        """The candidate number `state`; readline takes what is raised here for no candidates."""
        if state == 0:
            line = self._readline.get_line_buffer()[: self._readline.get_endidx()]
            self._found = candidates(self._session, "\n".join(self._lines), line)
        return self._found[state] if state < len(self._found) else None


def _history_file() -> Path | None:
    given = os.environ.get("TRIPLESTORE_HISTORY")
    if given is not None:
        return Path(given) if given else None
    folder = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(folder).expanduser() / "triplestore" / "shell_history"
