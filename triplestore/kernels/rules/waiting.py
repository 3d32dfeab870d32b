"""The memory of a search for proofs: instances and the facts that they wait for.

Start reading at `remember`. Instances and facts are numbers. An entry says that an instance waits
for a fact, so the instance's goal needs that fact. Entries of a fact, and of a goal, are linked
lists: a head is the number of the last entry plus one, or 0 for none. Facts have flags
(`maintenance/search/checked_facts`).
"""

from __future__ import annotations

from triplestore.kernels.jit import kernel

PROVED, BLOCKED, DEAD, LIVE = 2, 4, 8, 16


@kernel(
    "i64(i64r, i32r, i64, u8r, i32w, i32w, i32w, i32w, i32w, i32w, i32w, i32w, i64w, i64w)",
    room=("goals", "facts", "goal", "rest", "entry_of", "entry_fact", "waits", "needs"),
)
def remember(
    goals,
    facts,
    width,
    flags,
    goal,
    rest,
    entry_of,
    entry_fact,
    next_wait,
    next_need,
    waits,
    needs,
    counts,
    ready,
):
    """Store instances: goals[i] follows from the `width` facts from facts[i * width] on; each is
    the number of a fact plus one, or 0 for none.

    goal, rest           for each instance its goal, and the number of facts it waits for
    entry_of, entry_fact for each entry the instance and the fact
    waits, needs         the heads of the entries of a fact and of a goal
    counts               the number of instances and entries so far; updated
    ready                where goals are written that follow from proved facts
    Returns the number of goals written.
    """
    instances, entries, done = counts[0], counts[1], 0
    for i in range(goals.size):
        head = goals[i]
        left = 0
        for at in range(i * width, (i + 1) * width):
            fact = facts[at] - 1
            if fact < 0 or flags[fact] & PROVED:
                continue
            twice = False
            for before in range(i * width, at):
                twice = twice or facts[before] == facts[at]
            if twice:
                continue
            entry_of[entries], entry_fact[entries] = instances, fact
            next_wait[entries], next_need[entries] = waits[fact], needs[head]
            entries += 1
            waits[fact] = needs[head] = entries
            left += 1
        if left == 0:
            ready[done] = head
            done += 1
        else:
            goal[instances], rest[instances] = head, left
            instances += 1
    counts[0], counts[1] = instances, entries
    return done


@kernel("i64(i64r, i64, u8w, i32r, i32w, i32r, i32r, i32r, i64w)", room=("goal", "rest", "stack"))
def prove(numbers, count, flags, goal, rest, entry_of, next_wait, waits, stack):
    """Mark the first `count` facts as proved, and all facts that stored instances derive from them.
    Returns how many were not proved before; `stack` has room for all facts."""
    top = proved = 0
    for i in range(count):
        fact = numbers[i]
        if flags[fact] & PROVED == 0:
            flags[fact] |= PROVED
            stack[top] = fact
            top += 1
    while top > 0:
        top -= 1
        proved += 1
        entry = waits[stack[top]]
        while entry > 0:
            instance = entry_of[entry - 1]
            entry = next_wait[entry - 1]
            rest[instance] -= 1
            head = goal[instance]
            if rest[instance] == 0 and flags[head] & PROVED == 0:
                flags[head] |= PROVED
                stack[top] = head
                top += 1
    return proved


@kernel("void(i64r, u8w, i32r, i32r, i32r, i64w)", room=("entry_fact", "next_need", "stack"))
def enliven(numbers, flags, entry_fact, next_need, needs, stack):
    """Mark facts, and all facts they need, as needed by an open goal."""
    for i in range(numbers.size):
        if flags[numbers[i]] & (LIVE | PROVED | DEAD) != 0:
            continue
        flags[numbers[i]] |= LIVE
        stack[0] = numbers[i]
        top = 1
        while top > 0:
            top -= 1
            entry = needs[stack[top]]
            while entry > 0:
                fact = entry_fact[entry - 1]
                entry = next_need[entry - 1]
                if flags[fact] & (LIVE | PROVED | DEAD) == 0:
                    flags[fact] |= LIVE
                    stack[top] = fact
                    top += 1


@kernel("void(u8w, i64, i32r, i32r, i32r, i32r, i64w)", room=("flags", "goal", "stack", "waits"))
def bury(flags, count, goal, entry_of, next_wait, waits, stack):
    """Mark needed facts without proof as unprovable, except blocked ones and those that need
    these."""
    top = 0
    for fact in range(count):
        if flags[fact] & (LIVE | PROVED | BLOCKED) == LIVE | BLOCKED:
            stack[top] = fact
            top += 1
    while top > 0:
        top -= 1
        entry = waits[stack[top]]
        while entry > 0:
            head = goal[entry_of[entry - 1]]
            entry = next_wait[entry - 1]
            if flags[head] & (LIVE | PROVED | BLOCKED) == LIVE:
                flags[head] |= BLOCKED
                stack[top] = head
                top += 1
    for fact in range(count):
        if flags[fact] & (LIVE | PROVED | BLOCKED) == LIVE:
            flags[fact] |= DEAD
