"""The steps of the papers' algorithms, for one stratum of an update.

Start reading at `Steps`. A driver (`dred`, `dred_c`, `fbf`, `fbf_c`, `seminaive`) calls the steps
in the order of the pseudo-code; a step is a set expression of the pseudo-code. There are two
implementations: `steps.stratum.StratumUpdate` over columns, and for tests `tests/reference/steps`
over Python sets, which considers exactly the instances of the papers. So the text of an algorithm
exists once, and is tested with both.

The papers, as they are named everywhere here: *revisited* is Motik and others, Maintenance of
Datalog materialisations revisited (AIJ 2019); *thesis* is Hu, Efficient computation and maintenance
of Datalog materialisations (Oxford 2019); *modular* is Hu and others, Modular materialisation of
Datalog programs (AAAI 2019).

Their names: E are the explicit facts, of which E- are deleted and E+ are added; I are the facts
that held before the update. Stratum s derives the facts O^s. D is deleted so far, A is added so far
(those of lower strata are complete). C_nr and C_r count the nonrecursive and recursive derivations
of a fact; explicit facts have one more in C_nr (kept as the status: see `Work.supported`). `inst[P,
N : dP, dN]` are the instances whose positive atoms are in P and negative ones are not in N, with a
positive atom in dP or a negative one in dN.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Protocol, TypeVar

from triplestore.maintenance.search.give_up import Abort

Facts = TypeVar("Facts", bound=Sized)
"""A set of facts: true if it has any."""


class ProofSearch(Protocol[Facts]):
    """The results of CHECK and SATURATE for the facts of one stratum."""

    def unproved(self, facts: Facts) -> Facts:
        """Check these facts; returns those that have no proof, or whose check was aborted."""

    def proved_late(self) -> Facts:
        """B, D and P in common: deleted because a check was aborted, and proved after that."""

    def unknown(self) -> Facts:
        """B and D in common, without P: deleted because a check was aborted, and not proved."""


class Insertion(Protocol[Facts]):
    """The steps of INSERT, and of semi-naive evaluation."""

    def begin_insertion(self, *again: Facts) -> Facts:
        """The facts that may be new at first: facts of D that hold again, E+ in O^s, and the
        conclusions of inst[(I - D) + A, (I - D) + A : A - D, D - A]."""

    def coming(self, facts: Facts) -> Facts | None:
        """The facts that are not in (I - D) + A; None if there are none, and the insertion ends."""

    def add(self, facts: Facts) -> Facts:
        """Add facts to A; returns the conclusions of the recursive inst[(I - D) + A, (I - D) + A :
        facts]."""


class Steps(Insertion[Facts], Protocol[Facts]):
    """One stratum of an update, in steps. The steps that consider instances maintain the counters:
    they decrease in deletion, and increase in insertion."""

    def touched(self) -> Facts:
        """The facts that may be lost at first: E- in O^s, and the conclusions of inst[I, I : D - A,
        A - D]."""

    def drop(self, facts: Facts) -> Facts:
        """The conclusions of the recursive inst[I - (D - A), I + A : facts] that are not in D; then
        the facts are added to D."""

    def unsupported(self, facts: Facts) -> Facts:
        """The facts with C_nr = 0."""

    def drop_unsupported(self, facts: Facts) -> Facts:
        """`drop`, then `unsupported`. An implementation may do several such rounds at once."""

    def dropped(self) -> Facts:
        """D in O^s."""

    def remaining(self, facts: Facts) -> Facts:
        """The facts in E - E-, or that some rule derives from I - (D - A), I + A."""

    def rederived(self, facts: Facts) -> Facts:
        """The facts with C_r > 0; without C_r, those that some recursive rule derives from the
        surviving facts."""

    def search(self, counted: bool, abort: Abort | None) -> ProofSearch[Facts]:
        """A search for proofs.

        counted  whether C_nr says which facts have a nonrecursive proof; if not, nonrecursive rules
                 are evaluated backward
        abort    when to give up; None for the default of the search
        """

    def bring_back(self, facts: Facts) -> Facts:
        """Add facts of D to A whose consequences hold already; returns those that must be inserted
        like others, because C_r lost their instances."""
