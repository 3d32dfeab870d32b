"""Random typed literals: valid ones of many shapes, and the same with something broken."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from triplestore.terms.values.value_keys import DATATYPES
from triplestore.terms.values.xsd import INTEGER_RANGES, XSD

_TURNS = [2**53, 2**63, 2**64, 2**31, 2**32, 2**15, 2**16, 2**7, 2**8, 10**15, 10**16, 10**19]
_NAMES = {"http": "http://example.org/", "ü": "ü" * 5, "": "", "7": "a" * 7, "8": "a" * 8}


class Literals:
    """Random literals from one source of random numbers."""

    def __init__(self, random: random.Random) -> None:
        self.random = random

    def typed(self) -> bytes:
        """The text of a TYPED term."""
        datatype = self.random.choice(DATATYPES[1:])
        lexical = self.lexical(datatype.removeprefix(XSD))
        if self.random.random() < 0.15:
            lexical = self.broken(lexical)
        if self.random.random() < 0.02:
            datatype = self.random.choice(["http://example.org/type", XSD, "x", datatype + "x"])
        return f'{lexical}"^^<{datatype}>'.encode()

    def lexical(self, name: str) -> str:
        """A lexical form of a datatype, most of the time."""
        if name in INTEGER_RANGES:
            return self.integer()
        if name == "decimal":
            return self.random.choice([self.integer, self.decimal])()
        if name in ("float", "double"):
            return self.random.choice([self.integer, self.decimal, self.double])()
        if name == "boolean":
            return self.random.choice(["true", "false", "1", "0"])
        if "uration" in name:
            return self.duration(name)
        if name in ("hexBinary", "base64Binary", "anyURI") or not name[0].islower():
            return self.random.choice(["00FF", "00ff", "AQ==", *_NAMES.values()])
        made = {
            "dateTime": lambda: f"{self.year()}-{self.month()}-{self.day()}T{self.time()}",
            "dateTimeStamp": lambda: f"{self.year()}-{self.month()}-{self.day()}T{self.time()}",
            "date": lambda: f"{self.year()}-{self.month()}-{self.day()}",
            "time": self.time,
            "gYear": self.year,
            "gYearMonth": lambda: f"{self.year()}-{self.month()}",
            "gMonth": lambda: f"--{self.month()}",
            "gMonthDay": lambda: f"--{self.month()}-{self.day()}",
            "gDay": lambda: f"---{self.day()}",
        }.get(name)
        return made() + self.zone() if made else self.random.choice(["a", "a b", "en@en", "en-US"])

    def digits(self, most: int, least: int = 1) -> str:
        """Digits, with many zeros at times."""
        pool = self.random.choice(["0123456789", "09", "0001"])
        return "".join(self.random.choices(pool, k=self.random.randint(least, most)))

    def integer(self) -> str:
        """An integer: small, near to a limit, or of up to 40 digits."""
        sign = self.random.choice(["", "", "-", "+"])
        way = self.random.random()
        if way < 0.4:
            return sign + str(self.random.randint(0, 300))
        if way < 0.7:
            return sign + str(self.random.choice(_TURNS) + self.random.randint(-3, 3))
        return sign + self.digits(self.random.choice([3, 15, 16, 20, 40]))

    def decimal(self) -> str:
        """A decimal of up to 35 digits."""
        left = self.digits(self.random.choice([2, 9, 25]), 0)
        right = self.digits(self.random.choice([2, 9, 25]), 0 if left else 1)
        return self.random.choice(["", "", "-", "+"]) + left + "." + right

    def double(self) -> str:
        """A floating-point number: special, the shortest form of a random one, or any digits."""
        way = self.random.random()
        if way < 0.1:
            return self.random.choice(["INF", "-INF", "+INF", "NaN", "-0", "1e400", "-1e-400"])
        if way < 0.4:
            return repr(self.random.uniform(-1, 1) * 10.0 ** self.random.randint(-320, 300))
        mantissa = self.random.choice([self.integer, self.decimal])()
        power = self.random.choice(["", "+", "-"]) + self.digits(self.random.choice([1, 2, 3, 9]))
        return mantissa + self.random.choice("eE") + power

    def year(self) -> str:
        """A year, mostly of four digits."""
        special = self.random.choice(["0000", "0001", "0002", "-0001", "-0044", "12000", "9" * 12])
        return special if self.random.random() < 0.2 else f"{self.random.randint(1, 9999):04}"

    def month(self) -> str:
        """A month."""
        return f"{self.random.randint(1, 12):02}"

    def day(self) -> str:
        """A day, which not every month has."""
        return f"{self.random.choice([1, 15, 28, 29, 30, 31]):02}"

    def time(self) -> str:
        """A time of day."""
        if self.random.random() < 0.05:
            return self.random.choice(["24:00:00", "24:00:00.00", "24:00:01"])
        hour, minute, second = (self.random.randint(0, top) for top in (23, 59, 59))
        fraction = "." + self.digits(9) if self.random.random() < 0.4 else ""
        return f"{hour:02}:{minute:02}:{second:02}{fraction}"

    def zone(self) -> str:
        """A time zone, or none."""
        zones = ["", "", "Z", "+00:00", "-00:00", "+14:00", "-14:00", "+02:00", "-05:30", "+13:59"]
        return self.random.choice([*zones, "+14:01", "+02:60"])

    def duration(self, name: str) -> str:
        """A duration."""
        number = self.random.randint
        date = self.random.choice(["", f"{number(0, 9)}Y", f"{number(0, 99)}M", "1Y0M"])
        date = "" if name == "dayTimeDuration" else date
        time = self.random.choice(["", f"{number(0, 99)}D", f"T{number(0, 99)}H", "T0.25S", "DT1M"])
        time = "" if name == "yearMonthDuration" else time
        return self.random.choice(["", "-"]) + "P" + date + time

    def broken(self, lexical: str) -> str:
        """The same with a character or two put in, taken out or changed."""
        for _ in range(self.random.randint(1, 2)):
            at = self.random.randint(0, len(lexical))
            skip = self.random.randint(0, 1)
            other = self.random.choice(["", *'0159.-+:eETZP"@ \tNIFx٣'])
            lexical = lexical[:at] + other + lexical[at + skip :]
        return lexical


typed_texts = st.randoms(use_true_random=False).map(lambda random: Literals(random).typed())
"""Texts of TYPED terms."""
