"""Prefixes with the semantics of rdflib: start at `Namespaces`.

Always true: a prefix has one namespace, and a namespace one prefix.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from rdflib.graph import Graph
from rdflib.namespace import NamespaceManager
from rdflib.plugins.stores.memory import Memory
from rdflib.term import URIRef


class Namespaces:
    """Prefixes and namespaces, found by either.

    >>> known = Namespaces({"ex": "http://ex.org/"})
    >>> known.bind("e", URIRef("http://ex.org/"), False), known.prefix(URIRef("http://ex.org/"))
    (False, 'ex')
    >>> known.bind("e", URIRef("http://ex.org/"), True), list(known)
    (True, [('e', rdflib.term.URIRef('http://ex.org/'))])
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        self._namespaces: dict[str, URIRef] = {}
        self._prefixes: dict[URIRef, str] = {}
        for prefix, namespace in known.items():
            self.bind(prefix, URIRef(namespace), True)

    def bind(self, prefix: str, namespace: URIRef, override: bool) -> bool:
        """Bind a prefix; an existing binding of either remains unless `override`.

        Returns whether the bindings changed.
        """
        old_namespace, old_prefix = self._namespaces.get(prefix), self._prefixes.get(namespace)
        if old_namespace == namespace:
            return False
        if not override and (old_namespace is not None or old_prefix is not None):
            return False
        if old_prefix is not None:
            del self._namespaces[old_prefix]
        if old_namespace is not None:
            del self._prefixes[old_namespace]
        self._namespaces[prefix] = namespace
        self._prefixes[namespace] = prefix
        return True

    def prefix(self, namespace: URIRef) -> str | None:
        """The prefix of a namespace."""
        return self._prefixes.get(namespace)

    def namespace(self, prefix: str) -> URIRef | None:
        """The namespace of a prefix."""
        return self._namespaces.get(prefix)

    def __iter__(self) -> Iterator[tuple[str, URIRef]]:
        return iter(list(self._namespaces.items()))


@cache
def usual_prefixes() -> dict[str, str]:
    """The prefixes of every new graph of rdflib."""
    graph = Graph(store=Memory())  # not a store of ours, which needs these prefixes
    return {prefix: str(iri) for prefix, iri in NamespaceManager(graph).namespaces()}
