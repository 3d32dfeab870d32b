"""The backward and forward search of B/F and FBF: does a fact hold after the update?

Start at `Search.check`: procedures CHECK and SATURATE of *revisited*, algorithm 5, and of *thesis*,
algorithm 5, which differs in how a nonrecursive proof is noticed. One search is for one stratum.

    checked C   facts whose check was begun; none is checked twice
    proved P    checked facts that hold; closed under the recursive rules, but inside C only
    delayed Y   facts that follow from P and were not checked: proved when they are
    blocked B   facts not explored to the end, because a branch was aborted at or below them

In one place this is not the printed algorithm. There a fact is blocked if a premise is when its
check returns. If that premise is being checked above it and is blocked later, the fact stays
unblocked; and if the premise is proved still later, because a strategy that looks at depth or work
does not abort what it aborted before, a deleted fact is proved without being blocked, and is lost.
So who waits for whom is remembered here, and blocking a fact blocks all that wait for it.

A check goes from a fact to the body atoms of all instances that derive it, so that depth is that of
proofs: the stack is a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tests.reference.facts import Fact
from tests.reference.rules import Level
from tests.reference.state import Update, heads


@dataclass
class Progress:
    """What an abort strategy may look at beside the fact.

    depth       how many facts above this one are being checked because of each other
    considered  instances that checks have considered in this stratum
    checked     facts checked in this stratum
    """

    depth: int = 0
    considered: int = 0
    checked: int = 0


Abort: TypeAlias = Callable[[Fact, Progress], bool]
"""Whether to give up this branch: the papers' ABORTBRANCH."""


def never(fact: Fact, progress: Progress) -> bool:
    """Explore everything: FBF is then B/F, and deletion is exact."""
    return False


def always(fact: Fact, progress: Progress) -> bool:
    """Explore nothing: FBF is then DRed."""
    return True


def deeper_than(depth: int) -> Abort:
    """Give up facts that have more than this many others above them.

    >>> [deeper_than(2)((), Progress(depth=n)) for n in (1, 2, 3)]
    [False, False, True]
    """
    return lambda fact, progress: progress.depth > depth


def after(instances: int) -> Abort:
    """Give up as soon as checks have considered this many instances in the stratum.

    >>> [after(5)((), Progress(considered=n)) for n in (4, 5)]
    [False, True]
    """
    return lambda fact, progress: progress.considered >= instances


@dataclass
class _Open:
    """A fact being checked: what is left of its premises, and the one looked at now."""

    fact: Fact
    premises: Iterator[Fact]
    current: Fact | None = None


class Search:
    """Which facts of a stratum hold after an update, as far as was asked.

    has_proof  whether explicit facts or nonrecursive rules prove a fact; it is asked once for each
    doomed     the papers' Delta_D: facts that are being deleted, beside those of D
    """

    def __init__(
        self, update: Update, level: Level, has_proof: Callable[[Fact], bool], abort: Abort
    ) -> None:
        self.update = update
        self.level = level
        self.has_proof = has_proof
        self.abort = abort
        self.progress = Progress()
        self.checked: set[Fact] = set()
        self.proved: set[Fact] = set()
        self.delayed: set[Fact] = set()
        self.blocked: set[Fact] = set()
        self.doomed: set[Fact] = set()
        self._waiting: dict[Fact, set[Fact]] = {}

    def check(self, fact: Fact) -> None:
        """Try to prove a fact; afterwards it is proved, or blocked, or does not hold."""
        stack: list[_Open] = []
        self._begin(fact, stack)
        while stack:
            top = stack[-1]
            if top.current is not None:
                self._learn(top.fact, top.current)
                top.current = None
                if top.fact in self.proved:
                    stack.pop()
                    continue
            top.current = next(top.premises, None)
            if top.current is None:
                stack.pop()
            else:
                self._begin(top.current, stack)

    def _begin(self, fact: Fact, stack: list[_Open]) -> None:
        if fact in self.checked:
            return
        self.progress.depth = len(stack)
        if self.abort(fact, self.progress):
            self._block(fact)
        elif not self._saturate(fact):
            stack.append(_Open(fact, self._premises(fact)))

    def _learn(self, fact: Fact, premise: Fact) -> None:
        """What became of a premise, for a fact that is being checked."""
        if premise in self.proved:
            return
        if premise in self.blocked:
            self._block(fact)
        else:
            self._waiting.setdefault(premise, set()).add(fact)

    def _block(self, fact: Fact) -> None:
        """Block a fact, and whatever waits for it."""
        found = [fact]
        for one in found:
            if one not in self.blocked:
                self.blocked.add(one)
                found.extend(self._waiting.pop(one, ()))

    def _premises(self, fact: Fact) -> Iterator[Fact]:
        """The body atoms, of this stratum, of the recursive instances that could prove a fact."""
        update = self.update
        level_of = update.rules.level_of
        found = update.backwards("check", self.level.recursive, fact, self._is_open, update.either)
        for instance in found:
            self.progress.considered += 1
            own = [one for one in instance.positive if level_of(one) == self.level.number]
            if not own:  # only where an atom matches several strata
                self._prove(fact)
                return
            yield from own

    def _is_open(self, fact: Fact) -> bool:
        """In I minus ((D and the doomed) minus (A and B)): what is not known to be deleted."""
        update = self.update
        if not update.old(fact):
            return False
        deleted = fact in update.deleted or fact in self.doomed
        return not deleted or fact in update.added or fact in self.blocked

    def _saturate(self, fact: Fact) -> bool:
        """Whether a fact has a proof already; then what follows is proved, or delayed."""
        self.checked.add(fact)
        self.progress.checked += 1
        if fact not in self.delayed and not self.has_proof(fact):
            return False
        self._prove(fact)
        return True

    def _prove(self, fact: Fact) -> None:
        """Close P under the recursive rules when a fact is added to it."""
        new = {fact}
        while True:
            latest = (new & self.checked) - self.proved
            self.delayed |= new - self.checked
            if not latest:
                return
            self.proved |= latest
            new = heads(
                self.update.considered(
                    "prove", self.level.recursive, self._holds, self.update.either, (latest, ())
                )
            )

    def _holds(self, fact: Fact) -> bool:
        """In P, or in what survives of lower strata."""
        if fact in self.proved:
            return True
        lower = self.update.rules.level_of(fact) < self.level.number
        return lower and self.update.survives(fact)

    def write_down(self) -> None:
        """Put the sets into the update's report."""
        report = self.update.report
        report.checked |= self.checked
        report.proved |= self.proved
        report.delayed |= self.delayed
        report.blocked |= self.blocked
