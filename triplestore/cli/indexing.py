"""The command about text indexes: `index-text`."""

from __future__ import annotations

from pathlib import Path

import click

from triplestore.cli.options import edge, location, open_to_read, open_to_write


@click.command()
@location()
@click.argument("properties", nargs=-1, metavar="[PROPERTY]...")
@click.option("--all", "every", is_flag=True, help="Index the strings of all properties.")
@click.option(
    "--language",
    "languages",
    multiple=True,
    metavar="TAG[=LANGUAGE]",
    help="Language tag whose literals are found by the stems of their words; `=en` stands for "
    "literals without a tag. May be repeated. Default: all languages with a stemmer.",
)
@click.option("--no-stems", is_flag=True, help="Find literals by whole words only.")
@click.option(
    "--substrings",
    is_flag=True,
    help="Let filters by parts of texts use the index, such as CONTAINS and REGEX.",
)
@click.option("--drop", is_flag=True, help="Remove the text index.")
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
@edge
def index_text(
    location: Path,
    properties: tuple[str, ...],
    every: bool,
    languages: tuple[str, ...],
    no_stems: bool,
    substrings: bool,
    drop: bool,
    quiet: bool,
) -> None:
    """Index the words of literals, for text:query in SPARQL; without a property, show the index.

    PROPERTY is an IRI or a name with a prefix of the store. Later commits keep the index exact. It
    needs the extra `text`.

    \b
    Examples:
      triplestore index-text -l my.db rdfs:label skos:prefLabel
      triplestore index-text -l my.db --all --language en --language =en
      triplestore index-text -l my.db
      triplestore index-text -l my.db --drop
    """
    if drop and (properties or every):
        raise click.UsageError("--drop removes the index: give no properties")
    if every and properties:
        raise click.UsageError("give properties, or --all")
    if no_stems and languages:
        raise click.UsageError("give --language, or --no-stems")
    if not (properties or every or drop):
        if languages or no_stems:
            raise click.UsageError("which properties? Name them, or give --all")
        _show(location)
        return
    with open_to_write(location) as store:
        if drop:
            store.drop_text_index()
            return
        given = dict(map(_language, languages)) if languages else None
        store.index_text(properties or None, {} if no_stems else given, substrings=substrings)
        store.complete_text_index(progress=not quiet)
        click.echo(str(store.text_indexes[0]), err=True)


def _show(location: Path) -> None:
    with open_to_read(location) as store:
        found = store.text_indexes
    if not found:
        raise click.UsageError(f"{location} has no text index: name properties, or give --all")
    for each in found:
        click.echo(str(each))


def _language(given: str) -> tuple[str, str]:
    """A tag and the language of its stemmer."""
    tag, equals, language = given.partition("=")
    return tag, language if equals else tag
