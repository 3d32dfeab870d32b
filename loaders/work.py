"""The work of a load's threads: take a block, parse it, number its terms, keep its rows.

Start at `Work.run`, which is one thread. Always true: the first fault in the order of the documents
is reported (a worker finishes its block when another one fails, and blocks are handed out in
order); rows are kept by block, so their order does not depend on the threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplestore.kernels.documents.ntriples import QUADS, TRUSTED
from triplestore.terms.collector import TermCollector
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.spans import spans_of_keys
from triplestore.terms.term_keys import key_of

from .documents import Block, Document, LongLineError, Stopped
from .judge import Fault, judged
from .ntriples import BlockParser, Piece
from .report import KEPT_PROBLEMS, BadStatement, Loaded, ReadOptions
from .scope import renamed_terms

U32 = NDArray[np.uint32]


class BlockRows(NamedTuple):
    """Rows in the collector's numbers; `g` is None if all are in the default graph."""

    s: U32
    p: U32
    o: U32
    g: U32 | None


class BlockResult:
    """The results of one block."""

    def __init__(self) -> None:
        self.lines = 0
        self.statements = 0
        self.rows: list[BlockRows] = []
        self.faults: list[tuple[int, Fault]] = []  # with their lines, counted from 0 in the block
        self.bad = 0


