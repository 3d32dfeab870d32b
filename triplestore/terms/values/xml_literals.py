"""Which XML literals have a value: those whose text is the content of an XML element.

Start at `is_well_formed`. Their values are not computed: XML literals are the same if their texts
are equal.
"""

from __future__ import annotations

from functools import lru_cache
from xml.parsers import expat


@lru_cache(maxsize=1 << 12)
def is_well_formed(lexical: str) -> bool:
    """Whether a text can be the content of an element: its tags match, and it has no entities.

    >>> is_well_formed("some <b>text</b>"), is_well_formed("<b>text"), is_well_formed("&name;")
    (True, False, False)
    """
    parser = expat.ParserCreate("utf-8")
    try:
        parser.Parse(b"<content>", False)
        parser.Parse(lexical.encode("utf-8", "surrogatepass"), False)
        parser.Parse(b"</content>", True)
    except expat.ExpatError:
        return False
    return True
