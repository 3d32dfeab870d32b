"""Reads text queries, in the syntax of Lucene: start at `parse_text_query`.

    solar panel          texts with one of the words; those with both come first
    "solar panel"        the words one after the other; "solar panel"~2 with two words in between
    sol*  s?lar          prefixes, patterns; "solar pan"* a phrase whose last word is a prefix
    solar~  solar~1      words with at most 2 (1) changed letters
    /pan(el|e)s?/        words that match a regular expression
    +solar -wind         must, must not; AND, OR, NOT and brackets; && || ! are the same
    panel^2              counts twice; *:* any text

`AND` binds closer than `OR`. A backslash takes the meaning from the next character. A query that
cannot be read raises an error that shows the place.
"""

from __future__ import annotations

import re

from triplestore.errors import UsageError
from triplestore.text_search.query_tree import (
    Boosted,
    Clauses,
    Everything,
    Fuzzy,
    Occurs,
    Phrase,
    TextNode,
    Word,
    WordExpression,
    WordPattern,
)
from triplestore.text_search.thresholds import TEXT

_MOST_CHANGES = 2
_NUMBER = re.compile(r"\d+(?:\.\d*)?|\.\d+")
_FIELD = re.compile(r"[A-Za-z_][\w.-]*:(?![/\s])")
_ENDS = frozenset(' \t\r\n\f\v()"^~\u3000')
_TWO = {"&&": "AND", "||": "OR"}
_PREFIXES = {"+": Occurs.MUST, "-": Occurs.MUST_NOT, "!": Occurs.MUST_NOT}


def text_query_error(problem: str, text: str, at: int) -> UsageError:
    """The error for a query that cannot be read, with the place.

    >>> print(text_query_error("a word is missing", "a AND", 5))
    text query: a word is missing, at character 6:
      a AND
           ^
    """
    shown = text.replace("\n", " ").replace("\t", " ")
    start = max(0, at - 60)
    cut = shown[start : at + 40]
    return UsageError(
        f"text query: {problem}, at character {at + 1}:\n  {cut}\n  {' ' * (at - start)}^"
    )


def parse_text_query(text: str) -> TextNode:
    """The tree of a query.

    >>> parse_text_query('solar^2 -"wind farm"~1')
    Clauses(parts=((<Occurs.SHOULD: 'should'>, Boosted(part=Word(text='solar'), factor=2.0)), \
(<Occurs.MUST_NOT: 'must not'>, Phrase(text='wind farm', slop=1, prefix=False))))
    >>> parse_text_query("solar (panel")
    Traceback (most recent call last):
    triplestore.errors.UsageError: text query: the bracket is not closed, at character 7:
      solar (panel
            ^
    """
    if len(text) > TEXT.query_size:
        raise UsageError(
            f"a text query has at most {TEXT.query_size:,} characters; this has {len(text):,}"
        )
    return _Parser(text).whole()