class Work:
    """The shared state of a load's threads."""

    def __init__(
        self, documents: list[Document], dictionary: Dictionary, reading: ReadOptions
    ) -> None:
        self.documents = documents
        self.collector = TermCollector(dictionary)
        self.statements = 0
        self._lenient = reading.lenient
        self._limits = reading.limits
        self._default = np.uint32(0)
        if reading.to_graph is not None:
            self._default = self.collector.add(*spans_of_keys([key_of(reading.to_graph)]))[0]
        self._found: list[dict[int, BlockResult]] = [{} for _ in documents]
        self._turns = [_Turns() for _ in documents]
        self._failures: list[tuple[int, int, BaseException | None]] = []
        self._stopping = False  # drop unfinished work
        self._failed = False  # finish started blocks

    def stop(self) -> None:
        """Ask all threads to end."""
        self._stopping = True

    # --- one thread -----------------------------------------------------------------------------

    def run(self) -> None:
        """Work until no block is left."""
        place = (0, 0)
        try:
            parser = BlockParser()
            judged_parser = BlockParser(0)
            while (taken := self._take(parser)) is not None:
                place = (taken[0], taken[1].number)
                self._parse(parser, judged_parser, *taken)
        except Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again in the thread of the caller
            self._fail(*place, error)

    def _take(self, parser: BlockParser) -> tuple[int, Block] | None:
        """A block of the first document that no other worker is reading from."""
        while not self._failed:
            waiting = [i for i, document in enumerate(self.documents) if not document.exhausted]
            if not waiting:
                return None
            for i in waiting:
                if self.documents[i].lock.acquire(blocking=False):
                    break
            else:
                i = waiting[0]
                self.documents[i].lock.acquire()
            try:
                block = self._taken(i, parser)
            finally:
                self.documents[i].lock.release()
            if block is not None:
                return i, block
        return None

    def _taken(self, i: int, parser: BlockParser) -> Block | None:
        document = self.documents[i]
        if document.exhausted or self._failed:
            return None
        self._check()
        try:
            return document.take(parser, self._check)
        except Stopped:
            raise
        except BaseException as error:
            document.exhausted = True
            self._fail(i, document.blocks, error)
            raise Stopped from error

    def _check(self) -> None:
        if self._stopping:
            raise Stopped

    def _fail(self, i: int, block: int, error: BaseException | None) -> None:
        self._failures.append((i, block, error))
        self._failed = True

    # --- one block ------------------------------------------------------------------------------

    def _parse(self, parser: BlockParser, second: BlockParser, i: int, block: Block) -> None:
        document = self.documents[i]
        found = BlockResult()
        turns = self._turns[i] if document.renamer is not None else None
        if turns is not None:
            turns.wait(block.number, self._check_all)
        for piece in parser.pieces(block.length, document.flags, document.scope):
            self._check()
            self._keep(document, found, piece)
            if len(piece.odd):
                self._judge(document, found, piece, second)
        if turns is not None:
            turns.end(block.number)
        document.was_parsed()
        found.lines = parser.lines
        self._found[i][block.number] = found
        if found.faults and not self._lenient:
            self._fail(i, block.number, None)

    def _check_all(self) -> None:
        if self._stopping or self._failed:
            raise Stopped

    def _judge(
        self, document: Document, found: BlockResult, piece: Piece, second: BlockParser
    ) -> None:
        """Let the full parser check the odd lines, and keep the good ones."""
        text, faults = judged(piece.odd_lines(), document.form, self._lenient)
        length = second.fill(text)
        for good in second.pieces(length, QUADS | TRUSTED, document.scope):
            assert len(good.odd) == 0, f"not in canonical form: {good.odd_lines()[0]!r}"
            self._keep(document, found, good)
        found.bad += len(faults)
        lines = piece.odd[:, 2].tolist()
        for fault in faults[: KEPT_PROBLEMS - len(found.faults)]:
            found.faults.append((lines[fault.index], fault))

    def _keep(self, document: Document, found: BlockResult, piece: Piece) -> None:
        terms = piece.terms
        longest = int(terms.lengths.argmax()) if len(terms.lengths) else 0
        if len(terms.lengths) and terms.lengths[longest] > self._limits.term:
            start, length = int(terms.starts[longest]), int(terms.lengths[longest])
            text = terms.buf[start : start + 60].tobytes()
            self._limits.check_term(length, text, document.report.name)
        if document.renamer is not None:
            terms = renamed_terms(terms, piece.free, document.renamer)
        numbers = np.empty(len(terms.starts) + 1, np.uint32)
        numbers[0] = self._default
        numbers[1:] = self.collector.add(*terms)
        s, p, o, g = (piece.rows[:, column] for column in range(4))
        graphs = numbers[g] if self._default or g.any() else None
        found.rows.append(BlockRows(numbers[s], numbers[p], numbers[o], graphs))
        found.statements += len(piece.rows)
        self.statements += len(piece.rows)

    # --- the end --------------------------------------------------------------------------------

    def raise_failure(self) -> None:
        """Raise the error of the first failure in the order of the documents, if there is one."""
        if not self._failures:
            return
        i, _, error = min(self._failures, key=lambda failure: failure[:2])
        self._failures = []  # their tracebacks would keep all of this in memory
        if isinstance(error, LongLineError):
            error.lineno = 1 + sum(found.lines for found in self._found[i].values())
        if error is not None:
            try:
                raise error
            finally:
                del error
        raise self._problems(i)[0].error()

    def loaded(self, threads: int) -> Loaded:
        """The rows of all blocks in final ids; their buffers are released."""
        ids, segment = self.collector.seal(threads)
        chunks: list[BlockRows] = []
        for blocks in self._found:
            for _, block in sorted(blocks.items()):
                chunks += block.rows
                block.rows = []
        count = sum(len(rows.s) for rows in chunks)
        # Zeros, because pages of g that are never written cost nothing.
        columns = BlockRows(*(np.zeros(count, np.uint32) for _ in range(4)))
        named = any(rows.g is not None for rows in chunks)
        at = 0
        chunks.reverse()
        while chunks:
            rows = chunks.pop()
            stop = at + len(rows.s)
            for column, numbers in zip(columns, rows, strict=True):
                if column is not None and numbers is not None:
                    np.take(ids, numbers, out=column[at:stop], mode="clip")
            at = stop
        assert columns.g is not None
        loaded = Loaded(columns.s, columns.p, columns.o, columns.g, named, segment)
        self._report(loaded)
        return loaded

    def _report(self, loaded: Loaded) -> None:
        for i, document in enumerate(self.documents):
            report = document.report
            found = self._found[i].values()
            report.statements = sum(block.statements for block in found)
            report.bad += sum(block.bad for block in found)
            loaded.bad += report.bad
            loaded.files.append(report)
            loaded.problems += document.problems + self._problems(i)
            for name, iri in document.prefixes.items():
                loaded.prefixes.setdefault(name, iri)
        del loaded.problems[KEPT_PROBLEMS:]

    def _problems(self, i: int) -> list[BadStatement]:
        """The faults of a document, with their lines."""
        document = self.documents[i]
        problems = []
        line = 1
        for _, found in sorted(self._found[i].items()):
            for inside, fault in found.faults:
                at = None if document.renamer is not None else line + inside
                problems.append(
                    BadStatement(document.report.name, at, fault.column, fault.message, fault.text)
                )
            line += found.lines
        return problems


class _Turns:
    """Lets the blocks of a document through in their order."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._next = 0

    def wait(self, number: int, check: Callable[[], None]) -> None:
        """Wait until all blocks before this one have ended."""
        with self._changed:
            while self._next != number:
                check()
                self._changed.wait(0.05)

    def end(self, number: int) -> None:
        """Let the next block through."""
        with self._changed:
            self._next = number + 1
            self._changed.notify_all()
