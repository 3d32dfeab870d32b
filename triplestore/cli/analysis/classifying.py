"""The command that classifies ontologies: `classify`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triplestore.cli.completing import files
from triplestore.cli.options import EXIT_FAILED, edge

if TYPE_CHECKING:
    from pyoxigraph import NamedNode, Triple

    from triplestore.classification.taxonomy import Taxonomy
    from triplestore.store import Store

FORMATS = ("tree", "ttl", "nt", "json")
GENERATORS = ("subclass", "equivalentclass", "classassertion")
_LISTED = 20
"""Maximum number of axioms outside of the profile that are listed."""

_EXPLAINED = 3
"""Maximum number of unsatisfiable classes that are explained."""


@click.command()
@click.argument(
    "ontologies",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    shell_complete=files,
)
@click.option(
    "--format", "style", type=click.Choice(FORMATS), help="Default: tree, or by --output."
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Default: stdout."
)
@click.option(
    "--include-indirect", is_flag=True, help="All superclasses, not only those just above."
)
@click.option(
    "--axiom-generators",
    default="subclass equivalentclass",
    show_default=True,
    help=f"What to write: {', '.join(GENERATORS)}; several in one argument.",
)
@click.option(
    "--equivalent-classes-allowed",
    type=click.Choice(["all", "none", "asserted-only"]),
    default="all",
    show_default=True,
    help="Fail if named classes are inferred to be equivalent.",
)
@click.option(
    "--exclude-tautologies",
    type=click.Choice(["false", "structural", "all"]),
    default="structural",
    show_default=True,
    help="With false, also that roots are below owl:Thing.",
)
@click.option(
    "--regime",
    type=click.Choice(["owl-el", "owl-rl", "both"]),
    default="owl-el",
    show_default=True,
    help="The rules that classify.",
)
@click.option(
    "--imports",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="File, folder or catalogue in which imported ontologies are found.",
)
@click.option(
    "--report", is_flag=True, help="Figures and axioms outside of the profile, on stderr."
)
@click.option("--quiet", is_flag=True, help="Nothing on stderr but errors.")
@edge
def classify(
    ontologies: tuple[Path, ...],
    style: str | None,
    output: Path | None,
    include_indirect: bool,
    axiom_generators: str,
    equivalent_classes_allowed: str,
    exclude_tautologies: str,
    regime: str,
    imports: tuple[Path, ...],
    report: bool,
    quiet: bool,
) -> None:
    """Classify ontologies: print the hierarchy of named classes that follows from their axioms.

    Reads RDF in any format, and with the extra owl also functional syntax (.ofn), OWL/XML (.owx),
    Manchester syntax (.omn) and OBO (.obo). The exit status is 1 if a class is unsatisfiable,
    an individual is inconsistent, or classes are equivalent that must not be.

    \b
    Examples:
      triplestore classify pizza.owl
      triplestore classify go.obo --format ttl -o go-hierarchy.ttl
      triplestore classify edit.owl --equivalent-classes-allowed none --report
      triplestore classify core.ofn --axiom-generators subclass --include-indirect --format nt
    """
    wanted = _generators(axiom_generators)
    store = _classified(ontologies, regime, imports, report and not quiet)
    taxonomy = store.taxonomy(direct=not include_indirect)
    chosen = style or _style_of(output)
    lines = _lines(store, taxonomy, chosen, wanted, exclude_tautologies == "false")
    if output is None:
        for line in lines:
            click.echo(line)
    else:
        with output.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    if not quiet:
        count = f"{taxonomy.class_count:,} classes, {len(taxonomy.edges):,} edges"
        click.echo(f"{count}, {len(taxonomy.unsatisfiable):,} unsatisfiable", err=True)
    if _is_wrong(store, taxonomy, equivalent_classes_allowed, explained=regime != "owl-rl"):
        sys.exit(EXIT_FAILED)


def _generators(text: str) -> frozenset[str]:
    names = text.lower().replace(",", " ").split()
    unknown = [name for name in names if name not in GENERATORS]
    if unknown:
        raise click.BadParameter(
            f"{unknown[0]!r} is not supported; choose of {', '.join(GENERATORS)}",
            param_hint="--axiom-generators",
        )
    return frozenset(names)


def _style_of(output: Path | None) -> str:
    suffix = "" if output is None else output.suffix.lstrip(".")
    return suffix if suffix in FORMATS else "tree" if output is None else "ttl"


def _classified(
    paths: tuple[Path, ...], regime: str, imports: tuple[Path, ...], report: bool
) -> Store:
    from triplestore.classification.owl_files import load_ontology
    from triplestore.store import Store

    store = Store()
    regimes = ("owl-el", "owl-rl") if regime == "both" else (regime,)
    if imports:
        made = store.reason(*regimes, ontology=list(paths), imports=list(imports))
    else:
        with store.transaction() as transaction:
            for path in paths:
                load_ontology(transaction.load, path)
        made = store.reason(*regimes)
    if report:
        click.echo(str(made), err=True)
        for line in getattr(made, "outside", ())[:_LISTED]:
            click.echo(f"outside: {line}", err=True)
    return store


def _lines(
    store: Store, taxonomy: Taxonomy, style: str, wanted: frozenset[str], top: bool
) -> Iterator[str]:
    if style == "tree":
        return taxonomy.lines()
    if style == "json":
        return iter([json.dumps(_as_dict(taxonomy), indent=2)])
    return _serialized(list(_triples(store, taxonomy, wanted, top)), store, style)


def _triples(
    store: Store, taxonomy: Taxonomy, wanted: frozenset[str], top: bool
) -> Iterator[Triple]:
    from pyoxigraph import NamedNode, Triple

    from triplestore.classification.taxonomy import CLASS, EQUIVALENT, TYPE

    if "subclass" in wanted:
        found = taxonomy.triples(equivalents=False, top=top)
        yield from found
    if "equivalentclass" in wanted:
        for triple in taxonomy.triples():
            if triple.predicate == EQUIVALENT:
                yield triple
    if "classassertion" in wanted:
        declared = {q.subject for q in store.quads_for_pattern(None, TYPE, CLASS, None)}
        for quad in store.quads_for_pattern(None, TYPE, None, None):
            named = quad.object
            if isinstance(named, NamedNode) and named in declared:
                yield Triple(quad.subject, TYPE, named)


def _serialized(triples: list[Triple], store: Store, style: str) -> Iterator[str]:
    from pyoxigraph import RdfFormat, serialize

    format = RdfFormat.TURTLE if style == "ttl" else RdfFormat.N_TRIPLES
    prefixes = {name: iri for name, iri in store.prefixes.items() if name} if style == "ttl" else {}
    ordered = sorted(triples, key=lambda triple: (str(triple.subject), str(triple.predicate)))
    made = serialize(ordered, format=format, prefixes=prefixes)
    return iter((made or b"").decode().splitlines())


def _as_dict(taxonomy: Taxonomy) -> dict[str, Any]:
    return {
        "classes": taxonomy.class_count,
        "edges": [[sub.value, sup.value] for sub, sup in taxonomy.edges],
        "equivalent": [[one.value for one in group] for group in taxonomy.equivalents],
        "unsatisfiable": [one.value for one in taxonomy.unsatisfiable],
    }


def _is_wrong(store: Store, taxonomy: Taxonomy, allowed: str, *, explained: bool) -> bool:
    """Whether the ontology has a mistake; says which."""
    for name in taxonomy.unsatisfiable[:_EXPLAINED]:
        click.echo(f"unsatisfiable: {name}", err=True)
        if explained:
            _explain(store, name)
    more = len(taxonomy.unsatisfiable) - _EXPLAINED
    if more > 0:
        click.echo(f"unsatisfiable: {more:,} more classes", err=True)
    wrong = len(taxonomy.unsatisfiable) > 0
    for violation in store.violations():
        if violation.constraint.startswith("el-inconsistent"):
            click.echo(f"inconsistent: {violation}", err=True)
            wrong = True
    for group in taxonomy.equivalents if allowed != "all" else ():
        if allowed == "none" or not _is_asserted(store, group):
            names = " ≡ ".join(map(str, group))
            click.echo(f"equivalent classes that are not allowed: {names}", err=True)
            wrong = True
    return wrong


def _explain(store: Store, name: NamedNode) -> None:
    """The axioms because of which a class is unsatisfiable."""
    from pyoxigraph import Quad

    from triplestore.classification.taxonomy import BOTTOM, SUB_CLASS

    goal = Quad(name, SUB_CLASS, BOTTOM)
    for one in store.justifications(goal, limit=1):
        for axiom in one.axioms:
            click.echo(f"  {axiom}", err=True)


def _is_asserted(store: Store, group: tuple[NamedNode, ...]) -> bool:
    """Whether each of a group is said to be equivalent to another, or both to be sub-classes."""
    from triplestore.classification.taxonomy import EQUIVALENT

    told = {
        one
        for quad in store.quads_for_pattern(None, EQUIVALENT, None, None, facts="explicit")
        if quad.subject in group and quad.object in group
        for one in (quad.subject, quad.object)
    }
    return told == set(group)
