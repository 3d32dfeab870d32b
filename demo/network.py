"""The network: areas, stops with platforms, lines with their calls, vehicles and trips.

Stops lie on a plane; a line runs from a stop to one of its neighbours that it has not visited, as
straight ahead as it can. So lines cross and share stops as real ones do, and reachability
is an interesting question.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, hypot, pi, sin

from pyoxigraph import Literal, NamedNode

from demo.thesaurus import narrowest
from demo.vocabulary import Chance, Writer, name, typed

CITY = name("area:auental")
DISTRICTS = [
    "Altstadt",
    "Nordtor",
    "Mühlbach",
    "Hafen",
    "Lindenau",
    "Südhang",
    "Westfeld",
    "Seeufer",
]
QUARTERS = ["Ober", "Unter", "Neu", "Alt", "Groß", "Klein"]
# A stop is named after a place nearby: (English, German).
LANDMARKS = [
    ("Market", "Markt"),
    ("Bridge", "Brücke"),
    ("Library", "Bibliothek"),
    ("Hospital", "Krankenhaus"),
    ("Town Hall", "Rathaus"),
    ("School", "Schule"),
    ("Park", "Park"),
    ("Mill", "Mühle"),
    ("Cemetery", "Friedhof"),
    ("Stadium", "Stadion"),
]
OPERATORS = {
    "avg": ("Auental Verkehrsgesellschaft", None),
    "tram": ("Auental Tram", "avg"),
    "ring": ("Ringbus", "avg"),
    "see": ("Seeschifffahrt", "tram"),
}
# kind: (prefix of line numbers, how many, stops of each, operator, minutes between stops)
KINDS = {
    "MetroLine": ("U", 5, 22, "avg", 2),
    "TramLine": ("", 12, 24, "tram", 2),
    "BusLine": ("B", 28, 20, "ring", 3),
    "FerryLine": ("F", 2, 6, "see", 12),
}
TRIPS_OF_A_LINE = 60


@dataclass(frozen=True)
class Stop:
    """A stop of the generator."""

    node: NamedNode
    number: int
    x: float
    y: float


def write_network(seed: str = "network") -> tuple[Writer, list[Stop], list[NamedNode]]:
    """The quads of the network, its stops and its lines."""
    out, chance = Writer(), Chance(seed)
    write_operators(out)
    stops = write_places(out, chance)
    lines = write_lines(out, chance, stops)
    return out, stops, lines


def write_operators(out: Writer) -> None:
    for key, (title, owner) in OPERATORS.items():
        operator = name(f"area:operator-{key}")
        out.say(operator, a=name(":Operator"))
        out.label(operator, {"de": title})
        if owner:
            out.say(operator, subsidiaryOf=name(f"area:operator-{owner}"))


def write_places(out: Writer, chance: Chance) -> list[Stop]:
    """The city, its districts around it, their quarters, and a stop at every landmark."""
    out.say(CITY, a=name(":City"))
    out.label(CITY, {"en": "Auental", "de": "Auental"})
    stops: list[Stop] = []
    for i, district_name in enumerate(DISTRICTS):
        district = name(f"area:d{i}")
        angle, distance = 2 * pi * i / (len(DISTRICTS) - 1), 0.0 if i == 0 else 4.0
        out.say(district, a=name(":District"), locatedIn=CITY)
        out.say(district, borders=name(f"area:d{i % (len(DISTRICTS) - 1) + 1}"))
        out.label(district, {"en": district_name, "de": district_name})
        for j, part in enumerate(QUARTERS):
            quarter = name(f"area:d{i}q{j}")
            title = f"{part}{district_name.lower()}"
            out.say(quarter, a=name(":Quarter"), locatedIn=district)
            out.label(quarter, {"en": title, "de": title})
            centre = (
                distance * cos(angle) + 1.4 * cos(2 * pi * j / len(QUARTERS)),
                distance * sin(angle) + 1.4 * sin(2 * pi * j / len(QUARTERS)),
            )
            for english, german in LANDMARKS:
                labels = {"en": f"{title} {english}", "de": f"{title} {german}"}
                stops.append(write_stop(out, chance, len(stops), quarter, centre, labels))
    return stops


def write_stop(
    out: Writer,
    chance: Chance,
    number: int,
    quarter: NamedNode,
    centre: tuple[float, float],
    labels: dict[str, str],
) -> Stop:
    x, y = (c + chance.number(-70, 70) / 100 for c in centre)
    node = name(f"stop:{number}")
    out.say(
        node,
        a=name(":Stop"),
        locatedIn=quarter,
        stopCode=Literal(f"AU{number:04}"),
        latitude=typed(f"{48.0 + y / 100:.5f}", "decimal"),
        longitude=typed(f"{9.0 + x / 70:.5f}", "decimal"),
        fareZone=typed(1 + int(hypot(x, y) / 2), "unsignedByte"),
        stepFree=typed("true" if chance.happens(0.6) else "false", "boolean"),
        opened=typed(day(chance, 1898, 2023), "date"),
        facility=[
            name(f"thesaurus:{key}")
            for key in chance.some_of(narrowest("facility"), chance.number(1, 5))
        ],
    )
    out.label(node, labels)
    for side in "ab":
        platform = name(f"stop:{number}{side}")
        out.say(platform, a=name(":Platform"), platformOf=node)
        out.label(platform, {"en": f"{labels['en']}, platform {side.upper()}"})
    return Stop(node, number, x, y)


def day(chance: Chance, first: int, last: int) -> str:
    return f"{chance.number(first, last)}-{chance.number(1, 12):02}-{chance.number(1, 28):02}"


def write_lines(out: Writer, chance: Chance, stops: list[Stop]) -> list[NamedNode]:
    near = {stop.number: neighbours(stop, stops) for stop in stops}
    lines: list[NamedNode] = []
    vehicles = 0
    for kind, (prefix, count, length, operator, minutes) in KINDS.items():
        for i in range(1, count + 1):
            number = f"{prefix}{i}"
            line = name(f"line:{number}")
            out.say(
                line,
                a=name(f":{kind}"),
                lineNumber=Literal(number),
                operatedBy=name(f"area:operator-{operator}"),
            )
            fleet = [name(f"vehicle:{vehicles + k}") for k in range(6)]
            vehicles += len(fleet)
            course = plan_course(chance, chance.one_of(stops), near, length)
            out.label(line, {"en": f"Line {number}", "de": f"Linie {number}"})
            write_calls(out, line, number, course, minutes)
            write_vehicles(out, chance, fleet)
            write_trips(out, chance, line, number, fleet)
            lines.append(line)
    return lines


def neighbours(stop: Stop, stops: list[Stop]) -> list[Stop]:
    """The eight nearest other stops."""
    nearest = sorted(stops, key=lambda other: hypot(other.x - stop.x, other.y - stop.y))
    return nearest[1:9]


def plan_course(
    chance: Chance, start: Stop, near: dict[int, list[Stop]], length: int
) -> list[Stop]:
    """A way through the city with few turns that visits each stop at most once."""
    course, angle = [start], chance.number(0, 359) * pi / 180
    while len(course) < length:
        here = course[-1]
        ahead = [stop for stop in near[here.number] if stop not in course]
        if not ahead:
            break
        goal = (here.x + 3 * cos(angle), here.y + 3 * sin(angle))
        best = min(ahead, key=lambda stop: hypot(stop.x - goal[0], stop.y - goal[1]))
        course.append(best)
        if hypot(best.x, best.y) > 6:  # at the edge of the city: turn towards its middle
            angle += pi / 2
    return course


def write_calls(
    out: Writer, line: NamedNode, number: str, course: list[Stop], minutes: int
) -> None:
    for side, way in (("a", course), ("b", course[::-1])):
        for i, stop in enumerate(way):
            call = name(f"line:{number}{side}{i}")
            out.say(line, call=call)
            out.say(
                call,
                a=name(":Call"),
                atPlatform=name(f"stop:{stop.number}{side}"),
                position=typed(i + 1, "positiveInteger"),
                minutesFromStart=typed(i * minutes, "nonNegativeInteger"),
            )
            if i:
                out.say(way[i - 1].node, nextStop=stop.node)


def write_vehicles(out: Writer, chance: Chance, fleet: list[NamedNode]) -> None:
    for vehicle in fleet:
        kind = ":LowFloorVehicle" if chance.happens(0.7) else ":Vehicle"
        out.say(
            vehicle,
            a=name(kind),
            seats=typed(chance.number(3, 18) * 10, "integer"),
            lengthInMetres=typed(f"{chance.number(90, 450) / 10}", "decimal"),
            built=typed(chance.number(1988, 2024), "gYear"),
        )


def write_trips(
    out: Writer, chance: Chance, line: NamedNode, number: str, fleet: list[NamedNode]
) -> None:
    for i in range(TRIPS_OF_A_LINE):
        minute = 5 * 60 + i * 19 + chance.number(0, 4)
        out.say(
            name(f"line:{number}t{i}"),
            a=name(":Trip"),
            tripOf=line,
            withVehicle=chance.one_of(fleet),
            departure=typed(f"{minute // 60 % 24:02}:{minute % 60:02}:00", "time"),
        )