class _Parser:
    """Reads one query.

    at  the next character
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._parts = 0

    def whole(self) -> TextNode:
        """The query."""
        made = self._group()
        if self._at < len(self._text):
            raise self._error("this bracket closes nothing")
        return made

    # -- groups -----------------------------------------------------------------------------------

    def _group(self) -> TextNode:
        """Clauses up to a closing bracket or the end."""
        ors: list[list[tuple[Occurs, TextNode]]] = []
        joined = ""  # the operator before the next clause
        start = self._at
        while True:
            place = self._skip()
            if self._at >= len(self._text) or self._text[self._at] == ")":
                break
            operator = self._operator()
            if operator in ("AND", "OR"):
                if joined or not ors:
                    raise self._error(f"{operator} needs a word before it", place)
                joined = operator
                continue
            occurs, part = self._clause(operator == "NOT")
            if joined == "AND":
                ors[-1].append((_required(occurs), part))
            elif joined == "OR":
                ors[-1] = [_optional(_all_of(ors[-1]))]
                ors.append([_optional((occurs, part))])
            else:
                ors.append([(occurs, part)])
            joined = ""
        if joined:
            raise self._error(f"a word is missing after {joined}")
        if not ors:
            raise self._error("a word is missing", start)
        return _clauses([_all_of(each) for each in ors])

    def _clause(self, negated: bool) -> tuple[Occurs, TextNode]:
        occurs = Occurs.MUST_NOT if negated else Occurs.SHOULD
        place = self._at
        while self._at < len(self._text) and self._text[self._at] in _PREFIXES:
            own = _PREFIXES[self._text[self._at]]
            if occurs is Occurs.MUST_NOT and own is Occurs.MUST_NOT:
                raise self._error("a clause is negated twice")
            occurs = own if occurs is Occurs.SHOULD else occurs
            self._at += 1
        self._skip()
        if self._at >= len(self._text):
            raise self._error("a word is missing", place)
        return occurs, self._boosted(self._primary())

    def _operator(self) -> str:
        """AND, OR or NOT, which are read; "" if something else comes."""
        two = self._text[self._at : self._at + 2]
        if two in _TWO:
            self._at += 2
            return _TWO[two]
        for name in ("AND", "OR", "NOT"):
            stop = self._at + len(name)
            if self._text.startswith(name, self._at) and self._ends(stop):
                self._at = stop
                self._skip()
                return name
        return ""

    def _ends(self, at: int) -> bool:
        return at >= len(self._text) or self._text[at] in _ENDS

    # -- clauses ----------------------------------------------------------------------------------

    def _primary(self) -> TextNode:
        self._parts += 1
        if self._parts > TEXT.query_parts:
            raise self._error(f"it has more than {TEXT.query_parts:,} parts")
        first = self._text[self._at]
        if first == "(":
            return self._bracketed()
        if first == '"':
            return self._phrase()
        if first == "/":
            return self._expression()
        if self._text.startswith("*:*", self._at):
            self._at += 3
            return Everything()
        return self._word()

    def _bracketed(self) -> TextNode:
        opened = self._at
        self._depth += 1
        if self._depth > TEXT.query_depth:
            raise self._error(f"groups are nested more than {TEXT.query_depth} deep")
        self._at += 1
        if self._skip_to(")"):
            raise self._error("the brackets are empty", opened)
        made = self._group()
        if not self._skip_to(")"):
            raise self._error("the bracket is not closed", opened)
        self._at += 1
        self._depth -= 1
        return made

    def _phrase(self) -> TextNode:
        text = self._upto('"')
        if self._text.startswith("*", self._at):
            self._at += 1
            return Phrase(text, prefix=True)
        slop = self._number_after("~")
        return Phrase(text, int(slop or 0))

    def _expression(self) -> TextNode:
        start = self._at
        closed = self._text.find("/", start + 1)
        while closed > 0 and self._text[closed - 1] == "\\":
            closed = self._text.find("/", closed + 1)
        if closed < 0:
            raise self._error("the '/' of the regular expression is not closed", start)
        self._at = closed + 1
        return WordExpression(self._text[start + 1 : closed].replace("\\/", "/"), start)

    def _word(self) -> TextNode:
        start = self._at
        if _FIELD.match(self._text, start):
            raise self._error(
                "fields are not known: write the property before the query string, the language "
                "behind it, and ':' in a word as '\\:'"
            )
        parts = self._word_parts()
        texts = [part for part in parts if isinstance(part, str)]
        if parts == [None]:
            return Everything()
        if len(texts) < len(parts):
            return WordPattern(tuple(parts))
        if not texts:
            raise self._error(f"{self._text[start]!r} is not expected here", start)
        word = "".join(texts)
        if self._text.startswith("~", self._at):
            place = self._at
            changes = self._number_after("~")
            if changes is not None and changes > _MOST_CHANGES:
                raise self._error(f"at most {_MOST_CHANGES} changed letters are allowed", place)
            # A number below 1 was a similarity in old versions of Lucene.
            distance = _MOST_CHANGES if changes is None or 0 < changes < 1 else int(changes)
            return Fuzzy(word, distance)
        return Word(word)

    def _word_parts(self) -> list[str | bool | None]:
        """The texts and wildcards of a word."""
        parts: list[str | bool | None] = []
        own = ""
        while self._at < len(self._text) and self._text[self._at] not in _ENDS:
            one = self._text[self._at]
            if one in "*?":
                parts += [own] * bool(own)
                parts.append(None if one == "*" else False)
                own = ""
            else:
                own += self._unescaped()
                continue
            self._at += 1
        return parts + [own] * bool(own)

    def _boosted(self, part: TextNode) -> TextNode:
        place = self._at
        factor = self._number_after("^", needed=True)
        if factor is None:
            return part
        if factor > 1e6:
            raise self._error("a boost is at most 1000000", place)
        return Boosted(part, factor)

    # -- characters -------------------------------------------------------------------------------

    def _upto(self, quote: str) -> str:
        """The text in quotes, which is read."""
        start = self._at
        self._at += 1
        found = ""
        while self._at < len(self._text):
            if self._text[self._at] == quote:
                self._at += 1
                return found
            found += self._unescaped()
        raise self._error("the quotes are not closed", start)

    def _unescaped(self) -> str:
        """The next character, or the one behind a backslash."""
        one = self._text[self._at]
        if one == "\\":
            self._at += 1
            if self._at >= len(self._text):
                raise self._error("a character is missing after the backslash")
            one = self._text[self._at]
        self._at += 1
        return one

    def _number_after(self, mark: str, needed: bool = False) -> float | None:
        """The number after a mark, both read; None if there is none."""
        if not self._text.startswith(mark, self._at):
            return None
        self._at += 1
        found = _NUMBER.match(self._text, self._at)
        if found is None:
            if needed or not self._ends(self._at):
                raise self._error(f"a number is missing after {mark!r}")
            return None
        self._at = found.end()
        return float(found[0])

    def _skip(self) -> int:
        """Skip white space; the next place."""
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        return self._at

    def _skip_to(self, expected: str) -> bool:
        return self._text.startswith(expected, self._skip())

    def _error(self, problem: str, at: int | None = None) -> UsageError:
        return text_query_error(problem, self._text, self._at if at is None else at)


def _required(occurs: Occurs) -> Occurs:
    return Occurs.MUST if occurs is Occurs.SHOULD else occurs


def _optional(clause: tuple[Occurs, TextNode]) -> tuple[Occurs, TextNode]:
    """A clause beside an OR, of which NOT is a part of its own."""
    if clause[0] is not Occurs.MUST_NOT:
        return clause
    return Occurs.SHOULD, Clauses((clause,))


def _all_of(parts: list[tuple[Occurs, TextNode]]) -> tuple[Occurs, TextNode]:
    """Clauses that are joined by AND, as one."""
    if len(parts) == 1:
        return parts[0]
    first = (_required(parts[0][0]), parts[0][1])
    return Occurs.SHOULD, Clauses((first, *parts[1:]))


def _clauses(parts: list[tuple[Occurs, TextNode]]) -> TextNode:
    if len(parts) == 1 and parts[0][0] is not Occurs.MUST_NOT:
        return parts[0][1]
    return Clauses(tuple(parts))
