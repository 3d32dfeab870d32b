"""Questions about classes: the taxonomy, and justifications."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from triplestore.errors import UsageError
from triplestore.ontologies.translate.regimes import OWL_EL

if TYPE_CHECKING:
    from triplestore.classification.justify import Justifications
    from triplestore.classification.taxonomy import Taxonomy
    from triplestore.store.explain import FactLike
    from triplestore.store.state_view import StateView


class Classifying:
    """Methods about the hierarchy of classes.

    make_store  makes an empty store in memory; `triplestore/store/__init__.py` sets it
    """

    make_store: ClassVar[type[Any]]

    def _view(self) -> StateView:
        raise AssertionError("a store, a snapshot and a transaction have views")

    def taxonomy(self, *, direct: bool = True) -> Taxonomy:
        """The hierarchy of the named classes, as it is inferred.

        With `direct=True` it has only edges to the classes just above (the transitive reduction),
        with `direct=False` all. It also has the classes that are equivalent, and those that are
        unsatisfiable. It is a view of this state: made when it is looked at.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load('''@prefix : <http://e/> .
        ... @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        ... :Cat rdfs:subClassOf :Pet . :Pet rdfs:subClassOf :Animal .''', "ttl")
        >>> _ = store.reason("owl-el")
        >>> print(store.taxonomy())
        :Animal
          :Pet
            :Cat
        >>> len(store.taxonomy().edges), len(store.taxonomy(direct=False).edges)
        (2, 3)
        """
        # Late: few programs ask for it.
        from triplestore.classification.taxonomy import Taxonomy

        return Taxonomy(self._view(), direct=direct)

    def justifications(
        self, fact: FactLike, *, limit: int = 10, seconds: float = 60.0
    ) -> Justifications:
        """Minimal sets of axioms from which a subsumption, an equivalence or a type follows.

        Needs the regime "owl-el". `limit` is the maximum number of sets; `complete` says whether
        these are all. A search that takes longer than `seconds` gives those it has.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load('''@prefix : <http://e/> .
        ... @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        ... :Cat rdfs:subClassOf :Pet , :Feline .
        ... :Pet rdfs:subClassOf :Animal . :Feline rdfs:subClassOf :Animal .''', "ttl")
        >>> _ = store.reason("owl-el")
        >>> found = store.justifications(":Cat rdfs:subClassOf :Animal")
        >>> print(*found[0].axioms, sep=", ")
        :Cat SubClassOf :Pet, :Pet SubClassOf :Animal
        >>> len(found), found.complete
        (2, True)
        """
        # Late: few programs ask for it.
        from triplestore.classification.justify import justifications
        from triplestore.store.explain import triple_of

        view = self._view()
        if OWL_EL not in view.regimes:
            raise UsageError(f'justifications need the regime "{OWL_EL}": call reason("{OWL_EL}")')
        triple, prefixes = triple_of(view, fact)
        make = self.make_store
        return justifications(view, triple, make, prefixes, limit=limit, seconds=seconds)
