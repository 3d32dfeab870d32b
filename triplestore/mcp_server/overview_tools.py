"""The tools `describe_store` and `search_terms`: what there is, and what it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triplestore.browse.search import search_terms
from triplestore.browse.summary import describe_store
from triplestore.mcp_server.answers import Answer, fitting, joined, one_line
from triplestore.mcp_server.summary_text import summary_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triplestore.mcp_server.session import AgentSession, Reading
    from triplestore.mcp_server.short_names import ShortNames


def answer_description(
    session: AgentSession,
    reading: Reading,
    *,
    about: Sequence[str] | None = None,
    classes: int = 30,
    properties: int = 40,
) -> Answer:
    """What is in the store, or what some classes and properties are."""
    names = reading.names()
    terms = None if about is None else [names.term(text) for text in about]
    many = terms is not None
    found = describe_store(
        reading.snapshot,
        classes=len(terms) if terms is not None else classes,
        properties=len(terms) if terms is not None else properties,
        about=terms,
        shape=20 if many else 8,
        examples=3 if many else 1,
    )
    text = summary_text(found, names, session.settings.characters)
    if terms is not None:
        listed = found["classes"]["items"] + found["properties"]["items"]
        known = {item["term"]["value"] for item in listed}
        missing = [term for term in terms if getattr(term, "value", None) not in known]
        text = joined(
            text,
            *(
                f"{names.text(term)} is neither a class nor a property of this store: query can "
                "show its triples"
                for term in missing
            ),
        )
    return Answer(text, _data(found, names, reading))


def answer_search(
    session: AgentSession, reading: Reading, *, text: str, kind: str, limit: int
) -> Answer:
    """Terms by label or IRI."""
    names = reading.names()
    query = _with_namespace(text, names)
    found = search_terms(reading.snapshot, query, kind, min(limit, session.settings.rows) + 1)
    more, found = len(found) > limit, found[:limit]
    if not found:
        said = (
            f"nothing matches {text!r}: each word must begin a word of one label or name; try "
            "fewer or shorter words, another kind, or describe_store for what there is"
        )
        return Answer(said, {"items": [], "more": False})
    items: list[dict[str, Any]] = []
    lines = []
    for each in found:
        name = names.iri(each["term"]["value"])
        label, match = each.get("label"), each.get("match")
        parts = [name, each["kind"], f"{each['count']:,}"]
        parts += [f"“{one_line(label)}”"] if label else []
        parts += [f"also called “{one_line(match)}”"] if match else []
        lines.append(" | ".join(parts))
        items.append({"term": name, "iri": each["term"]["value"], **_without_term(each)})
    shown, whole = fitting(lines, session.settings.characters)
    more = more or not whole
    counted = "term | kind | members, triples or uses | label"
    said_more = "(there are more: use more words, a kind, or a higher limit)" if more else None
    data = {"items": items[: len(shown)], "more": more, "prefixes": names.used}
    return Answer(joined(names.header(), counted, *shown, said_more), data)


def _without_term(found: dict[str, Any]) -> dict[str, Any]:
    texts: dict[str, Any] = {
        key: one_line(found[key], 300) for key in ("label", "match") if key in found
    }
    return {"kind": found["kind"], "count": found["count"], **texts}


def _with_namespace(text: str, names: ShortNames) -> str:
    """A name with a prefix that was made here as an IRI, which the search understands."""
    prefix, colon, local = text.strip().partition(":")
    if colon and prefix in names.prefixes and not local.startswith("//"):
        return f"<{names.prefixes[prefix]}{local}>"
    return text


def _data(found: dict[str, Any], names: ShortNames, reading: Reading) -> dict[str, Any]:
    """The summary as compact data: terms as short text."""

    def short(item: Any) -> Any:
        if isinstance(item, dict):
            if "type" in item and "value" in item:
                return names.json_text(item)
            return {key: short(value) for key, value in item.items()}
        return [short(value) for value in item] if isinstance(item, list) else item

    made: dict[str, Any] = short(
        {key: found[key] for key in ("quads", "graphs", "regimes", "classes", "properties")}
    )
    return {**made, "commit": reading.snapshot.commit, "prefixes": names.used}
