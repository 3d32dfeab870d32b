"""One run of a job: its stages, and the store made from them.

Start reading at `Import.run`. Always true: a new store is made beside its place and renamed when it
is finished; an existing store gets one commit, with the name of the job. So a run may fail
anywhere, and the next one continues.
"""

from __future__ import annotations

import json
import shutil
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from triplestore.data_classes import data_class
from triplestore.errors import LockedError, UsageError
from triplestore.loaders.spark.closure.options import Options as ClosureOptions
from triplestore.loaders.spark.importing.chunks import SCHEMA, write_from_rows
from triplestore.loaders.spark.importing.encode import encode
from triplestore.loaders.spark.importing.existing_store import Target, empty_loaded
from triplestore.loaders.spark.importing.number_terms import (
    TermCounts,
    count_terms,
    numbered,
    ordered_terms,
)
from triplestore.loaders.spark.importing.parquet import write_tables
from triplestore.loaders.spark.importing.parquet_parts import (
    IdRows,
    Keys,
    check_room,
    read_blocks,
    read_chunks,
    read_rows,
)
from triplestore.loaders.spark.importing.sources import SourceOptions
from triplestore.loaders.spark.importing.statements import Statements, read_statements
from triplestore.loaders.spark.importing.write_store import (
    NO_EXTRA,
    Extra,
    Imported,
    is_store,
    making,
    name_of_store,
    put_in_place,
    removed_on_failure,
    size_of,
    write_store,
)
from triplestore.loaders.spark.jobs.places import is_uri, read_text, write_text
from triplestore.loaders.spark.jobs.stages import StageListener, Stages, fingerprint
from triplestore.storage.files.system import Files, RealFiles
from triplestore.storage.metadata import FILES, PREFIXES, bytes_of_prefixes
from triplestore.store import Store
from triplestore.store.arguments import ReasonOptions
from triplestore.store.writes.rule_changes import reason
from triplestore.store.writes.writer import TransactionWriter

JOB, MADE = "job.json", "made.json"
_LONGEST_PATH = 255


@data_class
class ImportRequest:
    """The checked arguments of `import_dataset`."""

    mode: str
    graph: Any
    reason: tuple[str, ...]
    rules: Any
    ontology: Any
    closure: str
    partitions: int
    files: Files = field(default_factory=RealFiles)
    closing: ClosureOptions = field(default_factory=ClosureOptions)

    @property
    def infers(self) -> bool:
        """Whether rules or regimes are given."""
        return bool(self.reason) or self.rules is not None

    @property
    def needs_store(self) -> bool:
        """Whether it changes a store; if there is none, an empty one with rules is made first."""
        return self.mode != "add" or (self.closure == "later" and self.infers)


