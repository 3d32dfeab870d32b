"""LUBM-like data of any size, generated from the benchmark's published profile.

The profile is that of Guo, Pan and Heflin, "LUBM: A benchmark for OWL knowledge base systems"
(2005): the numbers of departments of a university, of people of each rank in a department, and of
courses, publications and degrees of a person. Names of classes and properties are univ-bench's;
IRIs have the form of the original generator's, so the benchmark's queries run on this data.

Always true:
    - University `i` of seed `s` is the same text for any number of universities, so a larger size
      contains the smaller ones.
    - As in the original, every mention of a degree's university repeats its type: about 3 % of the
      statements are repetitions.
    - Memory does not grow with the size; shuffling goes through temporary files.

Run `python -m bench.inputs.lubm 10 lubm10.nt` (`--shuffle`, `--format turtle`, `--seed`).
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

UNIV_BENCH = "http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

# A subject with its (property, object) pairs. Properties and classes are local names of
# univ-bench ("a" is rdf:type); subjects and other objects are written as in N-Triples.
Entity = tuple[str, list[tuple[str, str]]]
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Rank:
    """A rank of teachers: their number in a department, and their numbers of publications."""

    name: str
    per_department: Range
    publications: Range
    professor: bool = True


@dataclass(frozen=True, slots=True)
class Profile:
    """The published numbers; every range includes both ends."""

    departments: Range = (15, 25)
    ranks: tuple[Rank, ...] = (
        Rank("FullProfessor", (7, 10), (15, 20)),
        Rank("AssociateProfessor", (10, 14), (10, 18)),
        Rank("AssistantProfessor", (8, 11), (5, 10)),
        Rank("Lecturer", (5, 7), (0, 5), professor=False),
    )
    courses: Range = (1, 2)  # of a teacher, of both kinds
    research_groups: Range = (10, 20)
    undergraduates_per_teacher: Range = (8, 14)
    graduates_per_teacher: Range = (3, 4)
    undergraduate_takes: Range = (2, 4)
    graduate_takes: Range = (1, 3)
    graduate_publications: Range = (0, 5)
    advised_undergraduates: float = 1 / 5
    teaching_assistants: tuple[float, float] = (1 / 5, 1 / 4)
    research_assistants: tuple[float, float] = (1 / 4, 1 / 3)
    degree_universities: int = 1000
    research_interests: int = 30


PROFILE = Profile()


class Dice:
    """Random choices that are equal in every version of Python, as those of `random()` are."""

    def __init__(self, seed: str) -> None:
        self._roll = random.Random(seed).random

    def below(self, bound: int) -> int:
        return int(self._roll() * bound)

    def one_of(self, choices: list[str]) -> str:
        return choices[self.below(len(choices))]

    def within(self, limits: Range) -> int:
        low, high = limits
        return low + int(self._roll() * (high - low + 1))

    def between(self, limits: tuple[float, float]) -> float:
        low, high = limits
        return low + self._roll() * (high - low)

    def distinct(self, count: int, bound: int) -> list[int]:
        """`count` different numbers below `bound`, or all of them."""
        chosen: dict[int, None] = {}
        while len(chosen) < min(count, bound):
            chosen[self.below(bound)] = None
        return list(chosen)


def university_iri(number: int) -> str:
    return f"<http://www.University{number}.edu>"


def universities(
    count: int, *, seed: int = 0, first: int = 0, profile: Profile = PROFILE
) -> Iterator[list[Entity]]:
    """The entities of `count` universities, one list for each department."""
    for number in range(first, first + count):
        dice = Dice(f"{seed}/{number}")
        head = (
            university_iri(number),
            [("a", "University"), ("name", f'"University{number}"')],
        )
        for index in range(dice.within(profile.departments)):
            department = Department(number, index, dice, profile)
            yield [head, *department.entities()] if index == 0 else department.entities()


@dataclass
class Department:
    """A department under construction; `entities` completes it."""

    university: int
    number: int
    dice: Dice
    profile: Profile
    courses: int = 0
    graduate_courses: int = 0
    professors: list[str] = field(default_factory=list)
    publications: list[Entity] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.host = f"Department{self.number}.University{self.university}.edu"
        self.base = f"<http://www.{self.host}"
        self.iri = self.base + ">"

    def entities(self) -> list[Entity]:
        profile, dice = self.profile, self.dice
        made: list[Entity] = [
            (
                self.iri,
                [
                    ("a", "Department"),
                    ("name", f'"Department{self.number}"'),
                    ("subOrganizationOf", university_iri(self.university)),
                ],
            )
        ]
        teachers = 0
        for rank in profile.ranks:
            count = dice.within(rank.per_department)
            teachers += count
            for index in range(count):
                made += self.teacher(rank, index)
            if rank is profile.ranks[0]:
                made.append((dice.one_of(self.professors), [("headOf", self.iri)]))
        low, high = profile.undergraduates_per_teacher
        undergraduates = dice.within((low * teachers, high * teachers))
        made += (self.undergraduate(index) for index in range(undergraduates))
        low, high = profile.graduates_per_teacher
        made += self.graduates(dice.within((low * teachers, high * teachers)))
        made += self.publications
        made += self.places()
        return made

    def person(self, kind: str, index: int) -> tuple[str, list[tuple[str, str]]]:
        name = f"{kind}{index}"
        return f"{self.base}/{name}>", [
            ("a", kind),
            ("name", f'"{name}"'),
            ("emailAddress", f'"{name}@{self.host}"'),
            ("telephone", '"xxx-xxx-xxxx"'),
        ]

    def degree(self, kind: str) -> tuple[tuple[str, str], Entity]:
        """The statement of a degree, and the one that its origin is a university."""
        origin = university_iri(self.dice.below(self.profile.degree_universities))
        return (kind, origin), (origin, [("a", "University")])

    def teacher(self, rank: Rank, index: int) -> list[Entity]:
        dice = self.dice
        iri, says = self.person(rank.name, index)
        for _ in range(dice.within(self.profile.courses)):
            says.append(("teacherOf", f"{self.base}/Course{self.courses}>"))
            self.courses += 1
        for _ in range(dice.within(self.profile.courses)):
            says.append(("teacherOf", f"{self.base}/GraduateCourse{self.graduate_courses}>"))
            self.graduate_courses += 1
        origins = []
        for kind in ("undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom"):
            degree, origin = self.degree(kind)
            says.append(degree)
            origins.append(origin)
        says.append(("worksFor", self.iri))
        if rank.professor:
            interest = dice.below(self.profile.research_interests)
            says.append(("researchInterest", f'"Research{interest}"'))
            self.professors.append(iri)
        for number in range(dice.within(rank.publications)):
            name = f"Publication{number}"
            self.publications.append(
                (
                    f"{iri[:-1]}/{name}>",
                    [("a", "Publication"), ("name", f'"{name}"'), ("publicationAuthor", iri)],
                )
            )
        return [(iri, says), *origins]

    def undergraduate(self, index: int) -> Entity:
        dice, profile = self.dice, self.profile
        iri, says = self.person("UndergraduateStudent", index)
        says.append(("memberOf", self.iri))
        for course in dice.distinct(dice.within(profile.undergraduate_takes), self.courses):
            says.append(("takesCourse", f"{self.base}/Course{course}>"))
        if dice.between((0, 1)) < profile.advised_undergraduates:
            says.append(("advisor", dice.one_of(self.professors)))
        return iri, says

    def graduates(self, count: int) -> Iterator[Entity]:
        dice, profile = self.dice, self.profile
        assisting = int(count * dice.between(profile.teaching_assistants))
        assisted = dict(
            zip(
                dice.distinct(assisting, count),
                dice.distinct(assisting, self.courses),
                strict=False,
            )
        )
        researching = set(
            dice.distinct(int(count * dice.between(profile.research_assistants)), count)
        )
        for index in range(count):
            iri, says = self.person("GraduateStudent", index)
            says.append(("memberOf", self.iri))
            taken = dice.within(profile.graduate_takes)
            for course in dice.distinct(taken, self.graduate_courses):
                says.append(("takesCourse", f"{self.base}/GraduateCourse{course}>"))
            degree, origin = self.degree("undergraduateDegreeFrom")
            says.append(degree)
            says.append(("advisor", dice.one_of(self.professors)))
            if index in assisted:
                says.append(("a", "TeachingAssistant"))
                says.append(("teachingAssistantOf", f"{self.base}/Course{assisted[index]}>"))
            if index in researching:
                says.append(("a", "ResearchAssistant"))
            written = dice.within(profile.graduate_publications)
            for publication in dice.distinct(written, len(self.publications)):
                self.publications[publication][1].append(("publicationAuthor", iri))
            yield iri, says
            yield origin

    def places(self) -> Iterator[Entity]:
        for kind, count in (("Course", self.courses), ("GraduateCourse", self.graduate_courses)):
            for index in range(count):
                name = f"{kind}{index}"
                yield f"{self.base}/{name}>", [("a", kind), ("name", f'"{name}"')]
        for index in range(self.dice.within(self.profile.research_groups)):
            yield (
                f"{self.base}/ResearchGroup{index}>",
                [("a", "ResearchGroup"), ("subOrganizationOf", self.iri)],
            )


def ntriples_lines(entities: Iterable[Entity]) -> Iterator[str]:
    """One line for each statement, in order, each with its newline."""
    properties: dict[str, str] = {"a": f" <{RDF_TYPE}> "}
    classes: dict[str, str] = {}
    for subject, says in entities:
        for name, value in says:
            written = properties.get(name)
            if written is None:
                written = properties[name] = f" <{UNIV_BENCH}{name}> "
            if name == "a":
                full = classes.get(value)
                if full is None:
                    full = classes[value] = f"<{UNIV_BENCH}{value}>"
                yield f"{subject}{written}{full} .\n"
            else:
                yield f"{subject}{written}{value} .\n"


def turtle_blocks(entities: Iterable[Entity]) -> Iterator[str]:
    """One block for each subject, as people write Turtle; needs `TURTLE_HEAD` before it."""
    for subject, says in entities:
        parts = [f"a ub:{value}" if name == "a" else f"ub:{name} {value}" for name, value in says]
        yield subject + " " + " ;\n    ".join(parts) + " .\n"


TURTLE_HEAD = f"@prefix ub: <{UNIV_BENCH}> .\n\n"


def write(
    path: Path | str,
    count: int,
    *,
    seed: int = 0,
    format: str = "ntriples",
    shuffle: bool = False,
    profile: Profile = PROFILE,
) -> int:
    """Write `count` universities to `path`; return the number of statements (repetitions count)."""
    if format not in ("ntriples", "turtle"):
        raise ValueError(f"format {format!r} is none of ntriples, turtle")
    if shuffle and format != "ntriples":
        raise ValueError("only N-Triples can be shuffled: a line there is a statement")
    departments = universities(count, seed=seed, profile=profile)
    if shuffle:
        lines = (line for entities in departments for line in ntriples_lines(entities))
        return _write_shuffled(Path(path), lines, seed, buckets=4 + count // 2)
    written = 0
    render: Callable[[Iterable[Entity]], Iterator[str]]
    render = turtle_blocks if format == "turtle" else ntriples_lines
    with Path(path).open("w", encoding="ascii", newline="\n") as out:
        if format == "turtle":
            out.write(TURTLE_HEAD)
        for entities in departments:
            out.write("".join(render(entities)))
            written += sum(len(says) for _, says in entities)
    return written


def _write_shuffled(path: Path, lines: Iterable[str], seed: int, buckets: int) -> int:
    """A uniformly random order: each line falls into a random bucket, each bucket is shuffled."""
    dice = Dice(f"{seed}/shuffle")
    with ExitStack() as stack:
        files = [
            stack.enter_context(
                tempfile.TemporaryFile("w+", encoding="ascii", newline="\n", dir=path.parent)
            )
            for _ in range(buckets)
        ]
        for line in lines:
            files[dice.below(buckets)].write(line)
        written = 0
        with path.open("w", encoding="ascii", newline="\n") as out:
            for file in files:
                file.seek(0)
                bucket = file.readlines()
                for i in range(len(bucket) - 1, 0, -1):
                    j = dice.below(i + 1)
                    bucket[i], bucket[j] = bucket[j], bucket[i]
                out.writelines(bucket)
                written += len(bucket)
    return written


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.inputs.lubm", description=__doc__.split("\n")[0]
    )
    parser.add_argument("universities", type=int, help="how many; about 130,000 statements each")
    parser.add_argument("path", type=Path, help="the file to write")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", choices=["ntriples", "turtle"], default="ntriples")
    parser.add_argument("--shuffle", action="store_true", help="in random order (N-Triples only)")
    given = parser.parse_args(arguments)
    written = write(
        given.path, given.universities, seed=given.seed, format=given.format, shuffle=given.shuffle
    )
    print(f"{written} statements")


if __name__ == "__main__":
    main()
