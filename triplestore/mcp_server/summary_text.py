"""The text of `describe_store` for a model: start at `summary_text`.

A class is one line with its counts, and one line each for what its members have and for what points
to them. If the text would be too long, the classes and properties with the fewest members or
triples are left out, and the last line says how to get them.
"""

from __future__ import annotations

from typing import Any

from triplestore.mcp_server.answers import fitting, joined, one_line
from triplestore.mcp_server.short_names import ShortNames

Data = dict[str, Any]


def summary_text(summary: Data, names: ShortNames, most: int) -> str:
    """A summary as text of about `most` characters at most."""
    head = _head(summary, names)
    classes = [_class(item, names) for item in summary["classes"]["items"]]
    properties = [_property(item, names) for item in summary["properties"]["items"]]
    room = max(0, most - sum(map(len, head)) - 800)
    sizes = [sum(map(len, lines)) for lines in (classes, properties)]
    for_properties = min(sizes[1] + len(properties), room // 2)
    shown_classes, _ = fitting(classes, room - for_properties)
    shown_properties, _ = fitting(properties, for_properties)
    parts = [*head]
    total = summary["classes"]["total"]
    if classes:
        parts += ["", f"classes ({len(shown_classes)} of {total:,}):", *shown_classes]
    own = summary["properties"]["total"]
    if properties:
        parts += ["", f"properties ({len(shown_properties)} of {own:,}):", *shown_properties]
    vocabulary = summary.get("vocabulary", [])
    if vocabulary:
        listed = (f"{_name(item['term'], names)} {_count(item)}" for item in vocabulary)
        parts += ["", "of RDF, RDFS and OWL: " + ", ".join(listed)]
    parts += _left_out(total - len(shown_classes), own - len(shown_properties))
    header = names.header()  # after everything is written
    return joined(header, *parts)


def _head(summary: Data, names: ShortNames) -> list[str]:
    quads, graphs = summary["quads"], summary["graphs"]
    regimes = ", ".join(summary["regimes"]) or "none"
    lines = [
        f"{quads['asserted']:,} asserted and {quads['inferred']:,} inferred triples; "
        f"inference: {regimes}"
    ]
    if graphs["total"]:
        listed = ", ".join(
            f"{names.iri(item['name']['value'])} {item['count']:,}"
            if item["name"]["type"] == "uri"
            else f"a graph without a name {item['count']:,}"
            for item in graphs["items"]
        )
        lines.append(
            f"default graph {graphs['default']:,}; {graphs['total']:,} named graphs, read with "
            f"GRAPH: {listed}"
        )
    return lines


def _class(item: Data, names: ShortNames) -> str:
    above = [_name(term, names) for term in item.get("superclasses", [])]
    line = _title(item, names) + (f"; below {', '.join(above)}" if above else "")
    has = ", ".join(_share(each, names, "→") for each in item["properties"])
    of = ", ".join(_share(each, names, "←") for each in item["inverse"])
    examples = ", ".join(_name(term, names) for term in item["examples"])
    return joined(
        line,
        f"  has {has}" if has else None,
        f"  is object of {of}" if of else None,
        f"  such as {examples}" if examples else None,
    )


def _property(item: Data, names: ShortNames) -> str:
    above = [_name(term, names) for term in item.get("superproperties", [])]
    line = _title(item, names) + (f"; below {', '.join(above)}" if above else "")
    ends = " → ".join(
        " or ".join(_name(term, names) for term in item[end]) or "?"
        for end in ("subjects", "objects")
    )
    stated = [
        f"{end} {', '.join(_name(term, names) for term in item[end])}"
        for end in ("domain", "range")
        if item[end]
    ]
    return joined(line, f"  {ends}" + (f"; stated {' and '.join(stated)}" if stated else ""))


def _title(item: Data, names: ShortNames) -> str:
    label, comment = item["term"].get("label"), item.get("comment")
    name = _name(item["term"], names)
    said = f" “{one_line(label)}”" if label and label != name.rpartition(":")[2] else ""
    return f"- {name}{said} {_count(item)}" + (f" ({comment})" if comment else "")


def _count(item: Data) -> str:
    asserted, inferred = item["asserted"], item["inferred"]
    if not asserted and not inferred and (item.get("subclasses") or item.get("axioms")):
        what = "subclasses" if "subclasses" in item else "axioms"
        return f"0 ({item[what]:,} {what})"
    if not inferred:
        return f"{asserted:,}"
    return f"{asserted:,}+{inferred:,} inferred" if asserted else f"{inferred:,} inferred"


def _share(item: Data, names: ShortNames, arrow: str) -> str:
    ends = "|".join(_name(term, names) for term in item["values"])
    share = _percent(item["share"])
    return f"{_name(item['property'], names)}{share} {arrow} {ends}"


def _percent(share: float) -> str:
    """A share as text; nothing for all, and never 0 or 100 percent for another one."""
    if share >= 1:
        return ""
    return f" {min(99, max(1, round(100 * share)))}%"


def _name(term: Data, names: ShortNames) -> str:
    if term["type"] == "uri":
        return names.iri(term["value"])
    return f"_:{term['value']}" if term["type"] == "bnode" else str(term["value"])


def _left_out(classes: int, properties: int) -> list[str]:
    left = [
        f"{number:,} more {what}"
        for number, what in ((classes, "classes"), (properties, "properties"))
        if number > 0
    ]
    if not left:
        return []
    return [
        "",
        f"not shown: {' and '.join(left)}; find them with search_terms, or describe some of them "
        "with describe_store(about=[...])",
    ]
