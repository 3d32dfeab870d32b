"""What lies between two sides: start at `diff`."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

from triplestore.comparison.found import Found
from triplestore.comparison.shape_hook import ShapeResults
from triplestore.comparison.sides.files_of_side import (
    FileSide,
    files_at,
    files_in_git,
    is_revision,
    merge_base,
)
from triplestore.comparison.sides.reasoning_options import Reasoning
from triplestore.comparison.sides.states import Side, compared_states
from triplestore.comparison.sides.work_budget import Deadline, limits_of
from triplestore.comparison.summary import summary
from triplestore.errors import UsageError
from triplestore.storage.files.manifest import NAME as MANIFEST
from triplestore.store import Snapshot, Store
from triplestore.thread_limits import limited

SideLike: TypeAlias = "str | os.PathLike[str] | Store | Snapshot"
"""A store or snapshot; the path of a store, file or folder; a revision of git."""


def diff(
    old: SideLike,
    new: SideLike | None = None,
    *,
    reason: Sequence[str] | str = (),
    rules: Sequence[str] | str = (),
    scope: str = "default",
    cache: str | os.PathLike[str] | None = None,
    advance: bool = False,
    only: Sequence[str] = (),
    folder: str | os.PathLike[str] = ".",
    budget: str | None = None,
    shapes: ShapeResults | None = None,
    everything: bool = False,
) -> Found:
    """The changes from one side to another: asserted and inferred ones, violations, and causes.

    A side is a store, a snapshot, the path of a store, of a file or of a folder of files, or a
    revision of git such as `main`; `old` alone may be a range: `main..topic`, or `main...topic`
    from the last common commit. Files of revisions are read from git; the working tree is not
    touched. `only` names files and folders to compare, relative to `folder`.

    reason  regimes for files, such as "owl-rl"; stores have their own
    rules   files of rules, which each side may have in its own version
    scope   "union": named graphs of files are used for reasoning as well
    cache   a folder where closures of old sides are kept; by default nothing is kept
    advance  keep the closure of the new side too, instead of rolling it back
    budget  limits such as "90s" or "2GB,10min"
    shapes  gives results of shapes in a state; see `ShapeResults`
    everything  list each inferred change with its causes

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.reason(rules="@prefix : <http://e/> . :knows[?y, ?x] :- :knows[?x, ?y] .")
    >>> before = store.snapshot()
    >>> _ = store.load("@prefix : <http://e/> . :a :knows :b .", "ttl")
    >>> found = diff(before, store)
    >>> found.metrics["inferred"], found.consequences[0].cause.text
    (1, ':a :knows :b')
    """
    started = time.perf_counter()
    reasoning = Reasoning.of(reason, rules, scope)
    limits = limits_of(budget)
    with ExitStack() as stack:
        if limits.seconds is not None:
            stack.enter_context(limited(Deadline(limits.seconds)))
        one, other = _sides(old, new, Path(folder), only, stack)
        where = None if cache is None else Path(cache)
        with compared_states(one, other, reasoning, where, limits, advance) as compared:
            names = _label(one), _label(other)
            found = summary(compared, *names, shapes=shapes, everything=everything)
    return found.timed(time.perf_counter() - started)


def _sides(
    old: SideLike, new: SideLike | None, folder: Path, only: Sequence[str], stack: ExitStack
) -> tuple[Side, Side]:
    if new is None:
        if not isinstance(old, str) or ".." not in old:
            raise UsageError("one side is missing: give OLD and NEW, or a range such as main..HEAD")
        dots = "..." if "..." in old else ".."
        first, _, last = old.partition(dots)
        first, last = first or "HEAD", last or "HEAD"
        if dots == "...":
            first = merge_base(first, last, folder)
        return files_in_git(first, folder, only), files_in_git(last, folder, only)
    return _side(old, folder, only, stack), _side(new, folder, only, stack)


def _side(given: SideLike, folder: Path, only: Sequence[str], stack: ExitStack) -> Side:
    if isinstance(given, Store | Snapshot):
        return given
    text = os.fspath(given)
    path = folder / text
    if (path / MANIFEST).is_file():
        return stack.enter_context(Store.read_only(path))
    if text.startswith("git:"):
        return files_in_git(text.removeprefix("git:"), folder, only)
    if not path.exists() and isinstance(given, str) and is_revision(text, folder):
        return files_in_git(text, folder, only)
    return files_at(path, only)


def _label(side: Side) -> str:
    if isinstance(side, FileSide):
        return side.label
    if isinstance(side, Store) and side.path is not None:
        return str(side.path)
    return "a snapshot" if isinstance(side, Snapshot) else "a store in memory"
