"""The command `warm-up`: compile all kernels now instead of at their first use."""

from __future__ import annotations

import io
import sys
import time

import click

from triplestore.cli.options import edge


@click.command("warm-up")
@click.option(
    "--processes",
    type=click.IntRange(min=1),
    help="Number of processes that compile.  [default: one per processor]",
)
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
@edge
def warm_up(processes: int | None, quiet: bool) -> None:
    """Compile all kernels now, so that no later command has to.

    Without it, a kernel is compiled when it is first needed on a machine, which takes some 30
    seconds for all. Useful as a step of a container image. The folder of compiled kernels is the
    user's cache; TRIPLESTORE_CACHE names another one. Processes that compile at the same time
    share the work.

    \b
    Examples:
      triplestore warm-up
      TRIPLESTORE_CACHE=/opt/kernels triplestore warm-up --quiet
    """
    from triplestore.kernels.ahead.load import is_compiled_ahead
    from triplestore.kernels.compiled_cache import cache_folder
    from triplestore.kernels.warm_up import compile_all, our_kernels

    if is_compiled_ahead():
        click.echo("the kernels of this installation are compiled already")
        return
    started = time.perf_counter()
    count = len(our_kernels())
    shown = sys.stderr if not quiet else io.StringIO()
    done = compile_all(processes)
    with click.progressbar(done, length=count, label="compiling", file=shown) as steps:
        for _ in steps:
            pass
    click.echo(f"{count} kernels in {cache_folder()}, {time.perf_counter() - started:.1f} s")
