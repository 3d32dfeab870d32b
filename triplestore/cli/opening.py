"""The command that opens the page of a store in the browser: `ui`."""

from __future__ import annotations

from pathlib import Path

import click

from triplestore.cli.serving import serve


@click.command()
@click.argument("location", type=click.Path(file_okay=False, path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: any that is free.")
@click.option("--allow-update", is_flag=True, help="Allow changes of the store.")
@click.option("--no-browser", is_flag=True, help="Only say the address.")
@click.pass_context
def ui(
    context: click.Context, location: Path, port: int, allow_update: bool, no_browser: bool
) -> None:
    """Open a store's page in the browser: query, browse, see why facts hold, and change.

    The page is served on this machine only, until Ctrl-C. `serve` has more options.

    \b
    Examples:
      triplestore ui my.db
      triplestore ui my.db --allow-update
    """
    context.invoke(
        serve,
        location=location,
        bind=f"localhost:{port}",
        allow_update=allow_update,
        browser=not no_browser,
    )
