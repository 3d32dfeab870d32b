"""A generator of N-Triples and N-Quads documents, valid and broken in every way we thought of.

A statement is put together from pieces, most of them right; then, now and then, something is done
to the text that may break it. Whether it is broken only the oracle (pyoxigraph) knows.
"""

# ruff: noqa: E501 - long tables of pieces are easier to read than tall ones

from __future__ import annotations

import random

IRIS = [
    "http://a", "http://example.org/s", "http://example.org/p?q=1&r=2#f", "urn:x:y", "a:b", "a:",
    "http://example.org:80/", "http://example.org:/x", "http://example.org:99999/", "http:///x",
    "http://[::1]/", "http://[v1.a]/", "http://[::zz]/", "http://u:p@h/", "http://a:b/", "http:/x",
    "http://h?q", "http://h#f", "http://h#f#g", "http://h?a?b", "a:%41%c3", "a:%4", "a:%zz", "a:%",
    "http://exämple.org/", "http://a/é", "http://a/\U0001f600", "http://a/?\ue000", "http://a/\ue000",
    "http://a/#\ue000", "http://a/\ufdd0", "http://a/\ufffd", "http://a/\U000e0fff", "http://a/\xa0",
    "http://a/\U000e1000", "http://a/\U0001fffe", "http://a/\x9f", "http://a/\x7f", "http://a/\t",
    "", "rel", "/rel", "#f", "1a:b", "a+b-c.1:d", "a_b:c", "A:b", "http://a b", "http://a/b c",
    "http://a/{", "http://a/}", "http://a/|", "http://a/^", "http://a/`", 'http://a/"', "http://a/\\",
    "http://a/[", "http://a/]", "http://a/<", "a:b[c", "a://x[y", "http://a/\\u00e9", "a:\\u0041",
    "http://a/\\u0020", "http://a/\\U0001F600", "http://a/\\ud800", "a\\u003Ab", "mailto:x@y", "a:@",
    "http://www.w3.org/2001/XMLSchema#string", "http://www.w3.org/2001/XMLSchema#integer",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "urn:angString", "ahttp://w#String",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString", "http://a/..;,=()!$&'*+~-_", "a://",
    "http://%41/", "http://a%4g/", "file:///etc", "http://1.2.3.4:8080/a/b/../c", "x" * 70 + ":y",
    "http://www.w3.org/2001/XMLSchema#strinG", "a:http://www.w3.org/2001/XMLSchema#string", "http://a:8x/", "http://@/", "http://a@", "a:/:/@?#?",
]  # fmt: skip
LABELS = [
    "a", "b1", "1", "_", "a.b", "a..b", "a-b", "a.", "-a", ".a", "", "é", "aé", "a·", "·a", "a:b",
    "f1xa", "f12x", "a_b-c.d", "\U0001f600", "A" * 40, "a‿b", "a\u0300", "a\xd7", "a@b", "a\x00",
]  # fmt: skip
TEXTS = [
    "", "x", "plain text", "é", "\U0001f600", "日本語", "tab\there", "\x00", "\x7f", "\x0b", "a'b",
    '\\"', "\\\\", "\\n\\r\\t\\b\\f\\'", "\\u0041", "\\U0001F600", "\\u00e9x", "\\ud800", "\\udfff",
    "\\uD83D\\uDE00", "\\U00110000", "\\U0010FFFF", "\\uFFFE", "\\u000a", "\\x", "\\", "\\u12",
    "\\u12G4", "\\U0001F60", "\\u 041", 'a"b', "\n", "\r", "a\\", "\ufffe\uffff", "a\\\\\\\\b", '""',
    "x" * 300, "<http://a>", "_:a", ' . <a:b> "', "\\a", "\\e", "\\0", "# no comment", "\u2028",
]  # fmt: skip
TAGS = [
    "en", "EN", "en-US", "en-us", "de-1996", "zh-Hant", "zh-Hant-TW", "zh-hant-tw", "es-419", "x-a",
    "i-klingon", "art-lojban", "en-a-bb", "en-a", "en-u-co-phonebk", "en-x-private", "abcd", "abcde",
    "abcdefgh", "abcdefghi", "e", "a1", "en-", "en--", "en--ltr", "en--rtl", "en--LTR", "en--up",
    "en-US--rtl", "EN--ltr", "-en", "1", "", "en_US", "en-USA", "en-1234", "en-12", "en-Latn-001",
    "sl-rozaj-biske", "de-CH-1901", "zh-yue", "zh-cmn-Hans-CN", "en-aaa-bbb-ccc-ddd", "en-é", "été",
    "en-GB-oed", "sgn-BE-FR", "en-t-de", "a-DE", "en-Latn1", "en-419a", "zh-Hant-", "zh-Hant-419",
    "xx-abcd-12", "EN-lATN-gb", "en-00a", "en-US-GB", "en-419-GB", "zh-Hant-TW-HK", "zh-Hant-Hans",
]  # fmt: skip
JUNK = [
    "true", "1", "1.5", "a:b", ":b", "'x'", "'''x'''", '"""x"""', "[]", "()", "?v", "=", "@en", "^^",
    "^^<a:b>", "<<", ">>", "<<(", ")>>", "{", "}", ",", ";", "|", "!", "~", ".", "..", "é", "\\", "#",
    "@prefix", "VERSION", 'VERSION "1.2"', "a", "_", "_:", "<", ">", '"', "\x0b", "\xa0", "\x0c", "%",
]  # fmt: skip
SPACES = ["", " ", " ", " ", "\t", "  ", " \t"]
LINE_ENDS = ["\n", "\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n# c\n", ' # c <a:b> "\n', "\n \t\n"]


