"""Class hierarchies: the classes of each member, and how many subclass rules derive them."""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import kernel


@kernel(
    "void(i64r, u32r, u8r, i64r, u32r, u8r, u8w, u32w, u32w, u32w, u32w, u32w, u32w, i64w)",
)
def close_members(
    starts,
    classes,
    given,
    edge_starts,
    edge_heads,
    concluded,
    truth,
    counts,
    stack,
    touched,
    out_class,
    out_member,
    out_count,
    state,
):
    """Follow the edges from the given classes of each member to all classes it is in.

    starts, classes, given : the candidate classes of member m are classes[starts[m] : starts[m +
                             1]];
                             it is asserted in those where `given` is 1
    edge_starts, edge_heads: class c implies edge_heads[edge_starts[c] : edge_starts[c + 1]]
    concluded              : 1 for classes that edges lead to; only those are written
    truth, counts          : u8, u32[classes], all 0 before and after; stack, touched: u32[classes]
    out_*                  : class, member and number of edges for each class found
    state                  : i64[3]: the next member, the rows written, the edges followed; a member
                             for whose rows there is no room is left for the next call
    """
    member = state[0]
    rows = state[1]
    edges = state[2]
    while member < starts.size - 1:
        depth = 0
        found = 0
        for place in range(starts[member], starts[member + 1]):
            c = classes[place]
            if given[place] == 1 and truth[c] == 0:
                truth[c] = 1
                stack[depth] = c
                depth += 1
                touched[found] = c
                found += 1
        followed = 0
        while depth > 0:
            depth -= 1
            c = stack[depth]
            for edge in range(edge_starts[c], edge_starts[c + 1]):
                head = edge_heads[edge]
                counts[head] += np.uint32(1)
                followed += 1
                if truth[head] == 0:
                    truth[head] = 1
                    stack[depth] = head
                    depth += 1
                    touched[found] = head
                    found += 1
        fits = rows + found <= out_class.size
        for i in range(found):
            c = touched[i]
            if fits and concluded[c] == 1:
                out_class[rows] = c
                out_member[rows] = np.uint32(member)
                out_count[rows] = counts[c]
                rows += 1
            truth[c] = 0
            counts[c] = 0
        if not fits:
            break
        edges += followed
        member += 1
    state[0] = member
    state[1] = rows
    state[2] = edges
