"""Tokens of SPARQL and of rules.

Start at `Tokens`. A text becomes parallel lists (kind, text, offset), which is fastest in Python: 1
us per token. Lines and columns are computed only for messages. Always true: every text has
tokens; invalid text is of kind BAD, up to the next space; the last token is END.

Words of SPARQL need no space between them if the longest match is clear: `FILTERsameTerm(?x,?y)`,
`LIMIT10`. An unknown word is cut if it consists of such words only; any other stays whole, so that
an error message can name it.

ASCII texts (most texts) are read by an expression without other letters: with the letters of all
scripts, each of its classes takes Python 2 ms to compile, 40 ms in total.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from typing import Final

from triplestore.errors import ParseError
from triplestore.expressions.functions import AGGREGATES, FUNCTIONS
from triplestore.operators.context import current

END: Final = 0
OPERATOR: Final = 1
VARIABLE: Final = 2
PREFIXED: Final = 3
WORD: Final = 4
IRI: Final = 5
STRING: Final = 6
INTEGER: Final = 7
DECIMAL: Final = 8
DOUBLE: Final = 9
AT: Final = 10
BLANK: Final = 11
BAD: Final = 12
DATA: Final = 13

_EVERY = 4096  # tokens between two checks of the limits
_BYTES = 250  # per token, including the parser's result for it
_LONG = 300  # characters of a word that is longer than any prefix of a name
_NUMBER = re.compile(r"[0-9]+(?:[eE][0-9]+)?")  # a number inside of a word

KINDS = {
    END: "the end of the text",
    OPERATOR: "an operator",
    VARIABLE: "a variable",
    PREFIXED: "a prefixed name",
    WORD: "a keyword",
    IRI: "an IRI",
    STRING: "a string",
    INTEGER: "a number",
    DECIMAL: "a number",
    DOUBLE: "a number",
    AT: "a language tag",
    BLANK: "a blank node",
    BAD: "something unreadable",
    DATA: "a block of data",
}

_ASCII = "A-Za-z"
_BASE = _ASCII + (
    "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_MARKS = r"\u00b7\u0300-\u036f\u203f-\u2040"
_PERCENT = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"


_KEYWORDS = (
    "SELECT CONSTRUCT DESCRIBE ASK BASE PREFIX DISTINCT REDUCED AS FROM NAMED WHERE GROUP BY "
    "HAVING ORDER ASC DESC LIMIT OFFSET VALUES LOAD SILENT INTO CLEAR DROP CREATE ADD MOVE COPY "
    "TO INSERT DELETE DATA WITH USING DEFAULT ALL GRAPH OPTIONAL SERVICE BIND UNDEF MINUS UNION "
    "FILTER IN NOT EXISTS SEPARATOR TRUE FALSE VERSION"
)
_WORDS = frozenset(_KEYWORDS.split())
_CALLED = frozenset([*FUNCTIONS, *(name.upper() for name in AGGREGATES)])
_KNOWN = _WORDS | _CALLED


def _sizes_by_start() -> dict[str, list[int]]:
    """By first two letters, the lengths of the known words, the longest first."""
    sizes: dict[str, set[int]] = {}
    for word in _KNOWN:
        sizes.setdefault(word[:2], set()).add(len(word))
    return {start: sorted(found, reverse=True) for start, found in sizes.items()}


_SIZES = _sizes_by_start()


def _cuts(word: str, at: int = 0) -> list[str]:
    """The known words that make up a word from a place on, to its end or up to a digit.

    >>> _cuts("FILTERsameTerm"), _cuts("LIMIT10"), _cuts("STRLENGTH"), _cuts("COUNTIF")
    (['FILTER', 'sameTerm'], ['LIMIT'], [], [])
    """
    found: list[str] = []
    while at < len(word) and not (found and word[at].isdigit()):
        if len(found) % _EVERY == 0 and found:
            current().need(_BYTES * len(found))
        sizes = _SIZES.get(word[at : at + 2].upper(), ())
        size = next((n for n in sizes if word[at : at + n].upper() in _KNOWN), 0)
        if not size and word[at] == "a":  # as in `?x atrue`
            size = 1
        part = word[at : at + size]
        at += size
        if not size or (part.upper() not in _WORDS and part != "a" and at < len(word)):
            return []  # a function is followed by a parenthesis
        found.append(part)
    return found


def _letters(is_ascii: bool) -> tuple[str, str, str]:
    """Contents of classes of characters: letters, letters and `_`, characters within names."""
    base, marks = (_ASCII, "") if is_ascii else (_BASE, _MARKS)
    return base, base + "_", base + r"_0-9\-" + marks


@cache
def name_pattern(is_ascii: bool) -> str:
    """A verbose regular expression for prefixed names, in ASCII or in all scripts."""
    base, u, chars = _letters(is_ascii)
    # Possessive, here and below: otherwise Python keeps a backtracking point for each character.
    local = rf"(?:[{u}:0-9]|{_PERCENT})(?:[{chars}:]++|{_PERCENT}|\.+(?=[{chars}:%\\]))*+"
    # At most 256 characters: words that no `:` follows (a.a.a.a) are scanned as a prefix from each
    # of them on, which would take quadratic time.
    prefix = rf"[{base}](?:[{chars}]|\.+(?=[{chars}])){{0,255}}+"
    return rf"(?:{prefix})?:(?:{local})?"


_PATTERN = r"""
    (?: [ \t\r\n]++ | \#[^\n\r]*+ {slashes} )*+
    (?:
      ( {rules} <<\( | << (?! {scheme} [^\x00-\x20<>"{{}}|^`\\]* > (?!>) ) | \)>> | >>
        | \{{\| | \|\}}
        | ~ | \|\| | && | != | <= | >= | \^\^ | [][(),{{}};=!+*/|^-] | \.(?![0-9])
        | < (?! [^\x00-\x20<>"{{}}|^`]* > ) | > | \? (?! [{u}0-9] ) )
    | [?$]([{u}0-9][{u}0-9{marks}]*)
    | ( {name} )
    | ( [A-Za-z][A-Za-z0-9_]* )
    | <( (?: [^\x00-\x20<>"{{}}|^`\\]++ | \\u[0-9A-Fa-f]{{4}} | \\U[0-9A-Fa-f]{{8}} )*+ )>
    | ( \"\"\"(?:[^"\\]++|\\.|"(?!""))*+\"\"\" | '''(?:[^'\\]++|\\.|'(?!''))*+'''
        | "(?:[^"\\\n\r]++|\\.)*+" | '(?:[^'\\\n\r]++|\\.)*+' )
    | ( [0-9]++ (?! \.?[0-9]*[eE][+-]?[0-9] | \.[0-9] ) )
    | ( [0-9]*+\.[0-9]++ (?! [0-9]*[eE][+-]?[0-9] ) )
    | ( (?: [0-9]+\.?[0-9]* | \.[0-9]+ ) [eE][+-]?[0-9]+ )
    | @( [A-Za-z]++(?:-[A-Za-z0-9]++)*+(?:--[a-z]++)? )
    | _:( [{u}0-9](?:[{chars}]++|\.+(?=[{chars}]))*+ )
    | ( [^ \t\r\n]+ )
    | $
    )
"""


@cache
def _pattern(rules: bool, is_ascii: bool) -> re.Pattern[str]:
    """The expression for rules or SPARQL, where `:-5` is the name `:` and a number."""
    _, u, chars = _letters(is_ascii)
    marks = "" if is_ascii else _MARKS
    slashes, arrow = (r"| //[^\n\r]*+", ":- |") if rules else ("", "")
    name = name_pattern(is_ascii)
    parts = {"u": u, "chars": chars, "marks": marks, "name": name}
    scheme = "[A-Za-z][A-Za-z0-9+.-]*:"  # `?x<<http://a>` compares with an IRI
    pattern = _PATTERN.format(slashes=slashes, rules=arrow, scheme=scheme, **parts)
    return re.compile(pattern, re.VERBOSE | re.DOTALL)


class Tokens:
    """The tokens of a text.

    kinds, texts, starts   one entry per token, END last. The text of a variable, an IRI, a tag or a
                           blank node is without its marks
    blocks                 spans of the text, in order; each is one token of kind DATA

    >>> tokens = Tokens("?x <= 5 .")
    >>> list(zip(tokens.kinds, tokens.texts))
    [(2, 'x'), (1, '<='), (7, '5'), (1, '.'), (0, '')]
    """

    __slots__ = ("_in_rules", "_lines", "file", "kinds", "starts", "text", "texts")

    def __init__(
        self,
        text: str,
        file: str | None = None,
        *,
        slash_comments: bool = False,
        blocks: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.text = text
        self.file = file
        self.kinds: list[int] = []
        self.texts: list[str] = []
        self.starts: list[int] = []
        self._lines: list[int] | None = None
        limits = current()
        size = len(text) - sum(end - start for start, end in blocks)
        if size > limits.text.size:
            raise ParseError(
                f"the text has {size:,} characters, more than the limit of "
                f"{limits.text.size:,}; split it, or raise the limit"
            )
        self._in_rules = slash_comments
        pattern = _pattern(slash_comments, text.isascii())
        done = 0
        for start, end in blocks:
            self._read(pattern, done, start)
            self._add(DATA, text[start:end], start)
            done = end
        self._read(pattern, done, len(text))
        self._add(END, "", len(text))

    def _read(self, pattern: re.Pattern[str], start: int, end: int) -> None:
        while start < end:
            start = self._read_on(pattern, start, end)

    def _read_on(self, pattern: re.Pattern[str], start: int, end: int) -> int:
        """Read until a word must be cut; return the place behind that word, or `end`."""
        kinds, texts, starts = self.kinds.append, self.texts.append, self.starts.append
        for number, match in enumerate(pattern.finditer(self.text, start, end), len(self.kinds)):
            if number % _EVERY == 0 and number:
                self._look(number, match.start())
            kind = match.lastindex
            if kind is None:
                break
            if kind == WORD and match[kind].upper() not in _KNOWN and not self._in_rules:
                begin = match.start(kind)
                cut = self._cut(match[kind], begin)
                if cut > begin:
                    return cut
            kinds(kind)
            texts(match[kind])
            starts(match.start(kind))
        return end

    def _look(self, number: int, offset: int) -> None:
        """Raise if the number of tokens up to an offset exceeds the limits."""
        limits = current()
        limits.need(_BYTES * number)
        if number > limits.text.tokens:
            line, column = self.place(offset)
            raise ParseError(
                f"the text has more than {limits.text.tokens:,} words, names and signs; split it, "
                "or raise the limit",
                line=line,
                column=column,
            )

    def _cut(self, word: str, start: int) -> int:
        """Add the words of which a word consists, and numbers between them; return the place
        behind them, which is the start of the word if it stays whole.

        Numbers of a long word are read here: continuing with the expression behind each of them
        would read the rest of the word again each time.
        """
        at = 0
        while parts := _cuts(word, at):
            for part in parts:
                self._add_looking(WORD, part, start + at)
                at += len(part)
            number = _NUMBER.match(word, at)
            if number is None or len(word) - number.end() < _LONG:
                break
            self._add_looking(INTEGER if number[0].isdigit() else DOUBLE, number[0], start + at)
            at = number.end()
        return start + at

    def _add_looking(self, kind: int, text: str, start: int) -> None:
        if len(self.kinds) % _EVERY == 0 and self.kinds:
            self._look(len(self.kinds), start)
        self._add(kind, text, start)

    def _add(self, kind: int, text: str, start: int) -> None:
        self.kinds.append(kind)
        self.texts.append(text)
        self.starts.append(start)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, from 1 on."""
        if self._lines is None:
            self._lines = [0, *(found.end() for found in re.finditer(r"\n|\r\n?", self.text))]
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def start(self, at: int) -> int:
        """The place where a token begins, including its marks."""
        start = self.starts[at]
        return start - {VARIABLE: 1, IRI: 1, AT: 1, BLANK: 2}.get(self.kinds[at], 0)

    def describe(self, at: int) -> str:
        """A token's name in error messages."""
        kind = self.kinds[at]
        if kind == END:
            return KINDS[END]
        text = self.text[self.start(at) : self.starts[at] + len(self.texts[at])]
        text = text + ">" if kind == IRI else text
        return f"'{text}'" if len(text) < 40 else f"'{text[:36]}...'"
