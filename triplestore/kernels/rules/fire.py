"""Fire small rules in one call: from the facts of a changed atom to the conclusions.

A rule of one or two atoms over relations of two columns takes about ten calls of numpy, which cost
far more than the work on few rows. `fire_rules` does all of it for rules that differ in constants
only. Always true: `delta` and `run` are sorted and distinct; each match is written once per rule;
nothing is allocated here. `climb` repeats this for what the rules conclude.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel
from triplestore.kernels.rows.sorted_sets import place_near

_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
SPEC = 10
"""The number of integers that describe a rule."""

_MIX = np.uint64(0x9E3779B97F4A7C15)


@helper
def term_of(code, first, second, third, constants, base):
    """The value of a term code: 0 and 1 are the ids of the changed fact, 2 is the id that was
    found, -1, -2, ... are the constants of the rule."""
    if code == 0:
        return first
    if code == 1:
        return second
    if code == 2:
        return third
    return np.uint64(constants[base - code - 1])


@helper
def is_in(keys, key):
    """Whether a key is in a sorted array."""
    at = place_near(keys, key, 0)
    return at < keys.size and keys[at] == key


@kernel("i64(u64r, u64r, u64r, u64r, i64r, u32r, i64, u64w, i64w)")
def fire_rules(delta, run, minus, less, spec, constants, most, out, seen):
    """Write the conclusions of some rules, as far as there is room in `out`.

    delta    : changed facts; the first atom of the rules matches them
    run      : facts of the other atom, with its known place in front
    minus, less : facts that the other atom must not match, first id in front
    spec     : codes of terms (`term_of`) in pairs: those of the changed atom, those of the other
               atom with the known place in front (the second code is 2 if it is to be found), and
               those of the head; then 1 if both places of the other atom are the same variable; the
               number of atoms, of constants per rule, and of rules
    most     : maximum number of changed facts to look at, and of conclusions
    seen     : the number of changed facts that were looked at
    Returns the number of conclusions, or -1 if there were more than `most`.
    """
    turned, atoms, width, rules = spec[6], spec[7], spec[8], spec[9]
    found = 0
    looked = 0
    for rule in range(rules):
        base = rule * width
        start, stop = 0, delta.size
        if spec[0] < 0:
            first = np.uint64(constants[base - spec[0] - 1])
            start = place_near(delta, first << _32, 0)
            stop = place_near(delta, (first + np.uint64(1)) << _32, start)
        if looked + stop - start > most:
            return -1
        at = 0
        for i in range(start, stop):
            first, second = delta[i] >> _32, delta[i] & _LOW
            if spec[1] == 0:
                if first != second:
                    continue
            elif spec[1] < 0 and second != np.uint64(constants[base - spec[1] - 1]):
                continue
            looked += 1
            if atoms == 1:
                if found < out.size:
                    a = term_of(spec[4], first, second, first, constants, base)
                    b = term_of(spec[5], first, second, first, constants, base)
                    out[found] = a << _32 | b
                found += 1
                continue
            front = term_of(spec[2], first, second, first, constants, base)
            key = front << _32
            if spec[3] != 2:
                key |= term_of(spec[3], first, second, first, constants, base)
            at = place_near(run, key, at)
            while at < run.size:
                key2 = run[at]
                third = key2 & _LOW
                if spec[3] == 2:
                    if key2 >> _32 != front:
                        break
                elif key2 != key:
                    break
                fact = third << _32 | front if turned == 1 else key2
                if not (
                    (minus.size > 0 and is_in(minus, fact)) or (less.size > 0 and is_in(less, fact))
                ):
                    if found < out.size:
                        a = term_of(spec[4], first, second, third, constants, base)
                        b = term_of(spec[5], first, second, third, constants, base)
                        out[found] = a << _32 | b
                    found += 1
                if spec[3] != 2:
                    break
                at += 1
            if found > most:
                return -1
    seen[0] = looked
    return found


@helper
def starts(first, second, spec, at, constants, base):
    """Whether the changed atom matches a fact."""
    if spec[at] < 0 and first != np.uint64(constants[base - spec[at] - 1]):
        return False
    if spec[at + 1] == 0:
        return first == second
    return spec[at + 1] > 0 or second == np.uint64(constants[base - spec[at + 1] - 1])


@helper
def sift(found, n, held, more, out, total, table):
    """Append those of `n` conclusions that are new to `total` others; return the new total, or -1
    if there is no room."""
    mask = table.size - 1
    for i in range(n):
        key = found[i]
        slot = np.int64((key * _MIX) >> _32) & mask
        while table[slot] != 0 and table[slot] != key:
            slot = (slot + 1) & mask
        if table[slot] == key or is_in(held, key) or is_in(more, key):
            continue
        if total == out.size:
            return -1
        table[slot] = key
        out[total] = key
        total += 1
    return total


@helper
def matching(delta, start, stop, spec, at, constants, base):
    """How many of some facts the changed atom matches."""
    found = 0
    for i in range(start, stop):
        if starts(delta[i] >> _32, delta[i] & _LOW, spec, at, constants, base):
            found += 1
    return found


@helper
def conclude(delta, start, stop, run, minus, less, spec, o, constants, base, found, n):
    """Append the conclusions of a rule from some facts and a run to `n` others; return the new
    number, or -1 if there is no room."""
    for i in range(start, stop):
        first, second = delta[i] >> _32, delta[i] & _LOW
        if not starts(first, second, spec, o, constants, base):
            continue
        front = term_of(spec[o + 2], first, second, first, constants, base)
        key = front << _32
        if spec[o + 3] != 2:
            key |= term_of(spec[o + 3], first, second, first, constants, base)
        at = place_near(run, key, 0)
        while at < run.size:
            other = run[at]
            third = other & _LOW
            if (other >> _32 != front) if spec[o + 3] == 2 else (other != key):
                break
            fact = third << _32 | front if spec[o + 6] == 1 else other
            at += 1
            if (minus.size > 0 and is_in(minus, fact)) or (less.size > 0 and is_in(less, fact)):
                continue
            if n == found.size:
                return -1
            a = term_of(spec[o + 4], first, second, third, constants, base)
            b = term_of(spec[o + 5], first, second, third, constants, base)
            found[n] = a << _32 | b
            n += 1
    return n


RULES = 4
"""Maximum number of rules that `climb` fires together."""


@kernel(
    f"i64(UniTuple(u64r, {4 * RULES}), u64r, u64r, i64r, u32r, i64r, i64, u64w, u64w, u64w, i64w, "
    "i64w, i64w)",
    room=("out", "found", "table", "ends", "fetched", "instances"),
)
def climb(
    rows, held, more, specs, constants, bases, n, out, found, table, ends, fetched, instances
):
    """Fire some rules on their own conclusions, round after round.

    rows        : for each rule the facts of its other atom, which do not change, as two runs with
                  their known place in front, and those left out of them, as two more
    held, more  : known facts of the relation that the rules conclude
    specs, constants, bases : see `fire_rules`; for rules of two atoms, one after the other
    out         : new facts, round by round
    found       : `n` conclusions to begin with, some of which may be known; then those left
    table       : zeros; its size is a power of two and greater than the room in `out`
    ends, fetched, instances : for each round the end of its facts, the number of rows read, and the
                  number of conclusions; then, in one more place, how many are left
    Returns the number of rounds. A round for which there is no room is not begun.
    """
    rules = bases.size
    total = rounds = 0
    while n > 0 and rounds < ends.size - 1:
        end = sift(found, n, held, more, out, total, table)
        if end < 0:
            break
        if end == total:
            n = 0
            break
        n = looked = 0
        for rule in range(rules):
            if rows[4 * rule].size + rows[4 * rule + 1].size == 0:
                continue
            o, base = rule * SPEC, bases[rule]
            minus, less = rows[4 * rule + 2], rows[4 * rule + 3]
            before = n
            for run in range(4 * rule, 4 * rule + 2):
                if n >= 0:
                    n = conclude(
                        out, total, end, rows[run], minus, less, specs, o, constants, base, found, n
                    )
            if n < 0:
                break
            matched = matching(out, total, end, specs, o, constants, base)
            looked += matched + (n - before if specs[o + 3] == 2 else matched)
        if n < 0:
            n = end - total
            for i in range(n):
                found[i] = out[total + i]
            break
        ends[rounds], fetched[rounds], instances[rounds] = end, looked, n
        total = end
        rounds += 1
    instances[rounds] = n
    return rounds
