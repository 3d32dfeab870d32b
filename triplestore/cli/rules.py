"""The commands about rules: `reason`, `rules`, `check`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triplestore.cli import completing
from triplestore.cli.options import EXIT_FAILED, P, R, edge, location, open_to_read, open_to_write

if TYPE_CHECKING:
    from triplestore.store import Store

SECTIONS = ("strata", "modules", "families", "plans")

MAX_SHOWN = 1000
"""Maximum number of violations that `check` lists."""


def rules_option(
    name: str, what: str, required: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """An option that names files of rules."""
    return click.option(
        f"--{name}",
        f"{name}_files",
        multiple=True,
        required=required,
        metavar="FILE",
        help=f"{what} `-` is standard input. May be repeated.",
        shell_complete=completing.files,
    )


def ontology_option(what: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """An option that names files of ontologies."""
    return click.option(
        "--ontology", multiple=True, metavar="FILE", help=what, shell_complete=completing.files
    )


def imports_option() -> Callable[[Callable[P, R]], Callable[P, R]]:
    """An option that says where imported ontologies are."""
    what = "File, folder or OASIS catalogue in which imported ontologies are found."
    return click.option(
        "--imports", multiple=True, metavar="PATH", help=what, shell_complete=completing.files
    )


@click.command()
@location()
@click.argument(
    "more_regimes",
    metavar="[REGIME]...",
    nargs=-1,
    shell_complete=completing.one_of(completing.REGIMES, ("none",)),
)
@rules_option("rules", "File of rules to apply from now on, beside those in force.")
@click.option(
    "--regime",
    "regimes",
    multiple=True,
    help="The same: rdfs, owl-rl, owl-el, owl-horst, skos or swrl. Several are combined. "
    "`none` turns inference off.",
    shell_complete=completing.one_of(completing.REGIMES, ("none",)),
)
@ontology_option("File of axioms beside the data; it becomes a named graph. May be repeated.")
@imports_option()
@click.option("--network", is_flag=True, help="Allow imported ontologies to be fetched.")
@click.option(
    "--scope",
    multiple=True,
    metavar="GRAPH",
    help="IRI of a named graph to include in reasoning; may be repeated. `union`: all named "
    "graphs, `default`: none.",
)
@click.option(
    "--program",
    type=click.Choice(["lower", "upper"]),
    help="Instead of a regime: the rules below or above the ontology in OWL 2 DL, for experiments. "
    "The upper ones may infer facts that the ontology does not entail. --dry-run prints them.",
)
@click.option("--strict/--no-strict", default=None, help="Refuse commits that add violations.")
@click.option("--trivial/--no-trivial", default=None, help="Infer triples that always hold.")
@click.option(
    "--equality",
    type=click.Choice(["rules", "rewrite"]),
    help="Apply the equality rules, or rewrite equals to one representative. Default: rules.",
)
@click.option("--strategy", help="How the closure is maintained. Default: auto.")
@click.option(
    "--modules",
    type=click.Choice(["auto", "on", "off"]),
    help="Whether rules that form a closure are evaluated as one. Default: auto.",
)
@click.option(
    "--schemes",
    type=click.Choice(["auto", "plain", "compressed"]),
    help="Whether closures are stored in full. Default: auto, by size.",
)
@click.option("--max-facts", type=int, help="Maximum number of facts that one commit may infer.")
@click.option("--max-bytes", type=int, help="Maximum memory for the inference of one commit.")
@click.option("--max-seconds", type=float, help="Maximum seconds for the inference of one commit.")
@click.option("--max-terms", type=int, help="Maximum new terms that rules may make in one commit.")
@click.option("--dry-run", is_flag=True, help="Report what would happen; change nothing.")
@click.option("--verbose", is_flag=True, help="List each axiom for which there is no rule.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text")
@click.option("--quiet", is_flag=True, help="Neither progress nor report on stderr.")
@edge
def reason(
    location: Path,
    more_regimes: tuple[str, ...],
    rules_files: tuple[str, ...],
    regimes: tuple[str, ...],
    ontology: tuple[str, ...],
    imports: tuple[str, ...],
    network: bool,
    scope: tuple[str, ...],
    program: str | None,
    strict: bool | None,
    trivial: bool | None,
    equality: str | None,
    dry_run: bool,
    verbose: bool,
    style: str,
    quiet: bool,
    **tuning: str | int | float | None,
) -> None:
    """Apply rules or ontology languages; every later commit keeps the inferences exact.

    Rules and regimes are added to those in force. Rules that were removed from a file since it was
    last given are removed, and a changed ontology file replaces its former contents. All of this
    happens, or nothing. The report goes to stderr.

    \b
    Examples:
      triplestore reason -l my.db owl-rl
      triplestore reason -l my.db owl-rl --ontology family.owl --imports ontologies
      triplestore reason -l my.db --rules family.dlog
      triplestore reason -l my.db --rules family.dlog --dry-run
      triplestore reason -l my.db rdfs --scope union
      triplestore reason -l my.db --program upper --ontology family.owl --dry-run
      triplestore reason -l my.db --strategy dred_c --max-seconds 60
      triplestore reason -l my.db --regime none
    """
    named = {name: value for name, value in tuning.items() if value is not None}
    given = _given(rules_files)
    regimes = (*more_regimes, *regimes)
    if program is not None:
        if regimes:
            raise click.UsageError("give --regime or --program, not both")
        given.append(_bound(location, program, ontology, imports, network, dry_run))
        if dry_run:
            return
        ontology = ()
    with open_to_write(location) as store, store.transaction() as transaction:
        report = transaction.reason(
            *regimes,
            rules=given or None,
            ontology=ontology or None,
            imports=imports,
            network=network,
            scope=_scope(scope),
            strict=strict,
            trivial=trivial,
            equality=equality,
            tuning=named,
            progress=not quiet,
        )
        if dry_run:
            transaction.rollback()
    if style == "json":
        click.echo(json.dumps(report.as_dict(), indent=2))
    elif not quiet:
        click.echo(str(report), err=True)
        if dry_run or verbose:
            _list_outside(report)
        else:
            _count_outside(report)
        if dry_run:
            click.echo("dry run: nothing was changed", err=True)


@click.command()
@location()
@click.option(
    "--counts", is_flag=True, help="Number of facts that each rule concludes, by its name."
)
@click.option("--strata", is_flag=True, help="The order in which rules are evaluated.")
@click.option("--modules", is_flag=True, help="Which rules form a closure, and how it is stored.")
@click.option("--families", is_flag=True, help="Which rules are evaluated together.")
@click.option("--plans", is_flag=True, help="The order in which the items of bodies are matched.")
@rules_option("add", "File of rules to add.")
@rules_option("remove", "File of rules to remove.")
@click.option("--quiet", is_flag=True, help="Neither progress nor report on stderr.")
@edge
def rules(
    location: Path,
    add_files: tuple[str, ...],
    remove_files: tuple[str, ...],
    quiet: bool,
    counts: bool,
    **chosen: bool,
) -> None:
    """Print the rules of a store, which `reason --rules` reads back; or add and remove some.

    \b
    Examples:
      triplestore rules -l my.db > all.dlog
      triplestore rules -l my.db --strata --plans
      triplestore rules -l my.db --add more.dlog --remove old.dlog
    """
    sections = [section for section in SECTIONS if chosen[section]]
    if add_files or remove_files:
        _change_rules(location, add_files, remove_files, quiet)
        if not sections and not counts:
            return
    with open_to_read(location) as store:
        if counts:
            for name, count in store.facts_by_rule().items():
                click.echo(f"{name}\t{count}")
        elif sections:
            click.echo(store.describe_rules(*sections))
        else:
            click.echo(str(store.program), nl=False)


def _change_rules(
    location: Path, add_files: tuple[str, ...], remove_files: tuple[str, ...], quiet: bool
) -> None:
    with open_to_write(location) as store, store.transaction() as transaction:
        if remove_files:
            report = transaction.remove_rules(_given(remove_files), progress=not quiet)
        if add_files:
            report = transaction.add_rules(_given(add_files), progress=not quiet)
    if not quiet:
        click.echo(str(report), err=True)


@click.command()
@location(required=False)
@rules_option("rules", "File of rules to check.")
@ontology_option("File of an ontology to check. May be repeated.")
@imports_option()
@click.option(
    "--regime",
    "regimes",
    multiple=True,
    default=("owl-rl",),
    help="Regime to check an ontology for.",
    shell_complete=completing.one_of(completing.REGIMES),
)
@click.option(
    "--fail-on",
    multiple=True,
    metavar="ID",
    default=("any",),
    help="Exit status 1 only for violations of this rule; or `any`, or `none`.",
)
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text")
@edge
def check(
    location: Path | None,
    rules_files: tuple[str, ...],
    ontology: tuple[str, ...],
    imports: tuple[str, ...],
    regimes: tuple[str, ...],
    fail_on: tuple[str, ...],
    style: str,
) -> None:
    """List the errors in rules or ontologies, or the violations in a store.

    For an ontology this lists malformed axioms, axioms outside of a regime, missing imports and
    violations. With rules and a store, the rules may use the prefixes of the store, and there is a
    warning for names that occur neither in the rules nor in its data. Exit status 1 if there are
    errors or violations.

    \b
    Examples:
      triplestore check --rules family.dlog
      triplestore check --ontology family.owl
      triplestore check --rules family.dlog -l my.db
      triplestore check -l my.db --fail-on prp-irp --format json
    """
    if not rules_files and not ontology:
        if location is None:
            raise click.UsageError("give files with --rules or --ontology, or a store with -l")
        with open_to_read(location) as store:
            if style == "json":
                click.echo(json.dumps(_violations_dict(store), indent=2))
            if _list_violations(store, fail_on, style):
                sys.exit(EXIT_FAILED)
        return
    wrong = False
    if ontology:
        wrong = _check_ontologies(ontology, imports, regimes, fail_on, style)
    if rules_files:
        wrong |= _check_rules(location, rules_files)
    if wrong:
        sys.exit(EXIT_FAILED)


def _check_rules(location: Path | None, rules_files: tuple[str, ...]) -> bool:
    """List the problems of rules; return whether there are errors."""
    from triplestore.reasoning.program.stored_rules import check_rules

    prefixes: Mapping[str, str] = {}
    known = None
    if location is not None:
        with open_to_read(location) as store:
            prefixes, known = dict(store.prefixes), store.known_names()
    problems = check_rules(_given(rules_files), prefixes, known)
    for problem in problems:
        click.echo(str(problem))
    errors = sum(not problem.warning for problem in problems)
    if errors:
        click.echo(f"triplestore: {errors} error{'' if errors == 1 else 's'}", err=True)
    else:
        click.echo("OK" if not problems else "no errors", err=True)
    return errors > 0


def _check_ontologies(
    files: tuple[str, ...],
    imports: tuple[str, ...],
    regimes: tuple[str, ...],
    fail_on: tuple[str, ...],
    style: str,
) -> bool:
    """Report on ontologies under some regimes, in a store in memory; return whether to fail."""
    from triplestore.store import Store

    store = Store()
    report = store.reason(*regimes, ontology=files, imports=imports)
    if style == "json":
        click.echo(
            json.dumps({**report.as_dict(), "inconsistencies": _violations_dict(store)}, indent=2)
        )
    else:
        click.echo(str(report))
        _list_outside(report, err=False)
    return _list_violations(store, fail_on, style)


def _list_outside(report: Any, *, err: bool = True) -> None:
    """List the axioms without a rule, each with the reason."""
    for one in getattr(report, "outside", ()):
        click.echo(f"left out: {' '.join(one.split())}", err=err)
    more = getattr(report, "outside_count", 0) - len(getattr(report, "outside", ()))
    if more > 0:
        click.echo(f"left out: {more:,} more", err=err)


def _count_outside(report: Any) -> None:
    """Say how many axioms have no rule, and how to see them."""
    count = getattr(report, "outside_count", 0)
    if count:
        left_out = "1 axiom has" if count == 1 else f"{count:,} axioms have"
        click.echo(f"left out: {left_out} no rule; --verbose lists each", err=True)


def _violations_dict(store: Store) -> dict[str, Any]:
    """The counts of violations, and the first violations, as JSON."""
    listed = [violation.as_dict() for violation in store.violations(MAX_SHOWN)]
    return {"counts": dict(store.inconsistencies.counts), "violations": listed}


def _list_violations(store: Store, fail_on: tuple[str, ...], style: str) -> bool:
    """List the violations in a store, in JSON only their number; return whether to fail."""
    counts = dict(store.inconsistencies.counts)
    count = sum(counts.values())
    if style == "text":
        for violation in store.violations(MAX_SHOWN):
            click.echo(str(violation))
    if count:
        shown = f", of which {MAX_SHOWN:,} are shown" if count > MAX_SHOWN else ""
        many = "violation" if count == 1 else "violations"
        click.echo(f"triplestore: {count:,} {many}{shown}", err=True)
    else:
        click.echo("no violations", err=True)
    return any(name in fail_on or "any" in fail_on for name in counts) and "none" not in fail_on


def _bound(
    location: Path,
    which: str,
    ontology: tuple[str, ...],
    imports: tuple[str, ...],
    network: bool,
    printed: bool,
) -> Any:
    """The rules below or above an ontology; reports omitted or replaced axioms on stderr."""
    with open_to_read(location) as store:
        bound = store.bound(which, ontology, imports=imports, network=network)
    if printed:
        click.echo(str(bound.program), nl=False)
    what = "replaced by something stronger" if bound.upper else "left out"
    for one in bound.outside:
        click.echo(f"{what}: {' '.join(str(one).split())}", err=True)
    return bound.program


def _scope(given: tuple[str, ...]) -> str | tuple[str, ...] | None:
    """The value of `--scope`: a word, or graphs; None without it."""
    if not given:
        return None
    return given[0] if len(given) == 1 and ":" not in given[0] else given


def _given(files: tuple[str, ...]) -> list[Any]:
    return [sys.stdin.read() if name == "-" else Path(name) for name in files]
