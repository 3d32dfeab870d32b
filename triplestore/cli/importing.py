"""The commands that use Spark: `import`, and `pull` for the tables that it can write."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from triplestore.cli import completing
from triplestore.cli.options import EXIT_SKIPPED, edge, graph_of, say_left_out
from triplestore.cli.rules import ontology_option


@click.command(name="import")
@click.option(
    "-l",
    "--location",
    "target",
    required=True,
    help="Directory of the store, on a path that all workers share; or a URI (hdfs://, s3a://) "
    "for tables that `pull` turns into a store.",
)
@click.argument(
    "sources", nargs=-1, required=True, metavar="SOURCE...", shell_complete=completing.files
)
@click.option(
    "--format",
    "format_name",
    help="nt, nq, ttl, trig, rdf or jsonld; or parquet, orc, delta or iceberg for tables with "
    "columns s, p, o and optionally g. Default: from the names of the files.",
    shell_complete=completing.one_of(
        completing.RDF_FORMATS, ("parquet", "orc", "delta", "iceberg")
    ),
)
@click.option("--base", "base_iri", help="Base IRI of relative IRIs.")
@click.option("--graph", "to_graph", help="Import triples into this named graph.")
@click.option("--lenient", is_flag=True, help="Skip malformed statements; exit status 3.")
@click.option(
    "--mode",
    type=click.Choice(["add", "delete", "replace"]),
    default="add",
    show_default=True,
    help="What to do with a store that exists: add to it, delete from it, or replace the graph.",
)
@click.option(
    "--reason",
    "regimes",
    multiple=True,
    metavar="REGIME",
    help="rdfs, owl-rl, owl-horst, skos or swrl; they add up.",
    shell_complete=completing.one_of(completing.REGIMES),
)
@click.option("--rules", "rules_files", multiple=True, metavar="FILE", help="File of rules.")
@ontology_option("File of axioms beside the data; it becomes a named graph. May be repeated.")
@click.option(
    "--closure",
    type=click.Choice(["local", "spark", "later"]),
    default="local",
    show_default=True,
    help="Where to infer: on this machine, on Spark, or when the store is next written to.",
)
@click.option(
    "--driver-facts",
    type=int,
    metavar="N",
    help="With --closure spark: maximum number of facts to close in the driver (0: none).",
)
@click.option(
    "--master", help="local[4], spark://host:7077, yarn, sc://host, ... Default: local[*]."
)
@click.option("--memory", default="2g", show_default=True, help="Memory of the driver.")
@click.option("--executor-memory", help="Memory of each executor (beside 40 % for Python).")
@click.option("--partitions", type=int, help="Maximum number of partitions of a shuffle.")
@click.option("--work", help="Folder for the results of stages. Default: beside the target.")
@click.option("--keep-work", is_flag=True, help="Keep the work directory after success.")
@click.option("--job", help="Name of the job; a job is carried out once on a store.")
@click.option(
    "--report", type=click.Path(dir_okay=False, path_type=Path), help="File for a report in JSON."
)
@click.option("--conf", multiple=True, metavar="KEY=VALUE", help="A Spark setting.")
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
@edge
def import_(target: str, sources: tuple[str, ...], **options: Any) -> None:
    """Import RDF through Spark, for data that is too large for one machine.

    The result equals that of `load` for the same files. A stopped job continues after its last
    finished stage when it is called again; a failed job leaves no store.

    \b
    Examples:
      triplestore import -l my.db 'dump/*.nt.bz2'
      triplestore import -l /shared/my.db --master spark://head:7077 --reason owl-rl hdfs:///dump
      triplestore import -l s3a://bucket/tables dump.nq.gz --report report.json
    """
    from triplestore.loaders.spark import import_dataset, run, source_of

    def job(session: Any, log: Any) -> Any:
        source, form = source_of(session, sources, options["format_name"])
        wished = {**_wished(options), "format": form}
        return import_dataset(session, source, target, progress=log, **wished)

    asked = {"source": list(sources), "target": target, **options}
    result = run(job, _setting(options), asked, report=options["report"], quiet=options["quiet"])
    if not options["quiet"]:
        click.echo(str(result), err=True)
    if result.bad:
        say_left_out(result.bad)
        sys.exit(EXIT_SKIPPED)


@click.command()
@click.argument("uri")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
@edge
def pull(uri: str, directory: Path, quiet: bool) -> None:
    """Make a store from the tables that `import` wrote to a URI, and verify the tables.

    This needs pyarrow, and memory for the whole store; it needs neither Spark nor Java.

    \b
    Example:
      triplestore pull s3a://bucket/tables my.db
    """
    from triplestore.loaders.spark import StageLog
    from triplestore.loaders.spark import pull as pull_tables

    with StageLog(quiet=quiet) as log:
        result = pull_tables(uri, directory, progress=log)
    if not quiet:
        click.echo(str(result), err=True)


def _wished(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `import_dataset`."""
    same = ["mode", "lenient", "base_iri", "closure", "driver_facts", "work", "keep_work"]
    same += ["job", "partitions"]
    return {name: options[name] for name in same} | {
        "graph": graph_of(options["to_graph"]),
        "reason": options["regimes"],
        "rules": [Path(name) for name in options["rules_files"]] or None,
        "ontology": list(options["ontology"]) or None,
    }


def _setting(options: dict[str, Any]) -> Any:
    """The settings of the session."""
    from triplestore.loaders.spark import SessionSetting

    settings = {}
    for text in options["conf"]:
        key, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"{text!r} is not KEY=VALUE", param_hint="--conf")
        settings[key] = value
    same = ("master", "memory", "executor_memory", "partitions")
    return SessionSetting(
        **{name: options[name] for name in same if name in options}, options=settings
    )
