"""The version of the package, in one place (pyproject.toml reads it), and how to install it."""

VERSION = "0.1.0"

DISTRIBUTION = "entailstore"
"""The name in the package index, where `triplestore` is a package of other people."""


def install(extra: str) -> str:
    """The command that installs an extra.

    >>> install("spark")
    "pip install 'entailstore[spark]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"
