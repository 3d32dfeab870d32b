"""Work before a commit: large parts are written to files, so that the journal stays short.

Start reading at `kept_terms` (new terms) and `kept_step` (changes and layers); `logged_steps` are
the steps in the form of the record. Nothing is visible before the record is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from triplestore.relations import Changes, Layer
from triplestore.storage.disk import FileBatch
from triplestore.storage.files.sections import FileRef
from triplestore.storage.record import NewTermKeys
from triplestore.storage.thresholds import StorageThresholds
from triplestore.terms import Dictionary, TermSegment

CommitStep: TypeAlias = Changes | Layer


def add_terms(dictionary: Dictionary, segment: TermSegment) -> None:
    """Add a segment, and the parts of its triple terms."""
    dictionary.add_segment(segment)
    if segment.triples is None:
        # Late: loads need it, most stores do not.
        from triplestore.terms.triples.complete_parts import complete_parts

        complete_parts(dictionary, segment)


def seal_many(
    dictionary: Dictionary, committed: int, term_count: int, thresholds: StorageThresholds
) -> None:
    """Seal new live terms into a segment if there are many."""
    sealed = dictionary.sealed_size
    if term_count - max(sealed, committed) >= thresholds.large_rows:
        dictionary.replace([], dictionary.segment_of(sealed + 1, term_count))


def kept_terms(
    batch: FileBatch,
    dictionary: Dictionary,
    committed: int,
    term_count: int,
    thresholds: StorageThresholds,
) -> list[NewTermKeys | FileRef]:
    """The terms committed + 1 .. term_count: keys, or the files of large segments."""
    terms: list[NewTermKeys | FileRef] = []
    done = committed
    for segment in dictionary.segments:
        if segment.first_id <= done or not _is_large(segment.count, segment.nbytes, thresholds):
            continue
        if segment.first_id > done + 1:
            terms.append(NewTermKeys(done + 1, dictionary.new_keys(done, segment.first_id - 1)))
        dictionary.know_parts(segment)
        kept = batch.terms(segment)
        dictionary.replace([segment], kept)
        ref = batch.ref_of(kept)
        assert ref is not None
        terms.append(ref)
        done = segment.last_id
    if done < term_count:
        terms.append(NewTermKeys(done + 1, dictionary.new_keys(done, term_count)))
    return terms


def kept_step(batch: FileBatch, step: CommitStep, thresholds: StorageThresholds) -> CommitStep:
    """The same step, as a layer in a file if it is large."""
    if isinstance(step, Changes):
        return batch.layer(Layer.build(step)) if _is_large(len(step), 0, thresholds) else step
    return batch.layer(step) if _is_large(step.rows, step.nbytes, thresholds) else step


def logged_steps(batch: FileBatch, steps: Sequence[CommitStep]) -> list[CommitStep | FileRef]:
    """The steps in the form of the record: files by name."""
    logged: list[CommitStep | FileRef] = []
    for step in steps:
        ref = batch.ref_of(step) if isinstance(step, Layer) else None
        logged.append(step if ref is None else ref)
    return logged


def _is_large(rows: int, nbytes: int, thresholds: StorageThresholds) -> bool:
    return rows >= thresholds.large_rows or nbytes >= thresholds.large_bytes
