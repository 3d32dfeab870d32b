"""Backward search: rule instances that conclude given facts, a few at a time, for rules of two
columns.

Start reading at `pull`. Each goal has a cursor: the current rule among those for its relation (and
class), and for each atom of that rule, in the order of a plan, how far its rows were read. A call
continues from there for as many instances as each goal may have. So a goal with a million instances
costs only those that were asked for, and none is found twice.

Facts of the stratum are numbers, found by a hash table; new facts that instances need get numbers
when they are met. Stored facts are read in place: in the sorted columns of layers (`RUNS` of them,
the last one for what was copied together). The newest run with a row decides its status.

See `SPEC` for the description of a rule. A term is a variable v >= 0, or the constant with id c as
-c.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel
from triplestore.kernels.rows.sorted_sets import place_between
from triplestore.kernels.terms.hashing import MIX, STEP

RUNS = 15
"""Maximum number of arrays of keys."""

STEPS, VARIABLES = 4, 6
"""Maximum number of atoms and of variables of a rule."""

SPEC = 3 + 6 * STEPS
"""The number of integers of a rule: its atoms, both terms of its head; then for each atom its
relation, whether its facts are of the stratum, the place in front, how it is read (`TEST`: both
terms are known, `NEXT`: the one in front is known, `SCAN`: none) and its terms, the one in front
first."""

STATE = 4 + 3 * STEPS + VARIABLES
"""The number of integers of a cursor: the place among its rules, the current atom (-1: before the
first), two groups of rules; for each atom a run, the place in it and its end; values of
variables."""

TEST, NEXT, SCAN = 0, 1, 2

DEAD_OR_ABSENT = 8 | 32
"""Flags of facts that no proof may use."""

_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_FRESH, _SPENT = -1, -2
_VARS = 4 + 3 * STEPS
_NEVER = 1 << 40


@helper
def _slot_of(relation, key, mask):
    mixed = (key ^ np.uint64(relation + 1) * STEP) * MIX
    return np.int64((mixed ^ mixed >> _32) & np.uint64(mask))


@helper
def number_of(relation, key, fact_key, fact_relation, slots):
    """The number of a fact, or -1."""
    mask = slots.size - 1
    at = _slot_of(relation, key, mask)
    while slots[at] != 0:
        number = slots[at] - 1
        if fact_key[number] == key and fact_relation[number] == relation:
            return np.int64(number)
        at = (at + 1) & mask
    return np.int64(-1)


@helper
def add_fact(relation, key, number, fact_key, fact_relation, slots):
    """Give a number to a fact that has none."""
    mask = slots.size - 1
    at = _slot_of(relation, key, mask)
    while slots[at] != 0:
        at = (at + 1) & mask
    slots[at] = number + 1
    fact_key[number] = key
    fact_relation[number] = relation


@kernel("i64(i64, u64r, u64w, i32w, i32w, i64, b1, i64w)", room=("fact_key", "fact_relation"))
def find_facts(relation, keys, fact_key, fact_relation, slots, count, adds, found):
    """Write the numbers of facts, -1 for those without; if `adds`, these get the next numbers.
    Returns how many facts have numbers then."""
    for i in range(keys.size):
        number = number_of(relation, keys[i], fact_key, fact_relation, slots)
        if number < 0 and adds:
            number = count
            add_fact(relation, keys[i], number, fact_key, fact_relation, slots)
            count += 1
        found[i] = number
    return count


@kernel("void(u64r, i32r, i64, i32w)", room=("fact_key", "fact_relation"))
def fill_slots(fact_key, fact_relation, count, slots):
    """Insert the facts that have numbers into a new, empty hash table."""
    mask = slots.size - 1
    for number in range(count):
        if fact_relation[number] < 0:
            continue  # found another way
        at = _slot_of(np.int64(fact_relation[number]), fact_key[number], mask)
        while slots[at] != 0:
            at = (at + 1) & mask
        slots[at] = number + 1


@helper
def said_later(run, stop, key, run_array, run_lo, run_hi, arrays):
    """Whether a newer run has an entry for a row."""
    for other in range(run + 1, stop):
        keys = arrays[run_array[other]]
        at = place_between(keys, key, run_lo[other], run_hi[other])
        if at < run_hi[other] and keys[at] == key:
            return True
    return False


@helper
def is_held(run, stop, key, run_array, run_lo, run_hi, run_status, arrays, statuses):
    """Whether a row holds, by the newest run of [run, stop) that has it."""
    for other in range(stop - 1, run - 1, -1):
        keys = arrays[run_array[other]]
        at = place_between(keys, key, run_lo[other], run_hi[other])
        if at < run_hi[other] and keys[at] == key:
            status = run_status[other]
            if status < 0:
                status = np.int64(statuses[run_array[other]][at])
            return (status & 3) != 0
    return False


@kernel(
    "void(i64r, u64r, i32r, i64r, i64r, i64r, i64r, i64r, i64r, i64r, "
    f"UniTuple(u64r, {RUNS}), UniTuple(u8r, {RUNS}), UniTuple(u32r, {RUNS}), u8w, i64w)",
    room=("fact_key", "fact_relation"),
)
def look_up_facts(
    numbers,
    fact_key,
    fact_relation,
    counted_at,
    run_first,
    run_stop,
    run_array,
    run_lo,
    run_hi,
    run_status,
    arrays,
    statuses,
    counts,
    status,
    count,
):
    """Write the statuses and counts of stored facts; arrays of `counts` are empty if all are 0.

    counted_at  the place in front in the order of a relation that has counts
    The other arguments are those of `pull`.
    """
    for i in range(numbers.size):
        key = fact_key[numbers[i]]
        relation = np.int64(fact_relation[numbers[i]])
        place = 2 * relation + counted_at[relation]
        if counted_at[relation] == 1:
            key = key << _32 | key >> _32
        status[i], count[i] = 0, 0
        for run in range(run_stop[place] - 1, run_first[place] - 1, -1):
            keys = arrays[run_array[run]]
            at = place_between(keys, key, run_lo[run], run_hi[run])
            if at < run_hi[run] and keys[at] == key:
                status[i] = run_status[run]
                if run_status[run] < 0:
                    status[i] = statuses[run_array[run]][at]
                many = counts[run_array[run]]
                if status[i] != 0 and many.size > 0:
                    count[i] = many[at]
                break


@helper
def is_useless(relation, own, key, fact_key, fact_relation, slots, flags, gone, gone_start):
    """Whether a stored row is deleted, or has no proof."""
    if own == 1:
        number = number_of(relation, key, fact_key, fact_relation, slots)
        return number >= 0 and (flags[number] & DEAD_OR_ABSENT) != 0
    high = gone_start[relation + 1]
    at = place_between(gone, key, gone_start[relation], high)
    return at < high and gone[at] == key


@helper
def value_of(term, state, base):
    """The value of a term, given where the values of variables begin."""
    if term < 0:
        return np.uint64(-term)
    return np.uint64(state[base + term])


@helper
def fits_head(key, specs, spec, state, base):
    """Bind the variables of a rule's head to a fact; return whether the fact matches."""
    first, second = specs[spec + 1], specs[spec + 2]
    if first >= 0:
        state[base + first] = np.int64(key >> _32)
    elif np.uint64(-first) != key >> _32:
        return False
    if second >= 0:
        if second == first:
            return key >> _32 == key & _LOW
        state[base + second] = np.int64(key & _LOW)
        return True
    return np.uint64(-second) == key & _LOW


