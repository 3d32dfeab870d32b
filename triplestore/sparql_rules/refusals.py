"""What a CONSTRUCT has that rules cannot say: start at `RefusedError`."""

from __future__ import annotations


class RefusedError(Exception):
    """A part of a CONSTRUCT that rules cannot say with the meaning of SPARQL.

    word     the keyword or sign by which its place is found in the text
    message  what it is, and why it is refused
    remedy   what to do instead
    """

    def __init__(self, word: str, message: str, remedy: str) -> None:
        super().__init__(message)
        self.word = word
        self.message = message
        self.remedy = remedy
