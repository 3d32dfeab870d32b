"""The `triplestore` command: verbs over the methods of `Store`, with the flags of `oxigraph`.

Data goes to stdout, progress and errors to stderr. Exit status: 0 all of it worked; 1 it did not;
2 the command line is wrong; 3 a lenient load left malformed statements out; 130 Ctrl-C.

Nothing heavy is imported before a verb runs, so that `--help` and completion answer at once.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from triplestore._version import VERSION

if TYPE_CHECKING:
    from triplestore.store import Store

P = ParamSpec("P")
R = TypeVar("R")

EXIT_FAILED = 1
EXIT_SKIPPED = 3
EXIT_INTERRUPTED = 130


# --------------------------------------------------------------------------- shared options


def location(required: bool = True) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The option that names the store's directory."""
    return click.option(
        "-l",
        "--location",
        required=required,
        type=click.Path(file_okay=False, path_type=Path),
        help="Directory of the store.",
    )


def facts_option(function: Callable[P, R]) -> Callable[P, R]:
    """The option that chooses between stated and inferred quads."""
    return click.option(
        "--facts",
        type=click.Choice(["all", "explicit", "inferred"]),
        default="explicit",
        show_default=True,
        help="Which quads: those stated, those inferred, or both.",
    )(function)


def edge(function: Callable[P, R]) -> Callable[P, R]:
    """Turn the package's errors into one line on stderr and an exit status."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        from triplestore.errors import TripleStoreError

        try:
            return function(*args, **kwargs)
        except TripleStoreError as error:
            click.echo(f"triplestore: {error}", err=True)
            sys.exit(EXIT_FAILED)
        except BrokenPipeError:
            # The reader of our output has gone (`... | head`): not an error of ours.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(EXIT_FAILED)
        except OSError as error:
            click.echo(f"triplestore: {error}", err=True)
            sys.exit(EXIT_FAILED)
        except KeyboardInterrupt:
            click.echo("triplestore: stopped; nothing was half-done", err=True)
            sys.exit(EXIT_INTERRUPTED)

    return run


# --------------------------------------------------------------------------- the command


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, prog_name="triplestore")
def main() -> None:
    """An embedded RDF triple store with inference.

    \b
    Examples:
      triplestore load -l museum.db -f objects.ttl people.nt.gz
      triplestore info -l museum.db
      triplestore dump -l museum.db --format nq | gzip > museum.nq.gz
    """


@main.command()
@location()
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    help="File, directory or glob to load; `-` is standard input. May be repeated.",
)
@click.argument("more_files", nargs=-1)
@click.option(
    "--format",
    "format_name",
    help="Format of the input (nt, nq, ttl, trig, rdf, jsonld, n3, or a media type). "
    "Default: from the file's name. Needed for standard input.",
)
@click.option("--base", "base_iri", help="Base IRI of relative IRIs.")
@click.option("--graph", "to_graph", help="Load triples into this named graph.")
@click.option(
    "--replace-graph",
    help="Like --graph, but the graph's former quads go in the same commit; "
    "loading a file again this way changes nothing.",
)
@click.option("--fail-on-named-graphs", is_flag=True, help="Refuse quads of named graphs.")
@click.option("--lenient", is_flag=True, help="Leave malformed statements out; exit status 3.")
@click.option(
    "--durability",
    type=click.Choice(["commit", "group", "flush"]),
    default="commit",
    show_default=True,
    help="What the commit waits for.",
)
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
@edge
def load(
    location: Path,
    files: tuple[str, ...],
    more_files: tuple[str, ...],
    format_name: str | None,
    base_iri: str | None,
    to_graph: str | None,
    replace_graph: str | None,
    fail_on_named_graphs: bool,
    lenient: bool,
    durability: str,
    quiet: bool,
) -> None:
    """Load RDF files into a store, all of them or none.

    The store is made if it is not there. Compressed files (.gz .bz2 .xz .zst) are read as they are.

    \b
    Examples:
      triplestore load -l my.db -f data.nt.gz
      triplestore load -l my.db -f 'dump/*.ttl' --graph http://example.org/g
      curl -s http://example.org/data.ttl | triplestore load -l my.db --format ttl
    """
    from triplestore.store import Store

    names = [*files, *more_files] or ["-"]
    with Store(location, durability=durability) as store:
        change = store.load(
            path=names,
            format=format_name,
            base_iri=base_iri,
            to_graph=_graph(to_graph),
            replace_graph=_graph(replace_graph),
            named_graphs="refuse" if fail_on_named_graphs else "keep",
            lenient=lenient,
            progress=not quiet,
        )
        if not quiet:
            click.echo(f"{change} (the store has {len(store):,} quads)", err=True)
    if change.skipped:
        for problem in change.problems:
            click.echo(f"left out: {problem}", err=True)
        click.echo(f"triplestore: {change.skipped:,} malformed statements were left out", err=True)
        sys.exit(EXIT_SKIPPED)


@main.command()
@location()
@click.option("-f", "--file", "file", help="File to write; its name gives format and compression.")
@click.option("--format", "format_name", help="Format of the output. Needed for standard output.")
@click.option("--graph", "from_graph", help="Only this graph: an IRI, or `default`.")
@facts_option
@edge
def dump(
    location: Path, file: str | None, format_name: str | None, from_graph: str | None, facts: str
) -> None:
    """Write the quads of a store to a file or to standard output.

    \b
    Examples:
      triplestore dump -l my.db -f backup.nq.gz
      triplestore dump -l my.db --format ttl --graph default
    """
    with _open(location) as store:
        if file is None and format_name is None:
            raise click.UsageError("--format is needed when writing to standard output")
        store.dump(
            file if file is not None else sys.stdout.buffer,
            format_name,
            from_graph=_graph(from_graph),
            facts=facts,
        )
        sys.stdout.flush()


@main.command()
@click.option("--from-file", help="File to read. Default: standard input.")
@click.option("--from-format", help="Its format. Default: from its name.")
@click.option("--from-base", help="Base IRI of relative IRIs.")
@click.option("--from-graph", help="Only the triples of this graph: an IRI, or `default`.")
@click.option("--from-default-graph", is_flag=True, help="Only the triples of the default graph.")
@click.option("--to-file", help="File to write. Default: standard output.")
@click.option("--to-format", help="Its format. Default: from its name.")
@click.option("--to-base", help="Base IRI to write relative IRIs against.")
@click.option("--to-graph", help="Write the triples of the default graph into this graph.")
@click.option("--lenient", is_flag=True, help="Leave malformed statements out; exit status 3.")
@edge
def convert(
    from_file: str | None,
    from_format: str | None,
    from_base: str | None,
    from_graph: str | None,
    from_default_graph: bool,
    to_file: str | None,
    to_format: str | None,
    to_base: str | None,
    to_graph: str | None,
    lenient: bool,
) -> None:
    """Rewrite an RDF file in another format, as a stream.

    \b
    Examples:
      triplestore convert --from-file data.rdf --to-file data.ttl
      triplestore convert --from-format ttl --to-format nt < data.ttl
    """
    from triplestore.store import convert_file

    skipped = convert_file(
        from_file or sys.stdin.buffer,
        to_file or sys.stdout.buffer,
        from_format=from_format,
        to_format=to_format,
        base_iri=from_base,
        from_graph=_graph("default" if from_default_graph else from_graph),
        to_graph=_graph(to_graph),
        to_base=to_base,
        lenient=lenient,
    )
    sys.stdout.flush()
    if skipped:
        click.echo(f"triplestore: {skipped:,} malformed statements were left out", err=True)
        sys.exit(EXIT_SKIPPED)


@main.command()
@location()
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text")
@edge
def info(location: Path, style: str) -> None:
    """Say what is in a store and what it costs in memory and on disk.

    \b
    Examples:
      triplestore info -l my.db
      triplestore info -l my.db --format json
    """
    with _open(location) as store:
        facts = store.info()
    click.echo(json.dumps(facts.as_dict(), indent=2) if style == "json" else str(facts))


@main.command()
@location()
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
@edge
def verify(location: Path, quiet: bool) -> None:
    """Check every file of a store: structure and checksums. Exit status 1 if anything is wrong.

    \b
    Example:
      triplestore verify -l my.db
    """
    with _open(location) as store:
        problems = store.verify(progress=not quiet)
    for problem in problems:
        click.echo(problem)
    if problems:
        click.echo(f"triplestore: {len(problems)} problems in {location}", err=True)
        sys.exit(EXIT_FAILED)
    click.echo(f"{location}: all right")


@main.command()
@location()
@click.option(
    "-d",
    "--destination",
    required=True,
    type=click.Path(path_type=Path),
    help="Directory to make; it must not exist or be empty.",
)
@edge
def backup(location: Path, destination: Path) -> None:
    """Make a consistent copy of a store, also while another process writes to it.

    \b
    Example:
      triplestore backup -l my.db -d backups/my-monday.db
    """
    with _open(location) as store:
        store.backup(destination)
    click.echo(f"{destination}: copied", err=True)


@main.command()
@location()
@edge
def optimize(location: Path) -> None:
    """Merge the files of a store and drop the terms that nothing uses.

    \b
    Example:
      triplestore optimize -l my.db
    """
    from triplestore.store import Store

    with _open(location):  # refuses a mistyped path, and makes nothing there
        pass
    with Store(location) as store:
        store.optimize()
        click.echo(str(store.info()), err=True)


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Examples:
      triplestore completion bash >> ~/.bashrc
      triplestore completion fish > ~/.config/fish/completions/triplestore.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(main, {}, "triplestore", "_TRIPLESTORE_COMPLETE").source())


# --------------------------------------------------------------------------- helpers


def _open(location: Path) -> Store:
    """Open for reading: takes no lock and creates nothing."""
    from triplestore.store import Store

    return Store.read_only(location)


def _graph(name: str | None) -> Any:
    """A graph given on the command line: an IRI, `_:label`, or `default`."""
    from pyoxigraph import BlankNode, DefaultGraph, NamedNode

    if name is None:
        return None
    if name == "default":
        return DefaultGraph()
    if name.startswith("_:"):
        return BlankNode(name[2:])
    try:
        return NamedNode(name.removeprefix("<").removesuffix(">"))
    except ValueError as error:
        raise click.BadParameter(f"{name!r} is not an IRI: {error}") from None


if __name__ == "__main__":
    main()