@helper
def write_facts(specs, spec, state, base, fact_key, fact_relation, slots, count, facts, out):
    """Write the facts of the stratum that a matched rule needs; return how many facts have
    numbers."""
    for step in range(STEPS):
        facts[out + step] = 0
        about = spec + 3 + 6 * step
        if step < specs[spec] and specs[about + 1] == 1:
            relation = specs[about]
            a = value_of(specs[about + 4], state, base)
            b = value_of(specs[about + 5], state, base)
            key = a << _32 | b if specs[about + 2] == 0 else b << _32 | a
            number = number_of(relation, key, fact_key, fact_relation, slots)
            if number < 0:
                number = count
                add_fact(relation, key, number, fact_key, fact_relation, slots)
                count += 1
            facts[out + step] = number + 1
    return count


@kernel(
    "i64(i64r, u64r, i32r, u64r, i64r, u8w, i64w, i32w, i64w)",
    room=("fact_key", "fact_relation", "group_keys", "group_start", "group_ready", "state"),
)
def open_cursors(
    goals,
    fact_key,
    fact_relation,
    group_keys,
    group_start,
    group_ready,
    state,
    waiting,
    missing,
):
    """Set the cursors of goals to their beginning.

    group_keys  sorted relation << 32 | class; and | 0 for rules that conclude any class
    waiting     incremented for each goal that has rules
    missing     where groups of rules are written that are met for the first time
    Returns the number of these groups.
    """
    count = 0
    for i in range(goals.size):
        goal = goals[i]
        if fact_relation[goal] < 0:
            continue
        base = goal * STATE
        state[base] = 0
        state[base + 1] = -1
        any_ = False
        for way in range(2):
            key = np.uint64(fact_relation[goal]) << _32
            if way == 0:
                key |= fact_key[goal] >> _32
            at = place_between(group_keys, key, 0, group_keys.size)
            if at < group_keys.size and group_keys[at] == key:
                state[base + 2 + way] = at
                any_ = True
                if group_ready[at] == 0:
                    group_ready[at] = 1
                    missing[count] = at
                    count += 1
            else:
                state[base + 2 + way] = -1
        if any_:
            waiting[goal] += 1
        else:
            state[base] = _NEVER
    return count


