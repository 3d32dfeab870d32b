"""A change that a caller wants to make: an update, documents, or rules.

Start at `ChangeRequest`. The same request is made for a preview and for the commit, so that both do
the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyoxigraph as ox

from triplestore.data_classes import data_class
from triplestore.errors import CancelledError, ConflictError, TimeLimitError, UsageError
from triplestore.store.transaction import writer_of
from triplestore.store.writes.rule_changes import replace_rules

if TYPE_CHECKING:
    from triplestore.operators.context import Flag
    from triplestore.reasoning.outcome import Change
    from triplestore.store import Store, Transaction


@data_class
class ChangeLimits:
    """Limits of a change: seconds, bytes, and a flag that stops it; None for no limit.

    wait   maximum number of seconds to wait for another writer
    began  the `time.monotonic()` from which `seconds` count; by default when writing begins
    """

    seconds: float | None = None
    budget: int | None = None
    cancel: Flag | None = None
    wait: float | None = None
    began: float | None = None

    def deadline(self) -> float | None:
        """The `time.monotonic()` at which writing is to end, if it begins now."""
        if self.seconds is None:
            return None
        return self.seconds + (time.monotonic() if self.began is None else self.began)


NO_LIMITS = ChangeLimits()


@data_class
class DocumentText:
    """A document to be loaded: its name, its format (by default by its name), and its text."""

    text: str | bytes
    name: str = ""
    format: str | None = None
    graph: str | None = None

    def checked_format(self) -> str:
        """The name of the format, by the name of the document if it is not given."""
        found = self.format or self.name.rpartition(".")[2]
        if not found:
            raise UsageError(f"document {self.name!r} needs a format, such as turtle")
        return found


@data_class
class ChangeRequest:
    """An update, documents to be loaded, or a text of rules that replaces users' rules.

    >>> from triplestore import Store
    >>> store = Store()
    >>> request = ChangeRequest(update="INSERT DATA { <http://e/a> <http://e/p> 1 }")
    >>> print(commit_change(store, request))
    added 1
    """

    update: str | None = None
    documents: tuple[DocumentText, ...] = ()
    rules: str | None = None
    prefixes: Mapping[str, str] | None = None
    """Prefixes that the update may use beside those of the store."""

    def __post_init__(self) -> None:
        given = (self.update is not None) + bool(self.documents) + (self.rules is not None)
        if given != 1:
            raise UsageError("give one of: update, documents, rules")

    def make(self, transaction: Transaction, limits: ChangeLimits = NO_LIMITS) -> None:
        """Make the change, with all that follows, in a transaction."""
        with kept_within(transaction, limits) as is_over:
            if self.rules is not None:
                replace_rules(writer_of(transaction), self.rules, is_over)
            for document in self.documents:
                self._load(transaction, document, is_over)
            if self.update is not None:
                transaction.update(
                    self.update,
                    prefixes=self.prefixes,
                    timeout=limits.seconds,
                    budget=limits.budget,
                    cancel=limits.cancel,
                )

    def _load(
        self, transaction: Transaction, document: DocumentText, is_over: Callable[[], bool]
    ) -> None:
        graph = None if document.graph is None else ox.NamedNode(document.graph)
        transaction.load(
            document.text,
            document.checked_format(),
            base_iri=None,
            to_graph=graph,
            cancel=is_over,
        )


@contextmanager
def kept_within(transaction: Transaction, limits: ChangeLimits) -> Iterator[Callable[[], bool]]:
    """A block of writes that, with all that follows from them, is kept within limits.

    The block gets a function that says whether the writes are to end.
    """
    deadline = limits.deadline()
    is_over = _stopper(limits.cancel, deadline)
    writer = writer_of(transaction)
    writer.prepare_load(False, is_over, limits.budget)
    try:
        yield is_over
        writer.view()  # brings the closure up to date, within the limits
    except CancelledError:
        if deadline is not None and time.monotonic() > deadline:
            raise TimeLimitError(
                f"the change took more than {limits.seconds:g} seconds; nothing has changed"
            ) from None
        raise


def commit_change(
    store: Store,
    request: ChangeRequest,
    *,
    expected_commit: int | None = None,
    limits: ChangeLimits = NO_LIMITS,
) -> Change:
    """Make a change and commit it.

    expected_commit  the commit that a preview has seen: if the store has moved on, a
                     `ConflictError` says so, and nothing is written
    """
    with store.transaction(wait=limits.wait) as transaction:
        now = writer_of(transaction).begun_at
        if expected_commit is not None and now != expected_commit:
            raise ConflictError(
                f"the store has changed since the preview (commit {expected_commit:,}, now "
                f"{now:,}): look at a new preview"
            )
        request.make(transaction, limits)
    return transaction.change


def change_data(change: Change) -> dict[str, Any]:
    """The counts of a change, fit for JSON.

    >>> from triplestore.reasoning.outcome import Change
    >>> change_data(Change(added=1, commit=2))["text"]
    'added 1'
    """
    values = asdict(change)
    values["problems"] = [str(problem) for problem in change.problems]
    return {**values, "text": str(change)}


def _stopper(cancel: Flag | None, deadline: float | None) -> Callable[[], bool]:
    def is_over() -> bool:
        if cancel is not None and cancel.is_set():
            return True
        return deadline is not None and time.monotonic() > deadline

    return is_over
