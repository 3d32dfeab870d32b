"""Graphs on Spark: connected components, strongly connected components, and reachability.

Start reading at `connected`, `reachable`. An edge is a row (a, b); edges need not be distinct.
Nothing here follows paths edge by edge: components are found by alternating star contraction
(large-star, small-star: O(log² n) rounds, no star is larger than the edges), closures by doubling
(the number of rounds is the logarithm of the longest path).

Every step is written to files under the work directory, which the next one reads. The driver
handles graphs of at most `most` edges.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.errors import BudgetError
from triplestore.loaders.spark.closure.facts import Frame, from_arrow, to_arrow
from triplestore.loaders.spark.thresholds import SPARK

I64 = NDArray[np.int64]

MAX_STEPS = 200
"""Maximum number of steps; the algorithms need some twenty."""


class Graphs:
    """Algorithms on graphs.

    most   maximum number of edges that the driver handles
    steps  number of steps on Spark
    """

    def __init__(self, spark: Any, work: str, most: int) -> None:
        self.spark, self.most, self.steps = spark, most, 0
        self._work, self._made = work.rstrip("/"), 0

    def kept(self, rows: Frame) -> tuple[Frame, int]:
        """Rows written and read back, and their number."""
        self._made += 1
        self.steps += 1
        path = f"{self._work}/graph-{self._made}-{id(self)}"
        rows.write.mode("overwrite").parquet(path)
        rows = self.spark.read.parquet(path)
        return rows, rows.count()

    def _local(self, names: tuple[str, str], one: I64, other: I64) -> Frame:
        import pyarrow as pa

        return from_arrow(self.spark, pa.table({names[0]: one, names[1]: other}))

    # -- connected components ------------------------------------------------------------------

    def connected(self, edges: Frame) -> Frame:
        """The component of each node that has an edge: (node, component), the least node in it."""
        edges, count = self.kept(edges.select("a", "b").dropDuplicates())
        if count <= self.most:
            a, b = _columns(edges)
            nodes, roots = united(a, b)
            return self._local(("node", "component"), nodes, roots)
        nodes = edges.selectExpr("a AS node").unionAll(edges.selectExpr("b AS node"))
        stars, count = self._contracted(edges)
        found = nodes.dropDuplicates().join(stars, nodes["node"] == stars["u"], "left")
        return self.kept(found.selectExpr("node", "coalesce(v, node) AS component"))[0]

    def _contracted(self, edges: Frame) -> tuple[Frame, int]:
        """Edges (u, v) from each node to the least node of its component, except from that node."""
        links, count = self.kept(
            edges.where("a <> b").selectExpr("greatest(a, b) AS u", "least(a, b) AS v")
        )
        before: Any = None
        for _ in range(MAX_STEPS):
            links, count = self.kept(_small_star(_large_star(links)))
            (sums,) = links.selectExpr("bit_xor(xxhash64(u, v)) AS sum").collect()
            if (count, sums[0]) == before:
                return links, count
            before = (count, sums[0])
        raise BudgetError(f"the components of a graph were not found in {MAX_STEPS} steps")

    # -- what is reached -------------------------------------------------------------------------

    def reachable(self, edges: Frame, starts: str = "") -> Frame:
        """All pairs (a, b) with a path of at least one edge from a to b.

        starts  a condition on `a`, in SQL, for the wanted pairs
        """
        edges, count = self.kept(edges.select("a", "b").dropDuplicates())
        if count <= self.most:
            found = self._reached_here(edges, starts)
            if found is not None:
                return found
        begin = edges.where(starts).select("a").dropDuplicates() if starts else None
        knots = self._knots(edges, count)
        if knots is None:
            alone = edges.where("a = b")
            return self._doubled(edges.where("a <> b"), begin).unionAll(_begun(alone, begin))
        named, cyclic = knots
        lifted = _renamed(edges, named).where("a <> b").dropDuplicates()
        nodes = edges.selectExpr("a AS node").unionAll(edges.selectExpr("b AS node"))
        knot_of = nodes.dropDuplicates().join(named, "node", "left")
        knot_of = knot_of.selectExpr("node", "coalesce(knot, node) AS knot")
        one, other = knot_of.selectExpr("node AS s", "knot AS a"), knot_of
        if begin is not None:
            one = one.join(begin.toDF("s"), "s", "left_semi")
            begin = one.select("a").dropDuplicates()
        own = _begun(cyclic.selectExpr("knot AS a", "knot AS b"), begin)
        pairs = self._doubled(lifted, begin).unionAll(own)
        ends = other.selectExpr("node AS t", "knot AS b")
        return pairs.join(one, "a").join(ends, "b").selectExpr("s AS a", "t AS b")

    def _reached_here(self, edges: Frame, starts: str) -> Frame | None:
        """The same computed by the driver; None if there may be too many pairs."""
        a, b = _columns(edges)
        nodes, places = np.unique(np.concatenate([a, b]), return_inverse=True)
        numbers = places.astype(np.uint64)
        keys = numbers[: len(a)] << np.uint64(32) | numbers[len(a) :]
        if len(keys) and TransitiveClosure.estimate_size(keys).pairs > SPARK.driver_pairs:
            return None
        closure = TransitiveClosure.build(keys)
        if closure.count() > SPARK.driver_pairs:
            return None
        pairs = np.concatenate([np.zeros(0, np.uint64), *closure.blocks()])
        one, other = nodes[pairs >> np.uint64(32)], nodes[pairs & np.uint64(0xFFFFFFFF)]
        found = self._local(("a", "b"), one, other)
        return found.where(starts) if starts else found

    def _knots(self, edges: Frame, count: int) -> tuple[Frame, Frame] | None:
        """Strong components of more than one node, as (node, knot), and all knots with a cycle,
        including single nodes with an edge to themselves. None without cycles of several nodes.
        """
        rest, count = self._trimmed(edges.where("a <> b"), count)
        if not count:
            return None
        found: list[Frame] = []
        while count > self.most:
            named, rest, count = self._coloured(rest)
            found.append(named)
            if count:
                rest, count = self._trimmed(rest, count)
        if count:
            nodes, roots = knots(*_columns(rest))
            found.append(self._local(("node", "knot"), nodes, roots))
        named = reduce(lambda one, other: one.unionAll(other), found)
        named, _ = self.kept(named)
        single = edges.where("a = b").selectExpr("a AS node").join(named, "node", "left_anti")
        cyclic = named.select("knot").dropDuplicates().unionAll(single.selectExpr("node AS knot"))
        return named, cyclic

    def _trimmed(self, edges: Frame, count: int) -> tuple[Frame, int]:
        """Remove edges at nodes without predecessors or successors, as long as that helps."""
        for _ in range(MAX_STEPS):
            if count <= self.most:
                return edges, count
            kept = edges.join(edges.selectExpr("b AS a").dropDuplicates(), "a", "left_semi")
            kept = kept.join(edges.selectExpr("a AS b").dropDuplicates(), "b", "left_semi")
            edges, left = self.kept(kept.select("a", "b"))
            if left > 0.9 * count:
                return edges, left
            count = left
        return edges, count

    def _coloured(self, edges: Frame) -> tuple[Frame, Frame, int]:
        """Some strong components, by forward colours and a backward search; and the other edges.

        The colour of a node is the least node that reaches it. The nodes of a colour that reach
        the node of that name are one component.
        """
        nodes = edges.selectExpr("a AS node").unionAll(edges.selectExpr("b AS node"))
        colours, _ = self.kept(nodes.dropDuplicates().selectExpr("node", "node AS colour"))
        changed = -1
        for _ in range(1 << 20):
            if changed == 0:
                break
            sent = edges.join(colours.withColumnRenamed("node", "a"), "a")
            least = sent.groupBy("b").agg({"colour": "min"}).toDF("node", "least")
            colours = colours.join(least, "node", "left").selectExpr(
                "node", "least(colour, coalesce(least, colour)) AS colour", "colour AS was"
            )
            colours, _ = self.kept(colours)
            changed = colours.where("colour <> was").limit(1).count()
            colours = colours.select("node", "colour")
        one = colours.selectExpr("node AS a", "colour AS ca")
        other = colours.selectExpr("node AS b", "colour AS cb")
        inner, _ = self.kept(edges.join(one, "a").join(other, "b").where("ca = cb"))
        back, size = self.kept(colours.where("node = colour"))
        while True:
            more = inner.join(back.selectExpr("node AS b"), "b").selectExpr(
                "a AS node", "ca AS colour"
            )
            back, now = self.kept(back.unionAll(more).dropDuplicates())
            if now == size:
                break
            size = now
        sizes = back.groupBy("colour").count().where("count > 1").select("colour")
        named, _ = self.kept(back.join(sizes, "colour").selectExpr("node", "colour AS knot"))
        left = inner.join(back.selectExpr("node AS a"), "a", "left_anti")
        left = left.join(back.selectExpr("node AS b"), "b", "left_anti")
        return named, *self.kept(left.select("a", "b"))

    def _doubled(self, edges: Frame, begin: Frame | None) -> Frame:
        """All pairs of a graph without cycles: paths of up to 2^k edges from those of half.

        begin  the first nodes (a) of wanted paths; None for all
        """
        exact, count = self.kept(edges)  # paths of exactly 2^k edges
        pairs = _begun(exact, begin)  # paths of up to 2^k
        while count:
            ahead = exact.selectExpr("a AS b", "b AS c")
            exact, count = self.kept(
                exact.join(ahead, "b").selectExpr("a", "c AS b").dropDuplicates()
            )
            if count:
                ends = exact.selectExpr("a AS b", "b AS c")
                more = pairs.join(ends, "b").selectExpr("a", "c AS b")
                longer = _begun(exact, begin).unionAll(more)
                pairs, _ = self.kept(pairs.unionAll(longer).dropDuplicates())
        return pairs


def _begun(pairs: Frame, begin: Frame | None) -> Frame:
    """The pairs that begin at the given nodes."""
    return pairs if begin is None else pairs.join(begin, "a", "left_semi").select("a", "b")


def _renamed(edges: Frame, named: Frame) -> Frame:
    one = named.selectExpr("node AS a", "knot AS ka")
    other = named.selectExpr("node AS b", "knot AS kb")
    joined = edges.join(one, "a", "left").join(other, "b", "left")
    return joined.selectExpr("coalesce(ka, a) AS a", "coalesce(kb, b) AS b")


def _large_star(links: Frame) -> Frame:
    """Link every greater neighbour of a node to the least node of its neighbourhood."""
    both = links.unionAll(links.selectExpr("v AS u", "u AS v"))
    least = both.groupBy("u").agg({"v": "min"}).toDF("u", "m")
    moved = both.where("v > u").join(least, "u")
    return moved.selectExpr("v AS u", "least(u, m) AS v").dropDuplicates()


def _small_star(links: Frame) -> Frame:
    """Link every smaller neighbour of a node, and the node, to the least of them."""
    down = links.selectExpr("greatest(u, v) AS u", "least(u, v) AS v")
    least = down.groupBy("u").agg({"v": "min"}).toDF("u", "m")
    moved = down.join(least, "u").where("v <> m").selectExpr("v AS u", "m AS v")
    own = least.selectExpr("u", "m AS v")
    return moved.unionAll(own).where("u <> v").dropDuplicates()


def _columns(edges: Frame) -> tuple[I64, I64]:
    """The edges, fetched to the driver."""
    rows = to_arrow(edges.select("a", "b"))
    return (
        rows.column("a").to_numpy().astype(np.int64),
        rows.column("b").to_numpy().astype(np.int64),
    )


# -- on the driver --------------------------------------------------------------------------------


def united(a: I64, b: I64) -> tuple[I64, I64]:
    """The nodes of edges, and the least node of each one's component.

    >>> [part.tolist() for part in united(np.array([5, 3, 7]), np.array([3, 1, 8]))]
    [[1, 3, 5, 7, 8], [1, 1, 1, 7, 7]]
    """
    nodes, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    one, other = places[: len(a)], places[len(a) :]
    root = np.arange(len(nodes))
    while True:
        low = np.minimum(root[one], root[other])
        before = root.copy()
        np.minimum.at(root, root[one], low)
        np.minimum.at(root, root[other], low)
        while True:  # jump to the end of each path
            ahead = root[root]
            if (ahead == root).all():
                break
            root = ahead
        if (root == before).all():
            return nodes, nodes[root]


def knots(a: I64, b: I64) -> tuple[I64, I64]:
    """The nodes in strong components of more than one node, and the least node of each.

    >>> [part.tolist() for part in knots(np.array([1, 2, 3, 3]), np.array([2, 3, 1, 4]))]
    [[1, 2, 3], [1, 1, 1]]
    """
    from triplestore.datalog.slices import components

    nodes, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    following: list[list[int]] = [[] for _ in range(len(nodes))]
    for source, target in zip(places[: len(a)].tolist(), places[len(a) :].tolist(), strict=True):
        following[source].append(target)
    numbers = np.array(components(following), np.int64)
    order = np.argsort(numbers, kind="stable")
    numbers = numbers[order]
    first = np.flatnonzero(np.r_[True, numbers[1:] != numbers[:-1]])
    sizes = np.diff(np.r_[first, len(numbers)])
    roots = np.repeat(nodes[order[first]], sizes)
    several = np.repeat(sizes, sizes) > 1
    found = np.argsort(nodes[order][several])
    return nodes[order][several][found], roots[several][found]
