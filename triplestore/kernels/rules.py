"""Small rules as one call: from the facts of a changed atom to what the rules conclude.

A rule of one or two atoms over relations of two columns needs some ten calls of numpy, which cost
far more than its rows where these are few. `fire_rules` does all of it, for some rules that differ
in constants only. Always true: `delta` and `run` are sorted and distinct; each match is written
once for each rule; nothing is allocated here.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel
from triplestore.kernels.sets import place_near

_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@helper
def term_of(code, first, second, third, constants, base):
    """The value of a term: 0 and 1 are the ids of the changed fact, 2 is the id that was found,
    -1, -2, ... the constants of the rule."""
    if code == 0:
        return first
    if code == 1:
        return second
    if code == 2:
        return third
    return np.uint64(constants[base - code - 1])


@helper
def is_in(keys, key):
    """Whether a key is in sorted ones."""
    at = place_near(keys, key, 0)
    return at < keys.size and keys[at] == key


@kernel("i64(u64r, u64r, u64r, u64r, i64r, u32r, i64, u64w, i64w)")
def fire_rules(delta, run, minus, less, spec, constants, most, out, seen):
    """Write the conclusions of some rules, as far as there is room in `out`.

    delta    : changed facts; the first atom of the rules matches them
    run      : facts of the other atom, its known place in front
    minus, less : facts that the other atom must not match, first id in front
    spec     : codes of terms (`term_of`), as pairs: the changed atom's, those of the other atom
               with the known place in front (the second one 2 if it is to be found), the head's;
               then 1 if the other atom's first place is its second one; the number of atoms, of
               constants of a rule, and of rules
    most     : give up where more changed facts are looked at than this, or more is concluded
    seen     : how many changed facts were looked at
    Returns how many conclusions there are, -1 if it gave up.
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
