"""The dictionary on Spark: the distinct terms of all chunks to ids in the order of their keys.

Start reading at `ordered_terms`. The plan:

1. The blocks of keys of all chunks are sorted; their first keys are a sample, by which the driver
   chooses ranges of keys of similar size.
2. The blocks are cut at the ends of the ranges and shuffled by range: the only shuffle of strings.
   A term that is everywhere comes once from each chunk.
3. Each range is gathered and sorted as by the local loader. It gives its distinct terms in order,
   and for each block the ranks of its terms in the range.

The counts of the ranges, a few numbers on the driver, turn ranks into ids. Always true: ids are 1,
2, ... without gaps, in the order of the keys' bytes, which is the order of the local loader, and
depend on the set of terms only, not on chunks and ranges. Terms are compared byte by byte.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from pyspark.sql import functions as sf

from triplestore.data_classes import data_class
from triplestore.loaders.spark.importing.chunks import (
    batches_of,
    binary_array,
    key_blocks,
    ordered_keys,
    rows_of,
    spans_in,
)
from triplestore.loaders.spark.jobs.workers import Batches, mapped
from triplestore.loaders.spark.thresholds import SPARK
from triplestore.terms.collector import TermCollector
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.spans import with_hashes

_CUT = "range int, chunk long, place long, keys binary, sizes binary"
SCHEMA = "range int, place long, keys binary, sizes binary, chunk long, numbers binary"
"""A row is either a block of distinct keys, with the number of keys before it in its range as
`place`, or the ranks of the terms of a chunk that are in a range (`numbers`; `place` orders them).
"""


def ordered_terms(parsed: Any, partitions: int) -> Any:
    """The distinct terms of chunks by ranges, and the ranks of each chunk's terms."""
    blocks = parsed.where("keys IS NOT NULL")
    ends = choose_ends(blocks, partitions)
    cut = mapped(blocks.select("chunk", "place", "keys", "sizes"), partial(cut_blocks, ends), _CUT)
    by_range = cut.repartition(len(ends) + 1, "range")
    return mapped(by_range.sortWithinPartitions("range", "chunk", "place"), number_ranges, SCHEMA)


def choose_ends(blocks: Any, partitions: int) -> list[bytes]:
    """The keys at which ranges begin, without the first range."""
    sample = sorted((bytes(row[0]), row[1]) for row in blocks.select("first", "bytes").collect())
    total = sum(size for _, size in sample)
    ranges = max(1, total // SPARK.range_bytes, min(partitions, total // SPARK.block_bytes))
    ends, before, last = set(), 0, 0  # a set: blocks of several chunks may begin with one key
    for first, size in sample:
        number = before * ranges // total
        if number > last:
            ends.add(first)
        before, last = before + size, number
    return sorted(ends)


def cut_blocks(ends: Sequence[bytes], batches: Batches) -> Batches:
    """Blocks of sorted keys, cut where ranges begin."""
    return batches_of(_cut(ends, batches), _CUT)


def _cut(ends: Sequence[bytes], batches: Batches) -> Iterator[dict[str, Any]]:
    for row in rows_of(batches):
        data = row["keys"].to_pybytes()
        _, offsets = spans_in(data, row["sizes"])
        places = offsets.tolist()

        def key(i: int, data: bytes = data, places: list[int] = places) -> bytes:
            return data[places[i] : places[i + 1]]

        count = len(places) - 1
        low, high = bisect_right(ends, key(0)), bisect_right(ends, key(count - 1))
        cuts = [bisect_left(range(count), ends[i], key=key) for i in range(low, high)]
        for number, (lo, hi) in enumerate(pairwise([0, *cuts, count]), low):
            if lo < hi:
                keys, sizes = data[places[lo] : places[hi]], row["sizes"][4 * lo : 4 * hi]
                yield {**row, "range": number, "keys": keys, "sizes": sizes.to_pybytes()}


def number_ranges(batches: Batches) -> Batches:
    """Blocks in the order of their ranges to `SCHEMA`."""
    return batches_of(_numbered(batches), SCHEMA)


def _numbered(batches: Batches) -> Iterator[dict[str, Any]]:
    for number, rows in groupby(rows_of(batches), lambda row: row["range"]):
        collector = TermCollector(Dictionary())
        found = []
        for row in rows:
            keys, offsets = spans_in(row["keys"], row["sizes"])
            starts = offsets[:-1]
            spans = with_hashes(keys, starts + 1, np.diff(offsets) - 1, keys[starts])
            found.append((row["chunk"], row["place"], collector.add(*spans)))
        ranks, keys, offsets = ordered_keys(collector)
        for before, block in key_blocks(keys, offsets):
            yield {"range": number, "place": before, **block}
        for chunk, place, numbers in found:
            own = ranks[numbers].tobytes()
            yield {"range": number, "place": place, "chunk": chunk, "numbers": own}


@data_class
class TermCounts:
    """Numbers of terms on the driver.

    ranges  for each range, the number of terms in the ranges before it
    terms   number of terms
    """

    ranges: tuple[int, ...]
    terms: int


def count_terms(ordered: Any) -> TermCounts:
    """The counts, by one pass over the sizes in the result of `ordered_terms`."""
    blocks = ordered.where("keys IS NOT NULL").select("range", sf.octet_length("sizes").alias("n"))
    found = blocks.groupBy("range").agg(sf.sum("n").alias("n")).collect()
    sizes = {row["range"]: row["n"] // 4 for row in found}
    counts = [sizes.get(number, 0) for number in range(max(sizes, default=-1) + 1)]
    return TermCounts(tuple([0, *np.cumsum(counts).tolist()][:-1]), sum(counts))


def numbered(ordered: Any, counts: TermCounts) -> Any:
    """The terms with their ids: a DataFrame of (id, key)."""
    blocks = ordered.where("keys IS NOT NULL").select("range", "place", "keys", "sizes")
    return mapped(blocks, partial(_with_ids, counts.ranges), "id long, key binary")


def _with_ids(before: Sequence[int], batches: Batches) -> Batches:
    import pyarrow as pa

    for row in rows_of(batches):
        keys, offsets = spans_in(row["keys"], row["sizes"])
        first = before[row["range"]] + row["place"] + 1
        ids = pa.array(np.arange(first, first + len(offsets) - 1))
        yield pa.RecordBatch.from_arrays([ids, binary_array(keys, offsets)], names=["id", "key"])
