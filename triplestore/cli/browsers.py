"""A browser on this machine: start at `open_browser`."""

from __future__ import annotations

import webbrowser
from threading import Thread

import click


def open_browser(address: str) -> None:
    """Show a page in the person's browser, from a thread: some browsers make the caller wait."""
    from triplestore.server.page.static import is_built

    if not is_built():
        click.echo(
            "triplestore: this installation has no page for browsers, only plain text "
            "(`make ui` builds it)",
            err=True,
        )
    Thread(target=webbrowser.open, args=(address,), daemon=True).start()
