"""What the shell of the operating system completes behind options: files, formats, regimes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from click import Context, Parameter
from click.shell_completion import CompletionItem

Completer: TypeAlias = Callable[[Context, Parameter, str], list[CompletionItem]]

REGIMES = ("owl-rl", "owl-el", "rdfs", "owl-horst", "skos", "swrl")
RDF_FORMATS = ("nt", "nq", "ttl", "trig", "rdf", "jsonld", "n3")
RESULT_FORMATS = ("json", "xml", "csv", "tsv", "parquet", "arrow")


def files(context: Context, parameter: Parameter, incomplete: str) -> list[CompletionItem]:
    """Files and folders, which the shell lists itself."""
    return [CompletionItem(incomplete, type="file")]


def one_of(*groups: Iterable[str]) -> Completer:
    """Words, such as the names of formats; case does not count."""
    words = [word for group in groups for word in group]

    def complete(context: Context, parameter: Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(word) for word in words if word.startswith(incomplete.lower())]

    return complete
