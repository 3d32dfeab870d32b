"""The records of other offices: notices of disruptions by month, and the register of monuments.

The register has its own names for stops. A reasoner infers that they are the same from their stop
codes (an inverse functional property).
"""

from __future__ import annotations

from pyoxigraph import BlankNode, Literal, NamedNode

from demo.network import Stop
from demo.thesaurus import CONCEPTS, narrowest
from demo.vocabulary import Chance, Writer, name, typed

MONTHS = range(1, 7)
NOTICES_OF_A_MONTH = 40


def write_notices(stops: list[Stop], lines: list[NamedNode], seed: str = "notices") -> Writer:
    """A named graph for each month, and statements about each graph in the default graph."""
    out, chance = Writer(), Chance(seed)
    default = out.graph
    for month in MONTHS:
        graph = name(f"graph:2025-{month:02}")
        out.graph = default
        out.say(graph, a=name("rdfs:Resource"))
        out.label(graph, {"en": f"Notices of month {month} of 2025"})
        out.graph = graph
        for i in range(NOTICES_OF_A_MONTH):
            write_notice(out, chance, month, i, stops, lines)
    return out


def write_notice(
    out: Writer, chance: Chance, month: int, i: int, stops: list[Stop], lines: list[NamedNode]
) -> None:
    notice, cause = BlankNode(f"n{month}x{i}"), chance.one_of(narrowest("cause"))
    first, hour = chance.number(1, 25), chance.number(0, 23)
    closure = chance.happens(0.3)
    about = chance.one_of(stops).node if closure else chance.one_of(lines)
    _, english, german, *_ = CONCEPTS[cause]
    out.say(
        notice,
        a=name(":Closure" if closure else ":Delay"),
        about=about,
        cause=name(f"thesaurus:{cause}"),
        validFrom=typed(f"2025-{month:02}-{first:02}T{hour:02}:00:00+01:00", "dateTime"),
        validUntil=typed(
            f"2025-{month:02}-{first + chance.number(0, 3):02}T23:59:59.5+01:00", "dateTime"
        ),
    )
    what = ("Closed", "Gesperrt") if closure else ("Delays", "Verspätungen")
    comment = name("rdfs:comment")
    out.state(notice, comment, Literal(f"{what[0]}: {english}", language="en"))
    out.state(notice, comment, Literal(f"{what[1]}: {german}", language="de"))
    if not closure:
        out.say(notice, delayInMinutes=typed(chance.number(5, 45), "integer"))


def write_register(stops: list[Stop], seed: str = "register") -> Writer:
    """A register of old stops, for its own named graph."""
    out, chance = Writer(), Chance(seed)
    for stop in chance.some_of(stops, 40):
        entry = name(f"register:{stop.number + 7000}")
        out.say(entry, a=name(":Place"), stopCode=Literal(f"AU{stop.number:04}"))
        comment = (
            f"Hall of {chance.number(1898, 1935)}\nunder “protection”, grade {chance.number(1, 3)}"
        )
        out.state(entry, name("rdfs:comment"), Literal(comment, language="en-GB"))
    return out
