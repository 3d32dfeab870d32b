"""Walks over a directed graph: strongly connected components and breadth-first search.

A graph is given as lists: the successors of node v are cols[starts[v] : starts[v + 1]]. Walks are
resumable: a call takes about `limit` steps and leaves in its arrays what the next call needs.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import kernel

NONE = np.uint32(0xFFFFFFFF)
"""No label, no node."""


@kernel("i64(i64r, u32r, u32r, i64w, u32w, u32w, u32w, u32w, u32w, i64w, i64)")
def number_components(starts, cols, roots, edge, number, low, label, calls, stack, state, limit):
    """Label the strongly connected components in the order in which Tarjan's search finishes them.

    A component has a greater label than all it leads to, and the labels of what the search found
    below it are contiguous: this is the post-order of a tree cover.

    roots         : all nodes, in the order in which searches begin
    edge          : i64[n], at first starts[:-1]
    number, low   : u32[n], number at first 0
    label         : u32[n], at first NONE; the result
    calls, stack  : u32[n]
    state         : i64[5]: roots done, depth of calls, depth of stack, nodes numbered, labels given
    Return 1 when done, 0 if there is more to do.
    """
    root, depth, height, count, labels = state[0], state[1], state[2], state[3], state[4]
    steps = 0
    while steps < limit:
        if depth == 0:
            while root < roots.size and number[roots[root]] != 0:
                root += 1
            steps += 1
            if root == roots.size:
                break
            v = roots[root]
            calls[0] = v
            depth = 1
            count += 1
            number[v] = np.uint32(count)
            low[v] = np.uint32(count)
            stack[height] = v
            height += 1
        v = calls[depth - 1]
        at = edge[v]
        stop = starts[v + 1]
        down = False
        lowest = low[v]
        while at < stop:
            w = cols[at]
            at += 1
            steps += 1
            if number[w] == 0:
                count += 1
                number[w] = np.uint32(count)
                low[w] = np.uint32(count)
                calls[depth] = w
                depth += 1
                stack[height] = w
                height += 1
                down = True
                break
            if label[w] == NONE and number[w] < lowest:
                lowest = number[w]
        edge[v] = at
        low[v] = lowest
        if down:
            continue
        steps += 1
        if lowest == number[v]:
            while True:
                height -= 1
                w = stack[height]
                label[w] = np.uint32(labels)
                steps += 1
                if w == v:
                    break
            labels += 1
        depth -= 1
        if depth > 0:
            u = calls[depth - 1]
            if lowest < low[u]:
                low[u] = lowest
    state[0], state[1], state[2], state[3], state[4] = root, depth, height, count, labels
    return np.int64(depth == 0 and root == roots.size)


@kernel("i64(i64r, u32r, u32w, u32w, i64w, i64, i64)")
def spread(starts, cols, parent, queue, state, target, limit):
    """Breadth-first search from the nodes in the queue.

    parent : u32[n], NONE for nodes not found yet; a node first met gets the node it was met from
    queue  : u32[n + the nodes to begin with], the nodes in the order in which they are found; those
             to begin with need no parent, so that they are found only when an edge leads to them
    state  : i64[4]: nodes of the queue done, nodes in the queue, edges followed, edges of the
             current node done
    target : a node at which to stop when it is found, or -1
    Return 1 when done (or the target is found), 0 if there is more to do.
    """
    at, size, seen, inside = state[0], state[1], state[2], state[3]
    steps = 0
    found = False
    while at < size and steps < limit and not found:
        v = queue[at]
        place = starts[v] + inside
        stop = starts[v + 1]
        while place < stop and steps < limit and not found:
            w = cols[place]
            place += 1
            steps += 1
            if parent[w] == NONE:
                parent[w] = v
                queue[size] = w
                size += 1
                found = np.int64(w) == target
        if place == stop:
            at += 1
            inside = 0
            steps += 1
        else:
            inside = place - starts[v]
    state[0], state[1], state[2], state[3] = at, size, seen + steps, inside
    return np.int64(found or at == size)
