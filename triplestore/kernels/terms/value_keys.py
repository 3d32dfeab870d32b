"""Keys of the common shapes of typed literals, from their bytes.

Start at `encode_typed`. What is always true: what it writes is what `terms.value_keys.entry_of`
gives, or the mark LEFT, by which it leaves a term to plain Python; for numbers that only lack the
rounding to a double it writes everything else and the detail ROUND. It never rounds twice: a
double is made from at most 53 bits of digits and a power of ten up to 22, which are both exact, by
one operation.
Costs about 50 ns a literal; allocates nothing.

Forms are the numbers of `terms.value_keys`; a test holds the constants here against those there.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel

LEFT = np.uint8(0xFF)
EXACT = np.uint8(0x40)
ZONED_OR_MINUS = np.uint8(0x80)
NO_DETAIL = np.uint16(0xFFFF)
ROUND = np.uint16(0xFFFE)

INTEGER = 1
DECIMAL = 14
FLOAT = 15
DOUBLE = 16
BOOLEAN = 17
DATETIME = 18
DATE = 20
TIME = 22
G_YEAR = 24
G_YEAR_MONTH = 26
STAMP = 34
ANY_URI = 43

_INF = np.inf
_NAN = np.nan
_TOP = np.uint64(1) << np.uint64(63)
_10 = np.uint64(10)
_53_BITS = np.uint64(1) << np.uint64(53)
_POWERS = np.array([float(10**i) for i in range(23)])
_DAYS_BEFORE = np.array([0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334], dtype=np.int64)
_BAD = -1
_NO_ZONE = 9999


@kernel("i64(u8r, i64r, i64r, i64r, u8r, u64r, u8w, u64w, f64w, u16w)")
def encode_typed(buf, starts, lengths, rows, names, limits, marks, keys, doubles, details):
    """Write mark, key and detail of the TYPED term at each of `rows`; return how many are not done.

    buf       the texts: `lexical"^^<datatype>`, term i at starts[i], lengths[i] bytes long
    names     for each datatype: its form, the length of its IRI, the IRI
    limits    for each integer form: the greatest and the negated least value, and whether 0 is one
    doubles   the same memory as keys: numbers are written as doubles, not as keys
    """
    left = 0
    form = 0
    datatype = 0  # where the last datatype stands, with `"^^<` and `>`, and its length
    size = 0
    for i in range(rows.size):
        start = starts[rows[i]]
        end = start + lengths[rows[i]]
        if size == 0 or not _same(buf, datatype, end - size, size, start):
            datatype = end - 1
            while datatype > start and buf[datatype] != 34:
                datatype -= 1
            size = end - datatype
            form = _form_of(buf, datatype + 4, end - 1, names)
        stop = end - size
        if form == 0:
            marks[i] = 0
        elif form <= DECIMAL:
            _decimal(buf, start, stop, form, limits, i, marks, doubles, details)
        elif form <= DOUBLE:
            _double(buf, start, stop, form, i, marks, doubles, details)
        elif form == BOOLEAN:
            _boolean(buf, start, stop, i, marks, keys)
        elif form == ANY_URI:
            _bytes(buf, start, stop, form, i, marks, keys, details)
        elif form <= G_YEAR_MONTH or form == STAMP:
            _moment(buf, start, stop, form, i, marks, keys, details)
        else:
            marks[i] = LEFT
        if marks[i] == LEFT or details[i] == ROUND:
            left += 1
    return left


# ------------------------------------------------------------------------------- datatypes


@helper
def _same(buf, here, there, size, least):
    """True if `size` bytes here and there are the same; there is nothing before `least`."""
    if there < least:
        return False
    for i in range(size):
        if buf[here + i] != buf[there + i]:
            return False
    return True


@helper
def _form_of(buf, start, stop, names):
    """The form of a datatype IRI (the first of several); 0 if it is unknown."""
    at = 0
    while at < names.size:
        size = np.int64(names[at + 1])
        if size == stop - start:
            same = True
            for i in range(size):
                if buf[start + i] != names[at + 2 + i]:
                    same = False
                    break
            if same:
                return np.int64(names[at])
        at += size + 2
    return 0


# --------------------------------------------------------------------------------- numbers


@helper
def _number(buf, start, stop, dot, exponents):
    """A decimal or floating-point numeral: its digits and a power of ten.

    Returns (number of significant digits, or _BAD; digits without zeros at either end, valid if
    they are at most 19; power of ten, 99999 if it is not small; 1 if there is a minus sign).
    """
    digits = np.uint64(0)
    significant = 0
    zeros = 0  # zeros that came after the last other digit
    power = 0
    seen = 0
    minus = 0
    point = False
    i = start
    if i < stop and (buf[i] == 43 or buf[i] == 45):
        minus = 1 if buf[i] == 45 else 0
        i += 1
    while i < stop:
        c = buf[i]
        if 48 <= c <= 57:
            seen += 1
            if point:
                power -= 1
            if c != 48:
                significant += zeros + 1
                if significant <= 19:
                    while zeros > 0:
                        digits *= _10
                        zeros -= 1
                    digits = digits * _10 + np.uint64(c - np.uint8(48))
                zeros = 0
            elif significant > 0:
                zeros += 1
        elif c == 46 and dot and not point:
            point = True
        else:
            break
        i += 1
    if seen == 0:
        return _BAD, digits, 0, minus
    power += zeros
    if exponents and i < stop and (buf[i] == 69 or buf[i] == 101):
        i += 1
        below = i < stop and buf[i] == 45
        if i < stop and (buf[i] == 43 or buf[i] == 45):
            i += 1
        exponent = 0
        seen = 0
        while i < stop and 48 <= buf[i] <= 57:
            seen += 1
            if exponent < 99999:
                exponent = exponent * 10 + np.int64(buf[i]) - 48
            i += 1
        if seen == 0:
            return _BAD, digits, 0, minus
        power = power - exponent if below else power + exponent
    if i != stop:
        return _BAD, digits, 0, minus
    return significant, digits, power, minus


@helper
def _scaled(digits, power):
    """digits * 10**power, correctly rounded, for at most 53 bits and powers from -22 to 22."""
    if power < 0:
        return np.float64(digits) / _POWERS[-power]
    return np.float64(digits) * _POWERS[power]


@helper
def _decimal(buf, start, stop, form, limits, row, marks, doubles, details):
    significant, digits, power, minus = _number(buf, start, stop, form == DECIMAL, False)
    marks[row] = 0
    details[row] = 0
    if significant == _BAD:
        return
    whole = power >= 0 and significant + power <= 19
    if significant == 0:
        power = 0
        digits = np.uint64(0)
        whole = True
    if whole:
        while power > 0:
            digits *= _10
            power -= 1
        if form < DECIMAL:
            limit = limits[3 * form + (1 if minus else 0)]
            if digits > limit or (significant == 0 and limits[3 * form + 2] == 0):
                return
        number = np.float64(digits)
        marks[row] = form
        if significant <= 15 or digits <= _53_BITS:
            marks[row] |= EXACT
        else:
            nearest = np.uint64(number)
            beyond = np.int64(max(digits, nearest) - min(digits, nearest))
            if (nearest > digits) != (minus == 1):
                beyond = -beyond
            details[row] = np.uint16(2048 + beyond)
    elif form != DECIMAL and form != INTEGER:
        marks[row] = LEFT
        return
    elif significant > 15:
        marks[row] = form
        details[row] = ROUND
        if significant <= 19 and digits <= _53_BITS and -22 <= power <= 22:
            number = _scaled(digits, power)
            details[row] = NO_DETAIL
        else:
            number = 0.0
    elif -22 <= power <= 22:
        number = _scaled(digits, power)
        marks[row] = form | EXACT
    else:
        marks[row] = LEFT
        return
    doubles[row] = -number if minus and number != 0 else number


@helper
def _double(buf, start, stop, form, row, marks, doubles, details):
    significant, digits, power, minus = _number(buf, start, stop, True, True)
    marks[row] = form | EXACT
    details[row] = 0
    if significant == _BAD:
        number = _special(buf, start, stop)
        if number == 0:
            marks[row] = 0
    elif significant == 0:
        number = 0.0
        if minus:
            marks[row] |= ZONED_OR_MINUS
            details[row] = 1
    elif significant <= 19 and digits <= _53_BITS and -22 <= power <= 22:
        number = _scaled(digits, power)
        if minus:
            number = -number
    else:
        number = 0.0
        details[row] = ROUND
    doubles[row] = number


@helper
def _special(buf, start, stop):
    """INF, +INF, -INF, NaN; 0 for anything else."""
    if stop - start == 3 and buf[start] == 78 and buf[start + 1] == 97 and buf[start + 2] == 78:
        return _NAN
    sign = 1.0
    if stop - start == 4 and (buf[start] == 43 or buf[start] == 45):
        sign = -1.0 if buf[start] == 45 else 1.0
        start += 1
    if stop - start == 3 and buf[start] == 73 and buf[start + 1] == 78 and buf[start + 2] == 70:
        return sign * _INF
    return 0.0


# ----------------------------------------------------------------------------- other types


@helper
def _boolean(buf, start, stop, row, marks, keys):
    size = stop - start
    value = _BAD
    if size == 1 and (buf[start] == 48 or buf[start] == 49):
        value = np.int64(buf[start]) - 48
    elif size == 4 and buf[start] == 116 and buf[start + 1] == 114:  # tr
        if buf[start + 2] == 117 and buf[start + 3] == 101:  # ue
            value = 1
    elif size == 5 and buf[start] == 102 and buf[start + 1] == 97:  # fa
        if buf[start + 2] == 108 and buf[start + 3] == 115 and buf[start + 4] == 101:  # lse
            value = 0
    marks[row] = 0
    if value != _BAD:
        marks[row] = BOOLEAN | EXACT
        keys[row] = np.uint64(value)


@helper
def _bytes(buf, start, stop, form, row, marks, keys, details):
    size = stop - start
    key = np.uint64(min(size, 8))
    for i in range(min(size, 7)):
        key |= np.uint64(buf[start + i]) << np.uint64(56 - 8 * i)
    keys[row] = key
    marks[row] = form | EXACT if size < 8 else form
    details[row] = np.uint16(0) if size < 8 else NO_DETAIL


@helper
def _two(buf, i, stop):
    """The number that two digits make, or _BAD."""
    if i + 2 > stop or not (48 <= buf[i] <= 57 and 48 <= buf[i + 1] <= 57):
        return _BAD
    return (np.int64(buf[i]) - 48) * 10 + np.int64(buf[i + 1]) - 48


@helper
def _after(buf, i, stop, mark):
    """The two digits after a punctuation mark, or _BAD."""
    if i >= stop or buf[i] != mark:
        return _BAD
    return _two(buf, i + 1, stop)


@helper
def _clock(buf, i, stop):
    """hh:mm:ss and at most six digits of a fraction: (microseconds or _BAD, where it ends)."""
    hour = _two(buf, i, stop)
    minute = _after(buf, i + 2, stop, 58)
    second = _after(buf, i + 5, stop, 58)
    if hour == _BAD or minute == _BAD or second == _BAD:
        return _BAD, i
    if hour > 23 or minute > 59 or second > 59:
        return _BAD, i
    i += 8
    micros = (3600 * hour + 60 * minute + second) * 1000000
    if i < stop and buf[i] == 46:
        i += 1
        first = i
        unit = 100000
        while i < stop and 48 <= buf[i] <= 57:
            if unit == 0 and buf[i] != 48:
                return _BAD, i
            micros += unit * (np.int64(buf[i]) - 48)
            unit //= 10
            i += 1
        if i == first:
            return _BAD, i
    return micros, i


@helper
def _zone(buf, i, stop):
    """The offset in minutes of the zone that fills the rest; _NO_ZONE, or _BAD - 840."""
    if i == stop:
        return _NO_ZONE
    if buf[i] == 90 and i + 1 == stop:
        return 0
    if i + 6 != stop or (buf[i] != 43 and buf[i] != 45):
        return _BAD - 840
    hours = _two(buf, i + 1, stop)
    minutes = _after(buf, i + 3, stop, 58)
    if hours == _BAD or minutes == _BAD or minutes > 59 or 60 * hours + minutes > 840:
        return _BAD - 840
    return 60 * hours + minutes if buf[i] == 43 else -60 * hours - minutes


@helper
def _moment(buf, start, stop, form, row, marks, keys, details):
    """Years from 2 to 9999; everything else, and everything dubious, is left."""
    marks[row] = LEFT
    details[row] = 0
    i = start
    year = 1972
    month = 12
    if form != TIME:
        high = _two(buf, i, stop)
        low = _two(buf, i + 2, stop)
        if high == _BAD or low == _BAD or 100 * high + low < 2:
            return
        year = 100 * high + low
        i += 4
        if form != G_YEAR:
            month = _after(buf, i, stop, 45)
            if month < 1 or month > 12:
                return
            i += 3
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if month == 2:
        longest = 29 if leap else 28
    else:
        longest = 30 if month == 4 or month == 6 or month == 9 or month == 11 else 31
    day = longest
    if form == DATETIME or form == DATE or form == STAMP:
        day = _after(buf, i, stop, 45)
        if day < 1 or day > longest:
            return
        i += 3
    micros = 0
    if form == DATETIME or form == STAMP or form == TIME:
        if form != TIME:
            if i >= stop or buf[i] != 84:
                return
            i += 1
        micros, i = _clock(buf, i, stop)
        if micros == _BAD:
            return
    zone = _zone(buf, i, stop)
    if zone < -840:
        return
    before = year - 1
    days = 365 * before + before // 4 - before // 100 + before // 400 + _DAYS_BEFORE[month]
    if leap and month > 2:
        days += 1
    micros += (days + day - 1) * 86400000000
    if zone == _NO_ZONE:
        if form == STAMP:
            return
        form += 1
    elif zone != 0:
        micros -= zone * 60000000
        marks[row] = form | EXACT | ZONED_OR_MINUS
        details[row] = np.uint16(1000 + zone)
        keys[row] = np.uint64(micros) ^ _TOP
        return
    marks[row] = form | EXACT
    keys[row] = np.uint64(micros) ^ _TOP
