"""The command about single facts: `why`."""

from __future__ import annotations

from pathlib import Path

import click

from triplestore.cli.options import edge, location, open_to_read

FORMATS = ("text", "json", "dot", "mermaid")


@click.command()
@location()
@click.argument("fact")
@click.option(
    "--alternatives",
    type=click.IntRange(0),
    default=0,
    help="Maximum number of other proofs to show.",
)
@click.option(
    "--members",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="Maximum number of matches of an aggregate to list.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0),
    default=5.0,
    show_default=True,
    help="How long to look for the smallest proof, and then for another one.",
)
@click.option("--format", "style", type=click.Choice(FORMATS), default="text", show_default=True)
@edge
def why(
    location: Path, fact: str, alternatives: int, members: int, seconds: float, style: str
) -> None:
    """Prove a fact from asserted facts, or explain why it does not hold.

    The fact is written as in Turtle or as in rules, with the prefixes of the store. The proof
    is the smallest one. The exit status is 0 even if the fact does not hold.

    \b
    Examples:
      triplestore why -l my.db ':ada :ancestor :cy'
      triplestore why -l my.db ':ancestor[:ada, :cy]' --alternatives 2
      triplestore why -l my.db ':ada a :Person' --format dot | dot -Tsvg > proof.svg
    """
    with open_to_read(location) as store:
        answer = store.why(fact, alternatives=alternatives, members=members, seconds=seconds)
    if style == "json":
        click.echo(answer.json())
    elif style == "text":
        click.echo(answer.text())
    elif not answer:
        raise click.UsageError(f"{fact} does not hold, so it has no proof to draw")
    else:
        click.echo(getattr(answer, style)(), nl=False)