class Maker:
    """Random documents; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def document(self, quads: bool) -> bytes:
        """A document of up to 12 lines, of which some may be broken."""
        pick = self.random
        care = pick.choice([0.0, 0.0, 0.02, 0.2])  # how likely a term is strange
        text = pick.choice(["", "", "", "# head\n", "\n", "\ufeff", " \t", 'VERSION "1.2"\n', "\r"])
        if pick.random() < 0.9:
            text = pick.choice(["", "", "# head\n"])
        for _ in range(pick.randint(0, 12)):
            text += self.statement(quads, care) + pick.choice(LINE_ENDS)
        if pick.random() < 0.5:
            text = text.rstrip("\r\n")
        data = text.encode("utf-8", "surrogatepass")
        if pick.random() < 0.1:
            data = self.damaged(data)
        return data

    def statement(self, quads: bool, care: float) -> str:
        """One statement, with its dot."""
        pick = self.random
        parts = [self.node(care), self.iri(care), self.object(care, 0)]
        if pick.random() < (0.5 if quads else care / 2):
            parts.append(self.node(care))
        if pick.random() < care / 2:
            parts[pick.randrange(len(parts))] = pick.choice(JUNK)
        if pick.random() < care / 4:
            parts.insert(pick.randrange(len(parts) + 1), pick.choice(JUNK))
        if pick.random() < care / 4:
            del parts[pick.randrange(len(parts))]
        parts.append("." if pick.random() > care / 4 else pick.choice(["", "..", ". .", ";", ".1"]))
        return "".join(part + pick.choice(SPACES) for part in parts)

    def iri(self, care: float) -> str:
        """An IRI."""
        some = IRIS if self.random.random() < care else ["http://a", "urn:x:y", IRIS[1], IRIS[2]]
        return f"<{self.random.choice(some)}>"

    def node(self, care: float) -> str:
        """An IRI or a blank node."""
        if self.random.random() < 0.7:
            return self.iri(care)
        some = LABELS if self.random.random() < care else ["a", "b1", "a.b"]
        return f"_:{self.random.choice(some)}"

    def object(self, care: float, depth: int) -> str:
        """Anything."""
        pick = self.random
        kind = pick.random()
        if kind < 0.35:
            return self.node(care)
        if kind < 0.40 and depth < 3:
            gaps = [pick.choice(SPACES) for _ in range(5)]
            inner = [self.node(care), self.iri(care), self.object(care, depth + 1)]
            return "<<(" + "".join(g + p for g, p in zip(gaps, [*inner, ")>>"], strict=False))
        strange = pick.random() < care
        text = '"' + pick.choice(TEXTS if strange else ["x", "é", "a\\nb", "plain text"]) + '"'
        strange = pick.random() < care
        kind = pick.random()
        gap = pick.choice(SPACES) if pick.random() < care else ""
        if kind < 0.3:
            return f"{text}{gap}@{pick.choice(TAGS if strange else ['en', 'en-GB', 'DE'])}"
        if kind < 0.6:
            return f"{text}{gap}^^{gap}{self.iri(max(care, 0.1))}"
        return text

    def damaged(self, data: bytes) -> bytes:
        """The document with a few bytes cut, doubled, replaced or swapped."""
        pick = self.random
        changed = bytearray(data)
        for _ in range(pick.randint(1, 3)):
            if not changed:
                break
            at = pick.randrange(len(changed))
            what = pick.random()
            if what < 0.3:
                del changed[at]
            elif what < 0.6:
                changed[at] = pick.choice(
                    [*b'<>"\\._:@^# \t\r\n\xff\xc3\x80\x00', pick.randrange(256)]
                )
            elif what < 0.8:
                changed.insert(at, pick.choice(b'<>"\\._:@^# \t\r\n\xff'))
            else:
                del changed[at:]
        return bytes(changed)
