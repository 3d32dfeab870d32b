"""Kernels that sort terms by their bytes: multikey quicksort on words of 8 bytes.

A group of terms that agree in their first `depth` bytes is split in three by the next 8 bytes,
held in `words` beside `order`; only the middle part (equal words) goes on to the following 8.
So a prefix that all terms share is read once per term, and a comparison costs one word.
Always true: `order` stays a permutation of what it was; a call ends soon after `patience` steps
and leaves on the stack what is still to be done.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel
from triplestore.kernels.terms.hashing import big_word

_0 = np.uint64(0)
_1 = np.uint64(1)
_3 = np.uint64(3)
_8 = np.uint64(8)
_FEW = 12  # a group as small as this is sorted by insertion


@helper
def word_at(texts, offsets, term, depth):
    """Bytes depth to depth + 8 of a term, zeros beyond its end, as a word that compares alike."""
    first = offsets[term] + depth
    end = offsets[term + 1]
    if first + _8 <= end:
        return big_word(texts, first)
    if first >= end:
        return _0
    if end >= _8:  # a whole word that ends with the term; what is before is shifted out
        return big_word(texts, end - _8) << ((first + _8 - end) << _3)
    word = _0
    for i in range(_8):
        word <<= _8
        if first + i < end:
            word |= np.uint64(texts[first + i])
    return word


@helper
def compare_from(texts, offsets, left, right, depth):
    """If term `left` sorts before term `right`, and the depth of the word that tells.

    Their first `depth` bytes, as words padded with zeros, are equal.
    """
    left_size = offsets[left + 1] - offsets[left]
    right_size = offsets[right + 1] - offsets[right]
    shorter = min(left_size, right_size)
    while depth < shorter:
        a = word_at(texts, offsets, left, depth)
        b = word_at(texts, offsets, right, depth)
        if a != b:
            return a < b, depth
        depth += _8
    return left_size < right_size, depth


@helper
def middle_word(words, lo, hi):
    """A word of words[lo:hi] that is likely near the median, from 3 or 9 places."""
    step = (hi - lo) // 9
    if step < 8:
        return middle_of(words[lo], words[(lo + hi) >> 1], words[hi - 1])
    return middle_of(
        middle_of(words[lo], words[lo + step], words[lo + 2 * step]),
        middle_of(words[lo + 3 * step], words[lo + 4 * step], words[lo + 5 * step]),
        middle_of(words[lo + 6 * step], words[lo + 7 * step], words[hi - 1]),
    )


@helper
def middle_of(a, b, c):
    """The median of three."""
    return max(min(a, b), min(max(a, b), c))


@helper
def sort_few(texts, offsets, order, words, lo, hi, depth):
    """Insertion sort of a small group whose words are loaded."""
    for i in range(lo + 1, hi):
        term = order[i]
        word = words[i]
        j = i - 1
        while j >= lo and (
            words[j] > word
            or (words[j] == word and compare_from(texts, offsets, term, order[j], depth)[0])
        ):
            order[j + 1] = order[j]
            words[j + 1] = words[j]
            j -= 1
        order[j + 1] = term
        words[j + 1] = word


@helper
def ended_first(texts, offsets, order, lo, hi, depth):
    """Move the terms that end within this word to the front, shortest first; return where they end.

    All have the same word, so those that end differ only in trailing zero bytes: at most nine.
    """
    done = lo
    for i in range(lo, hi):
        term = order[i]
        size = offsets[term + 1] - offsets[term]
        if size <= depth + _8:
            order[i] = order[done]
            j = done
            while j > lo and offsets[order[j - 1] + 1] - offsets[order[j - 1]] > size:
                order[j] = order[j - 1]
                j -= 1
            order[j] = term
            done += 1
    return done


@helper
def push(stack, top, lo, hi, depth):
    """Put a group on the stack, unless it is in order by being small; return the new top."""
    if hi - lo > 1:
        stack[3 * top] = lo
        stack[3 * top + 1] = hi
        stack[3 * top + 2] = depth
        top += 1
    return top


@kernel("i64(u8r, u64r, u32w, u64w, i64w, i64, i64)")
def sort_groups(texts, offsets, order, words, stack, top, patience):
    """Sort the groups on the stack; return how many are left when patience is at an end.

    stack  : (lo, hi, depth) of each group; a depth of ~d says that its words are to be loaded.
             3 * 3 * 32 numbers are enough, for the largest part is always put on first.
    """
    while top > 0 and patience > 0:
        top -= 1
        lo = stack[3 * top]
        hi = stack[3 * top + 1]
        depth = stack[3 * top + 2]
        if depth < 0:
            depth = ~depth
            for i in range(lo, hi):
                words[i] = word_at(texts, offsets, order[i], np.uint64(depth))
            patience -= hi - lo
        patience -= hi - lo
        if hi - lo <= _FEW:
            sort_few(texts, offsets, order, words, lo, hi, np.uint64(depth))
            continue
        pivot = middle_word(words, lo, hi)
        low = lo
        high = hi
        i = lo
        while i < high:  # words[lo:low] < pivot, words[low:i] == pivot, words[high:hi] > pivot
            word = words[i]
            if word == pivot:
                i += 1
            elif word < pivot:
                words[i] = words[low]
                words[low] = word
                term = order[i]
                order[i] = order[low]
                order[low] = term
                low += 1
                i += 1
            else:
                high -= 1
                words[i] = words[high]
                words[high] = word
                term = order[i]
                order[i] = order[high]
                order[high] = term
        done = ended_first(texts, offsets, order, low, high, np.uint64(depth))
        below = low - lo
        equal = high - done
        above = hi - high
        if equal >= below and equal >= above:  # the largest part first, so last to be done
            top = push(stack, top, done, high, ~(depth + 8))
            top = push(stack, top, lo, low, depth)
            top = push(stack, top, high, hi, depth)
        elif below >= above:
            top = push(stack, top, lo, low, depth)
            top = push(stack, top, done, high, ~(depth + 8))
            top = push(stack, top, high, hi, depth)
        else:
            top = push(stack, top, high, hi, depth)
            top = push(stack, top, done, high, ~(depth + 8))
            top = push(stack, top, lo, low, depth)
    return top


@kernel("void(u8r, u64r, u32r, u32r, u16w)")
def classify_terms(texts, offsets, terms, splitters, out):
    """Write for each of `terms` how many of `splitters` (sorted terms) are not after it.

    A binary search that knows how many bytes the term has in common with the splitters on both
    sides of what is left, and does not compare those again.
    """
    for i in range(terms.size):
        lo = 0
        hi = splitters.size
        low_depth = _0
        high_depth = _0
        while lo < hi:
            middle = (lo + hi) >> 1
            before, depth = compare_from(
                texts, offsets, terms[i], splitters[middle], min(low_depth, high_depth)
            )
            if before:
                hi = middle
                high_depth = depth
            else:
                lo = middle + 1
                low_depth = depth
        out[i] = np.uint16(lo)


@kernel("i64(u8r, u64r, u8r, u32w)")
def order_breaks(texts, offsets, kinds, out):
    """The places of terms of another kind than the term before, or that do not sort after it.

    Writes them to `out` and returns their number, or -1 if there are more than `out` holds.
    """
    found = 0
    for i in range(1, kinds.size):
        term = np.int64(i)
        if kinds[i] != kinds[i - 1] or not compare_from(texts, offsets, term - 1, term, _0)[0]:
            if found == out.size:
                return -1
            out[found] = i
            found += 1
    return found
