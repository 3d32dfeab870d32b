"""The `triplestore` command: verbs over the methods of `Store`, with the flags of `oxigraph`.

Data goes to stdout, progress and errors to stderr. Exit status: 0 success; 1 failure; 2 wrong
command line; 3 a lenient load skipped malformed statements; 130 Ctrl-C.

Nothing heavy is imported before a verb runs, so `--help` and completion are fast.
"""

from __future__ import annotations

import click

from triplestore._version import VERSION
from triplestore.cli import (
    agents,
    data,
    importing,
    indexing,
    opening,
    prefixing,
    querying,
    rules,
    serving,
    tables,
    upkeep,
    users,
    warming,
    watching,
)
from triplestore.cli.analysis import classifying, comparing, explaining, validating
from triplestore.cli.shell import command as shelling
from triplestore.cli.versions import branching, history

__all__ = ["main"]


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


for _command in (
    data.load,
    data.dump,
    tables.load_table,
    data.convert,
    importing.import_,
    importing.pull,
    classifying.classify,
    querying.query,
    querying.update,
    watching.watch,
    shelling.shell,
    serving.serve,
    opening.ui,
    agents.mcp,
    users.users,
    rules.reason,
    rules.rules,
    rules.check,
    explaining.why,
    comparing.diff,
    comparing.retract,
    branching.branch,
    branching.what_if,
    history.log,
    history.show,
    validating.validate,
    prefixing.prefix,
    indexing.index_text,
    upkeep.info,
    upkeep.verify,
    upkeep.backup,
    upkeep.optimize,
    upkeep.completion,
    warming.warm_up,
):
    main.add_command(_command)
