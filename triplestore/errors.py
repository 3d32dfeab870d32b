"""Every exception the package raises on purpose.

    TripleStoreError
    ├── UsageError            (also ValueError)        an argument that cannot be right
    │   ├── WrongTypeError      (also TypeError)         something that is not a term, a quad ...
    │   └── ServiceError                               a place of the network gave no answer
    ├── ParseError            (also SyntaxError)       a file or text that is not what it says it is
    │   ├── ProgramError                               a program of rules, with all its problems
    │   └── QuerySyntaxError                           a query or update, with all its problems
    ├── StorageError          (also OSError)           the directory, its files or the disk
    │   ├── MissingError        (also FileNotFoundError) a file to be read is not there
    │   ├── LockedError                                another process or thread is writing
    │   ├── ReadOnlyError                              a write to something opened for reading
    │   ├── CorruptError                               bytes on disk are not those that were written
    │   ├── FormatError                                written by a version this one cannot read
    │   └── StaleError                                 inferred facts are out of date
    ├── LostPlaceError                               changes that a follower asks for are not kept
    ├── InconsistencyError                           a strict store would have become inconsistent
    │   └── ShapesViolationError                       the same for watched shapes
    ├── ShapesError           (also ValueError)        a shapes graph that cannot be used
    ├── ConflictError                                the store is not as the caller expects it
    ├── BudgetError           (also MemoryError)       a memory budget would have been exceeded
    ├── TimeLimitError        (also TimeoutError)      a time budget was exceeded
    └── CancelledError                                 the caller asked a running operation to stop

A message says what is wrong, where, and what to do. Any other exception of the package (an
AssertionError, an IndexError) is a bug.
"""

from __future__ import annotations

from collections.abc import Sequence


class TripleStoreError(Exception):
    """The root of all exceptions that this package raises on purpose."""


class UsageError(TripleStoreError, ValueError):
    """An argument is wrong: the message names it and says what is accepted."""


class WrongTypeError(UsageError, TypeError):
    """An argument of a wrong type, such as a text instead of a term or a quad."""


class ServiceError(UsageError):
    """An endpoint of SERVICE or a document of LOAD is not allowed, or gave no answer."""


class ParseError(TripleStoreError, SyntaxError):
    """A document is malformed; `filename`, `lineno` and `offset` (column) say where.

    >>> error = ParseError("expected '.'", filename="a.nt", line=3, column=7)
    >>> str(error)
    "a.nt:3:7: expected '.'"
    """

    def __init__(
        self,
        message: str,
        *,
        filename: str | None = None,
        line: int | None = None,
        column: int | None = None,
        text: str | None = None,
    ) -> None:
        super().__init__(message)
        self.msg = message
        self.filename = filename
        self.lineno = line
        self.offset = column
        self.text = text

    def __str__(self) -> str:
        place = ":".join(
            str(part)
            for part in (self.filename or "input", self.lineno, self.offset)
            if part is not None
        )
        return f"{place}: {self.msg}"


class ProgramError(ParseError):
    """A program of rules cannot be used; `problems` lists all its problems.

    The message has one line for each problem, with its place; `filename`, `lineno` and `offset`
    are those of the first.
    """

    def __init__(
        self,
        message: str,
        problems: Sequence[object] = (),
        *,
        filename: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message, filename=filename, line=line, column=column)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return self.msg


class QuerySyntaxError(ParseError):
    """A text is not SPARQL; `problems` lists all problems that were found.

    The message has one line for each problem, with its place; `lineno`, `offset` and `text` (the
    line) are those of the first.
    """

    def __init__(
        self,
        message: str,
        problems: Sequence[object] = (),
        *,
        filename: str | None = None,
        line: int | None = None,
        column: int | None = None,
        text: str | None = None,
    ) -> None:
        super().__init__(message, filename=filename, line=line, column=column, text=text)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return self.msg


class StorageError(TripleStoreError, OSError):
    """The store's directory, one of its files or the disk cannot be used."""


class MissingError(StorageError, FileNotFoundError):
    """A file that is to be read is not there."""


class LockedError(StorageError):
    """Another process or thread holds the store for writing; the message names it."""


class ReadOnlyError(StorageError):
    """A write was tried on a store, or a snapshot, that can only be read."""


class CorruptError(StorageError):
    """Bytes on disk are not those that were written; the message names file and block."""


class FormatError(StorageError):
    """The directory is not a store, or has a format that this version cannot read."""


class StaleError(StorageError):
    """Asserted facts were changed without the inferred ones; the message says what to do."""


class LostPlaceError(TripleStoreError):
    """A follower of changes asked for some that are not kept any more, or was too slow to take
    them; `commit` is the last commit up to which it has all, or None."""

    def __init__(self, message: str, commit: int | None = None) -> None:
        super().__init__(message)
        self.commit = commit


class InconsistencyError(TripleStoreError):
    """A commit would have added violations of constraints to a store that refuses them."""


class ShapesError(TripleStoreError, ValueError):
    """A shapes graph of SHACL cannot be used: the message names the shape and the reason."""


class ShapesViolationError(InconsistencyError):
    """A commit would have added results of SHACL of a severity that the store refuses.

    `results` lists them.
    """

    def __init__(self, message: str, results: Sequence[object] = ()) -> None:
        super().__init__(message)
        self.results = results


class ConflictError(TripleStoreError):
    """The store has changed since the caller looked at it; nothing was written."""


class BudgetError(TripleStoreError, MemoryError):
    """An operation would have exceeded its memory budget, and was stopped before."""


class TimeLimitError(TripleStoreError, TimeoutError):
    """An operation exceeded its time budget and was stopped."""


class CancelledError(TripleStoreError):
    """An operation stopped because the caller asked for it; nothing was changed."""


def unreadable(name: object, error: OSError) -> StorageError:
    """The error for a file that cannot be read.

    >>> unreadable("a.nt", FileNotFoundError(2, "No such file or directory"))
    MissingError('cannot read a.nt: No such file or directory')
    """
    kind = MissingError if isinstance(error, FileNotFoundError) else StorageError
    return kind(f"cannot read {name}: {error.strerror or error}")


DISTRIBUTION = "entailstore"
"""The name in the package index, where `triplestore` is a package of other people."""


def install(extra: str) -> str:
    """The command that installs an extra.

    >>> install("spark")
    "pip install 'entailstore[spark]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def needs_extra(what: str, error: ImportError, extra: str) -> ImportError:
    """The error for a library that is not installed: it names the extra that needs it.

    >>> needs_extra("to_arrow", ModuleNotFoundError("no pyarrow", name="pyarrow"), "arrow").name
    'pyarrow'
    """
    name = (error.name or "a library").partition(".")[0]
    return ModuleNotFoundError(
        f"{what} needs {name}, which is not installed: {install(extra)}",
        name=error.name,
    )