class Import:
    """One run of a job."""

    def __init__(
        self,
        spark: Any,
        source: Any,
        target: str,
        wish: ImportRequest,
        reading: SourceOptions,
        place: str,
        job: str | None,
        tables: str | None,
        progress: StageListener | None,
    ) -> None:
        self._spark = spark
        self._source = source
        self._target = target
        self._wish = wish
        self._reading = reading
        self._tables = tables
        self._job = job
        self._folder = None if is_uri(place) else Path(place).absolute()
        uri = place if self._folder is None else f"file://{self._folder}"
        self._stages = Stages(spark, uri, progress)
        self._began = time.monotonic()
        self._known = ""

    def run(self, keep_work: bool) -> Imported:
        """Do the stages that are not done."""
        if self._folder is None:
            return self._run(keep_work)
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = self._wish.files.lock(self._folder / "LOCK")
        if lock is None:
            raise LockedError(
                f"another import into {self._target} is running (it holds {self._folder}/LOCK)"
            )
        try:
            return self._run(keep_work)
        finally:
            lock.release()

    def _run(self, keep_work: bool) -> Imported:
        path = None if is_uri(self._target) else Path(self._target).absolute()
        if path is not None and self._is_made(path):
            done = self._already()
        elif path is not None and (is_store(path) or self._wish.needs_store):
            done = self._change(path)
        else:
            done = self._create(path)
        if not keep_work:
            self._stages.remove()
        elif self._folder is not None:  # the next call is another job
            for name in (MADE, JOB):
                (self._folder / name).unlink(missing_ok=True)
        return done

    def _create(self, path: Path | None) -> Imported:
        """Make a new store, or tables at a URI."""
        statements = read_statements(self._spark, self._source, self._reading)
        self._known = statements.fingerprint
        stored, noted = self._parsed(statements)
        counts = self._numbered(stored, noted["mark"])
        closes = self._wish.infers and self._wish.closure == "spark"
        rows, extra = partial(self._rows, stored, counts), NO_EXTRA
        meta = {FILES: str(statements.next_file_number - 1).encode()}
        if noted["_prefixes"]:
            # Sorted, so that the file does not depend on the order of the parsers' reports.
            meta[PREFIXES] = bytes_of_prefixes(dict(sorted(noted["_prefixes"].items())))
        if closes or self._place_of_tables is not None:
            terms, triples = self._encoded(stored, counts)
            if closes:
                triples, extra = self._closed(
                    terms, triples, statements.next_file_number - 1, noted["_prefixes"]
                )
                rows = partial(read_rows, self._place_of("closure"))
            self._write_tables(terms, triples, counts, meta, extra, noted)
        if path is not None:
            check_room(counts.terms + len(extra.keys))
            began = time.monotonic()
            self._make(path, counts, rows, meta, extra)
            self._stages.tell("output", began, {"bytes": size_of(path)})
        return self._imported(counts, noted)

    def _change(self, path: Path) -> Imported:
        """Commit to an existing store, or to an empty one that is made now."""
        assert self._folder is not None
        wish = self._wish
        fresh = making(path)
        target = Target(path if is_store(path) else fresh, wish.mode, wish.graph)
        if not is_store(target.path):
            self._make_empty(fresh)
        if self._job is not None and target.has_done(self._job):
            return self._already()
        probe = read_statements(self._spark, self._source, self._reading)
        self._known = probe.fingerprint
        known = fingerprint(probe.fingerprint or uuid.uuid4().hex, wish.mode, str(wish.graph))
        count = max(len(probe.files), 1)
        job = target.job(str(self._folder / JOB), known, self._job, count)
        reading = replace(self._reading, first_file_number=job.first)
        stored, noted = self._parsed(read_statements(self._spark, self._source, reading))
        counts = self._numbered(stored, noted["mark"])
        if self._tables is not None:
            self._write_tables(*self._encoded(stored, counts), counts, {}, NO_EXTRA, noted)
        check_room(counts.terms)
        loaded = empty_loaded(count, job.first)
        loaded.prefixes, loaded.bad = dict(sorted(noted["_prefixes"].items())), noted["bad"]
        began = time.monotonic()
        rows = self._rows(stored, counts)
        change = target.commit(job, self._keys(counts), rows, loaded, self._finish)
        if target.path == fresh:
            self._put_in_place(fresh, path)
        self._stages.tell("output", began, {"bytes": size_of(path)})
        return replace(self._imported(counts, noted), change=change, already=change is None)

    def _make_empty(self, fresh: Path) -> None:
        """Make an empty store with the given rules."""
        if self._wish.mode == "delete":
            raise UsageError(
                f"{self._target} is not a store, so nothing can be deleted from it: check the path"
            )
        shutil.rmtree(fresh, ignore_errors=True)
        self._infer(fresh)

    def _finish(self, writer: TransactionWriter) -> None:
        """Infer in the transaction, or postpone inference."""
        wish = self._wish
        if wish.closure == "later":
            writer.put_off_inference()
        elif wish.closure == "spark":
            self._close_store(writer)
        elif wish.infers:
            options = ReasonOptions(regimes=wish.reason, rules=wish.rules, ontology=wish.ontology)
            reason(writer, options)

    def _close_store(self, writer: TransactionWriter) -> None:
        """Infer on Spark from the asserted facts of the transaction."""
        from triplestore.loaders.spark.store_closure import close_store

        wish = self._wish
        given = contents_of([wish.rules, wish.ontology])
        known = (self._mark_of("terms"), wish.mode, str(wish.graph), wish.reason, given)
        asked = {"reason": wish.reason, "rules": wish.rules, "ontology": wish.ontology}
        close_store(self._stages, writer, known, options=wish.closing, **asked)

    def _is_made(self, path: Path) -> bool:
        """Whether an earlier run of this job made the store, but did not finish."""
        text = read_text(self._spark, f"{self._stages.place}/{MADE}")
        if text is None or not is_store(path):
            return False
        made = json.loads(text)
        same = (
            made["known"] == read_statements(self._spark, self._source, self._reading).fingerprint
        )
        return bool(made["known"]) and same and made["store"] == name_of_store(path)

    def _already(self) -> Imported:
        return Imported(self._target, 0, 0, 0, 0, time.monotonic() - self._began, already=True)

    # -- stages ----------------------------------------------------------------------------------

    def _parsed(self, statements: Statements) -> tuple[Statements, dict[str, Any]]:
        """The statements, stored."""
        known = statements.fingerprint or self._job or uuid.uuid4().hex

        def figures(stored: Statements) -> dict[str, Any]:
            counts = stored.counts()
            return {
                "rows": sum(each["statements"] for each in counts),
                "bad": sum(each["bad"] for each in counts),
                "files": len(counts),
                "_prefixes": stored.prefixes(),
            }

        stored, noted = self._stages.step(
            "statements", (known, SCHEMA), statements.stored, figures, statements.at
        )
        if noted["bad"]:
            stored.check()
        return stored, noted

    def _numbered(self, statements: Statements, mark: str) -> TermCounts:
        """The terms in order, stored, and their counts."""
        parts = self._wish.partitions

        def write(place: str) -> Any:
            return write_from_rows(ordered_terms(statements.parsed, parts), place)

        def figures(ordered: Any) -> dict[str, Any]:
            counts = count_terms(ordered)
            sizes = [int(size) for size in np.diff([*counts.ranges, counts.terms])]
            return {"rows": counts.terms, "parts": sizes, "_ranges": counts.ranges}

        _, noted = self._stages.step("terms", (mark, parts), write, figures)
        return TermCounts(tuple(noted["_ranges"]), noted["rows"])

    def _encoded(self, statements: Statements, counts: TermCounts) -> tuple[Any, Any]:
        """Tables for Spark: the terms with ids, and the distinct statements as ids."""
        known, parts = self._mark_of("terms"), self._wish.partitions
        ordered = self._spark.read.parquet(self._place_of("terms"))
        terms, _ = self._stages.step(
            "ids", known, lambda place: write_from_rows(numbered(ordered, counts), place)
        )

        def write(place: str) -> Any:
            rows = encode(statements.parsed, ordered, counts, parts).distinct()
            return write_from_rows(rows, place)

        triples, _ = self._stages.step(
            "triples", known, write, lambda frame: {"rows": frame.count()}
        )
        return terms, triples

    def _closed(
        self, terms: Any, triples: Any, files: int, prefixes: Mapping[str, str]
    ) -> tuple[Any, Extra]:
        """All facts, inferred ones included, and the other parts of the closure."""
        from triplestore.loaders.spark.closure import close

        wish, stages = self._wish, self._stages
        made: list[Any] = []

        def rows() -> Any:
            made.append(
                close(
                    self._spark,
                    triples=triples,
                    terms=terms.select("id", "key"),
                    reason=wish.reason,
                    rules=wish.rules,
                    ontology=wish.ontology,
                    work=f"{stages.place}/rounds",
                    files=files,
                    prefixes=prefixes,
                    options=wish.closing,
                    progress=stages.told,
                )
            )
            named = triples.where("g IS NOT NULL").unionByName(made[0].quads).distinct()
            return (
                made[0]
                .facts.selectExpr(
                    "s", "p", "o", "CAST(NULL AS long) g", "CAST(status AS int) status", "count"
                )
                .unionByName(named.selectExpr("s", "p", "o", "g", "1 status", "0L count"))
            )

        def figures(frame: Any) -> dict[str, Any]:
            closure = made[0]
            extra = Extra(closure.tuples, tuple(closure.new_keys), closure.meta)
            noted = {"rows": frame.count(), "_extra": extra.to_json(), "figures": closure.figures}
            closure.release()
            return noted

        given = contents_of([wish.rules, wish.ontology])
        known = (self._mark_of("triples"), wish.reason, given)
        frame, noted = stages.table("closure", known, rows, figures)
        return frame, Extra.from_json(noted["_extra"])

    def _mark_of(self, name: str) -> str:
        return str(self._stages.figure(name, "mark"))

    def _place_of(self, name: str) -> str:
        """The place of the table of a stage."""
        return f"{self._stages.place}/{name}-{self._mark_of(name)}"

    # -- the end ---------------------------------------------------------------------------------

    def _write_tables(
        self,
        terms: Any,
        triples: Any,
        counts: TermCounts,
        meta: Mapping[str, bytes],
        extra: Extra,
        noted: Mapping[str, Any],
    ) -> None:
        """Write the tables, if they are wanted."""
        place = self._place_of_tables
        if place is not None:
            counted = {"sources": noted["files"], "bad": noted["bad"]}
            write_tables(self._spark, place, terms, triples, counts.terms, meta, extra, **counted)

    @property
    def _place_of_tables(self) -> str | None:
        return self._tables or (self._target if is_uri(self._target) else None)

    def _keys(self, counts: TermCounts) -> Keys:
        """The terms, read by this process."""
        return read_blocks(self._place_of("terms"), counts.ranges, counts.terms)

    def _rows(self, statements: Statements, counts: TermCounts) -> IdRows:
        """The statements, read by this process."""
        total, ordered = self._stages.figure("statements", "rows"), self._place_of("terms")
        return read_chunks(statements.tables, ordered, counts.ranges, total)

    def _make(
        self,
        target: Path,
        counts: TermCounts,
        rows: Callable[[], IdRows],
        meta: Mapping[str, bytes],
        extra: Extra,
    ) -> None:
        """Make a new store beside its place, close it, and rename it."""
        fresh = making(target)
        with removed_on_failure(fresh):
            write_store(
                fresh,
                lambda: self._keys(counts),
                rows,
                meta,
                extra=extra,
                files=self._wish.files,
            )
            if self._wish.closure == "local":
                self._infer(fresh)
            self._put_in_place(fresh, target)

    def _infer(self, fresh: Path) -> None:
        """Infer in a store by the given rules."""
        wish = self._wish
        if not wish.infers and is_store(fresh):
            return
        store = Store(fresh)
        try:
            if wish.infers:
                store.reason(*wish.reason, rules=wish.rules, ontology=wish.ontology)
        finally:
            store.close()

    def _put_in_place(self, fresh: Path, target: Path) -> None:
        made = {"known": self._known, "store": name_of_store(fresh)}
        write_text(self._spark, f"{self._stages.place}/{MADE}", json.dumps(made))
        put_in_place(fresh, target)

    def _imported(self, counts: TermCounts, noted: Mapping[str, Any]) -> Imported:
        made = {stage["stage"]: stage for stage in self._stages.done}
        rows = made.get("triples", made["statements"])["rows"]
        seconds = time.monotonic() - self._began
        stages = tuple(self._stages.done), tuple(self._stages.resumed)
        return Imported(
            self._target, rows, counts.terms, noted["files"], noted["bad"], seconds, *stages
        )


def contents_of(given: Any) -> Any:
    """Rules and ontologies for a fingerprint: files by their contents.

    >>> contents_of(["ex:a[?x] :- ex:b[?x] .", None])
    ['ex:a[?x] :- ex:b[?x] .', 'None']
    """
    if isinstance(given, list | tuple):
        return [contents_of(each) for each in given]
    if isinstance(given, Path) or (isinstance(given, str) and len(given) < _LONGEST_PATH):
        path = Path(given)
        if path.is_file():
            return [str(path), blake2b(path.read_bytes(), digest_size=16).hexdigest()]
    return str(given)