@kernel(
    "void(i64r, i64w, i64, i64, u64w, i32w, u8r, i32w, i64w, i32w, i64r, i32r, i64r, u8r, "
    "i64r, i64r, i64r, i64r, i64r, i64r, "
    f"UniTuple(u64r, {RUNS}), UniTuple(u8r, {RUNS}), u64r, i64r, i64w, i32w, i64w)"
)
def pull(
    goals,
    quota,
    begin,
    looks,
    fact_key,
    fact_relation,
    flags,
    slots,
    state,
    waiting,
    group_start,
    group_rules,
    specs,
    usable,
    run_first,
    run_stop,
    run_array,
    run_lo,
    run_hi,
    run_status,
    arrays,
    statuses,
    gone,
    gone_start,
    found_goal,
    found_facts,
    result,
):
    """Write up to quota[i] more instances of goals[i], from goals[begin] on: their goals in
    `found_goal`, and in `found_facts` for each up to `STEPS` facts of the stratum that it needs, as
    the number plus one, or 0 for none.

    looks       maximum number of rows read per wanted instance
    usable      which rules may be used
    run_first, run_stop   the runs of a relation, oldest first: at 2 * relation + place in front
    run_array, run_lo, run_hi, run_status   where a run is, and the status of its rows, or -1 if
                each row has its own
    gone, gone_start      for each relation the deleted facts of lower strata
    waiting     decremented for each goal whose instances are exhausted
    result      [0] is the number of facts, updated; on return [1] is the number of instances, [2]
                the number of rows read, [3] the goal to continue with if there was no room for all;
                its quota is reduced
    """
    count, found, looked = result[0], 0, 0
    room = min(fact_key.size, slots.size >> 1) - STEPS
    at_goal = begin
    while at_goal < goals.size:
        goal = goals[at_goal]
        if fact_relation[goal] < 0:  # it has no cursor
            at_goal += 1
            continue
        base = goal * STATE
        values = base + _VARS
        at_rule, level = state[base], state[base + 1]
        group, other = state[base + 2], state[base + 3]
        first_rules = 0
        if group >= 0:
            first_rules = group_start[group + 1] - group_start[group]
        rules = first_rules
        if other >= 0:
            rules += group_start[other + 1] - group_start[other]
        need = quota[at_goal]
        limit = looked + looks * need
        full = False
        while at_rule < rules:
            if at_rule < first_rules:
                rule = group_rules[group_start[group] + at_rule]
            else:
                rule = group_rules[group_start[other] + at_rule - first_rules]
            spec = np.int64(rule) * SPEC
            if level < 0:
                key = fact_key[goal]
                fits = usable[rule] == 1 and fits_head(key, specs, spec, state, values)
                if not fits:
                    at_rule += 1
                    continue
                level = 0
                state[base + 4] = _FRESH
            if level == specs[spec]:  # all atoms are matched
                if found == found_goal.size or count > room:
                    full = True
                    break
                found_goal[found] = goal
                count = write_facts(
                    specs,
                    spec,
                    state,
                    values,
                    fact_key,
                    fact_relation,
                    slots,
                    count,
                    found_facts,
                    found * STEPS,
                )
                found += 1
                need -= 1
                level -= 1
                continue
            about, at = spec + 3 + 6 * level, base + 4 + 3 * level
            relation, own = specs[about], specs[about + 1]
            place, mode = specs[about + 2], specs[about + 3]
            start, stop = run_first[2 * relation + place], run_stop[2 * relation + place]
            matched = False
            if mode == TEST:
                if state[at] == _FRESH:
                    if need <= 0 or looked >= limit:
                        break
                    state[at] = _SPENT
                    looked += 1
                    a = value_of(specs[about + 4], state, values)
                    b = value_of(specs[about + 5], state, values)
                    key = a << _32 | b
                    matched = is_held(
                        start, stop, key, run_array, run_lo, run_hi, run_status, arrays, statuses
                    ) and not is_useless(
                        relation, own, key, fact_key, fact_relation, slots, flags, gone, gone_start
                    )
                if not matched:
                    level -= 1
                    if level < 0:
                        at_rule += 1
                    continue
            else:
                run = state[at]
                if run == _FRESH:
                    run = start - 1
                    state[at + 1] = state[at + 2] = 0
                front = np.uint64(0)
                if mode == NEXT:
                    front = value_of(specs[about + 4], state, values)
                while state[at + 1] >= state[at + 2] and run < stop:
                    run += 1
                    if run < stop:
                        low, high = run_lo[run], run_hi[run]
                        if mode == NEXT:
                            keys = arrays[run_array[run]]
                            low = place_between(keys, front << _32, low, high)
                            high = place_between(keys, (front + np.uint64(1)) << _32, low, high)
                        state[at + 1], state[at + 2] = low, high
                state[at] = run
                if run >= stop:
                    level -= 1
                    if level < 0:
                        at_rule += 1
                    continue
                if need <= 0 or looked >= limit:
                    break
                row = state[at + 1]
                state[at + 1] = row + 1
                looked += 1
                key = arrays[run_array[run]][row]
                status = run_status[run]
                if status < 0:
                    status = np.int64(statuses[run_array[run]][row])
                if (status & 3) == 0:
                    continue
                if run + 1 < stop and said_later(run, stop, key, run_array, run_lo, run_hi, arrays):
                    continue
                fact = key if place == 0 else key << _32 | key >> _32
                if is_useless(
                    relation, own, fact, fact_key, fact_relation, slots, flags, gone, gone_start
                ):
                    continue
                back = specs[about + 5]
                if mode == SCAN:
                    term = specs[about + 4]
                    if term == back and key >> _32 != key & _LOW:
                        continue
                    state[values + term] = np.int64(key >> _32)
                state[values + back] = np.int64(key & _LOW)
            level += 1
            if level < specs[spec]:
                state[base + 4 + 3 * level] = _FRESH
        if at_rule >= rules and at_rule < _NEVER:
            waiting[goal] -= 1
            at_rule = _NEVER
        state[base], state[base + 1] = at_rule, level
        if full:
            quota[at_goal] = need
            break
        at_goal += 1
    result[0], result[1], result[2], result[3] = count, found, looked, at_goal
