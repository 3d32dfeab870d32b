"""Text queries by their meaning: a set of words for each text, and loops. No stems, no scores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random

from triplestore.text_search.query_parser import parse_text_query
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

WORDS = ["sun", "sunny", "sunset", "wind", "window", "wine", "win", "Panel", "roof", "12", "été"]


def words_of(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def matching(query: str, texts: Mapping[object, str]) -> set[object]:
    """The names of the texts that match a query."""
    tree = parse_text_query(query)
    return {name for name, text in texts.items() if matches(tree, words_of(text))}


def matches(node: TextNode, words: list[str]) -> bool:
    match node:
        case Word(text):
            return has_phrase(words, words_of(text), 0)
        case Phrase(text, slop, False):
            return has_phrase(words, words_of(text), slop)
        case Phrase(text, _, True):
            return has_prefix_phrase(words, words_of(text))
        case WordPattern(parts):
            if parts[-1] is None and len(parts) == 2 and isinstance(parts[0], str):
                return has_prefix_phrase(words, words_of(parts[0]))
            made = "".join(
                re.escape(part.lower()) if isinstance(part, str) else ".*" if part is None else "."
                for part in parts
            )
            return any(re.fullmatch(made, word) for word in words)
        case Fuzzy(text, distance):
            wanted = words_of(text)
            return bool(wanted) and all(
                any(changes(each, word) <= distance for word in words) for each in wanted
            )
        case WordExpression(text, _):
            return any(re.fullmatch(text, word) for word in words)
        case Everything():
            return True
        case Boosted(part, _):
            return matches(part, words)
        case Clauses(parts):
            return matches_clauses(parts, words)


def matches_clauses(parts: tuple[tuple[Occurs, TextNode], ...], words: list[str]) -> bool:
    found: dict[Occurs, list[bool]] = {occurs: [] for occurs in Occurs}
    for occurs, part in parts:
        found[occurs].append(matches(part, words))
    if any(found[Occurs.MUST_NOT]):
        return False
    if found[Occurs.MUST]:
        return all(found[Occurs.MUST])
    return any(found[Occurs.SHOULD]) or not found[Occurs.SHOULD]


def has_phrase(words: list[str], wanted: list[str], slop: int) -> bool:
    assert slop == 0, "the oracle has no slop"
    size = len(wanted)
    return bool(wanted) and any(
        words[at : at + size] == wanted for at in range(len(words) - size + 1)
    )


def has_prefix_phrase(words: list[str], wanted: list[str]) -> bool:
    if not wanted:
        return False
    *front, last = wanted
    size = len(front)
    return any(
        words[at : at + size] == front and words[at + size].startswith(last)
        for at in range(len(words) - size)
    )


def changes(one: str, other: str) -> int:
    """The Damerau-Levenshtein distance, in which a swap of neighbours is one change."""
    rows = [
        [max(i, j) if not i or not j else 0 for j in range(len(other) + 1)]
        for i in range(len(one) + 1)
    ]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            same = one[i - 1] == other[j - 1]
            rows[i][j] = min(
                rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (not same)
            )
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


def some_text(random: Random) -> str:
    joints = [" ", " ", " ", "-", ", ", ". ", "_"]
    text = random.choice(WORDS)
    for _ in range(random.randrange(6)):
        text += random.choice(joints) + random.choice(WORDS)
    return text


def some_query(random: Random, depth: int = 2) -> str:
    word = random.choice(WORDS)
    kinds = ["word", "word", "phrase", "prefix", "pattern", "fuzzy", "prefix phrase", "regex"]
    if depth:
        kinds += ["and", "or", "clauses", "clauses", "group", "boost"]
    other = random.choice(WORDS)
    match random.choice(kinds):
        case "phrase":
            return f'"{word} {other}"'
        case "prefix":
            return f"{word[: random.randrange(1, 4)]}*"
        case "pattern":
            at = random.randrange(len(word))
            return f"{word[:at]}?{word[at + 1 :]}*"
        case "fuzzy":
            return f"{word[1:] or word}~{random.choice(['1', '2', ''])}"
        case "prefix phrase":
            return f'"{word} {other[:2]}"*'
        case "regex":
            return f"/{word[:2].lower()}(n.*|ll)/"
        case "and":
            joint = random.choice([" AND ", " && ", " AND NOT "])
            return f"{some_query(random, 0)}{joint}{some_query(random, 0)}"
        case "or":
            joint = random.choice([" OR ", " || ", " OR NOT "])
            return f"{some_query(random, 0)}{joint}{some_query(random, 0)}"
        case "clauses":
            marks = ["", "", "+", "-", "NOT "]
            parts = [
                random.choice(marks) + some_query(random, 0) for _ in range(random.randrange(1, 4))
            ]
            return " ".join(parts)
        case "group":
            return f"({some_query(random, depth - 1)}) {random.choice(['AND', 'OR', ''])} ({word})"
        case "boost":
            return f"({some_query(random, depth - 1)})^2.5"
        case _:
            return word
