"""The generator against the published profile, and against the shared LUBM data where it is."""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from pathlib import Path

import pyoxigraph as ox
import pytest

from bench.inputs import lubm

UB = lubm.UNIV_BENCH
Triples = set[tuple[str, str, str]]


def local(term: str) -> str:
    return term.strip("<>").rsplit("#", 1)[-1]


def statements(count: int, seed: int = 0) -> list[tuple[str, str, str]]:
    return [
        (subject, name, value)
        for entities in lubm.universities(count, seed=seed)
        for subject, says in entities
        for name, value in says
    ]


@pytest.fixture(scope="module")
def data() -> Triples:
    return set(statements(4))


def of_class(data: Triples, *names: str) -> set[str]:
    return {s for s, p, o in data if p == "a" and o in names}


def per_subject(data: Triples, name: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for s, p, o in data:
        if p == name:
            found[s].append(o)
    return found


def department_of(iri: str) -> str:
    return "/".join(iri.strip("<>").split("/")[:3])


def spread(members: set[str]) -> tuple[int, int]:
    counts = Counter(map(department_of, members)).values()
    return min(counts), max(counts)


def test_universities__have_15_to_25_departments(data: Triples) -> None:
    owners = Counter(o for s, p, o in data if p == "subOrganizationOf" and "University" in o[:22])
    assert len(owners) == 4
    assert all(15 <= count <= 25 for count in owners.values())


@pytest.mark.parametrize(
    ("rank", "low", "high"),
    [
        ("FullProfessor", 7, 10),
        ("AssociateProfessor", 10, 14),
        ("AssistantProfessor", 8, 11),
        ("Lecturer", 5, 7),
        ("ResearchGroup", 10, 20),
    ],
)
def test_departments__have_as_many_of_each_as_published(
    data: Triples, rank: str, low: int, high: int
) -> None:
    smallest, largest = spread(of_class(data, rank))
    assert (smallest, largest) == (low, high)  # 80 departments reach both ends


def test_departments__are_headed_by_one_full_professor(data: Triples) -> None:
    heads = per_subject(data, "headOf")
    assert len(heads) == len(of_class(data, "Department"))
    assert set(heads) <= of_class(data, "FullProfessor")


def teachers(data: Triples) -> set[str]:
    return of_class(data, *(rank.name for rank in lubm.PROFILE.ranks))


@pytest.mark.parametrize(
    ("kind", "low", "high"), [("UndergraduateStudent", 8, 14), ("GraduateStudent", 3, 4)]
)
def test_students__are_in_the_published_proportion_to_teachers(
    data: Triples, kind: str, low: float, high: float
) -> None:
    staff = Counter(map(department_of, teachers(data)))
    for department, count in Counter(map(department_of, of_class(data, kind))).items():
        assert low <= count / staff[department] <= high


@pytest.mark.parametrize(
    ("kinds", "name", "low", "high"),
    [
        (("UndergraduateStudent",), "takesCourse", 2, 4),
        (("GraduateStudent",), "takesCourse", 1, 3),
        (("GraduateStudent",), "advisor", 1, 1),
        (("GraduateStudent",), "undergraduateDegreeFrom", 1, 1),
        (("FullProfessor", "Lecturer"), "teacherOf", 2, 4),
        (("FullProfessor", "Lecturer"), "doctoralDegreeFrom", 1, 1),
        (("FullProfessor",), "researchInterest", 1, 1),
        (("Publication",), "name", 1, 1),
    ],
)
def test_people__have_as_many_of_each_property_as_published(
    data: Triples, kinds: tuple[str, ...], name: str, low: int, high: int
) -> None:
    values = per_subject(data, name)
    counts = {len(values[member]) for member in of_class(data, *kinds)}
    assert (min(counts), max(counts)) == (low, high)


@pytest.mark.parametrize("rank", lubm.PROFILE.ranks, ids=lambda rank: str(rank.name))
def test_teachers__publish_as_much_as_published(data: Triples, rank: lubm.Rank) -> None:
    own = Counter(dict.fromkeys(of_class(data, rank.name), 0))
    for publication in of_class(data, "Publication"):
        author = publication.rsplit("/", 1)[0] + ">"
        if author in own:
            own[author] += 1
    assert (min(own.values()), max(own.values())) == rank.publications


def test_graduates__write_assist_and_research_in_the_published_proportions(data: Triples) -> None:
    graduates = of_class(data, "GraduateStudent")
    papers = Counter(o for _, p, o in data if p == "publicationAuthor" and o in graduates)
    assert max(papers.values()) == 5
    assert sum(papers.values()) / len(graduates) == pytest.approx(2.5, rel=0.05)
    assert 0.19 < len(of_class(data, "TeachingAssistant")) / len(graduates) < 0.25
    assert 0.24 < len(of_class(data, "ResearchAssistant")) / len(graduates) < 0.34
    courses = [o for _, p, o in data if p == "teachingAssistantOf"]
    assert len(courses) == len(set(courses))


def test_undergraduates__one_in_five_has_an_advisor(data: Triples) -> None:
    undergraduates = of_class(data, "UndergraduateStudent")
    advised = undergraduates & set(per_subject(data, "advisor"))
    assert len(advised) / len(undergraduates) == pytest.approx(0.2, rel=0.05)


def test_courses__are_taught_by_one_teacher_each(data: Triples) -> None:
    taught = [o for _, p, o in data if p == "teacherOf"]
    assert len(taught) == len(set(taught))
    assert set(taught) == of_class(data, "Course", "GraduateCourse")


def test_universities__grow_evenly_and_contain_the_smaller_ones() -> None:
    three = statements(3)
    assert statements(2) == three[: len(statements(2))]
    assert 250_000 < len(three) < 550_000


def test_universities__are_the_same_every_time_and_differ_by_seed() -> None:
    assert statements(1) == statements(1)
    assert statements(1, seed=1) != statements(1)


def test_universities__are_the_same_on_every_machine() -> None:
    # Numbers of one published run: everyone who generates seed 0 has the same data.
    counts = Counter(p for _, p, _ in statements(1))
    assert (counts.total(), counts["a"], counts["takesCourse"]) == (123_685, 24_797, 25_873)


def test_write__forms_and_orders_say_the_same(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("plain.nt", "shuffled.nt", "data.ttl")]
    sizes = {
        lubm.write(paths[0], 1),
        lubm.write(paths[1], 1, shuffle=True),
        lubm.write(paths[2], 1, format="turtle"),
    }
    assert len(sizes) == 1
    plain, shuffled = (path.read_text().splitlines() for path in paths[:2])
    assert plain != shuffled
    assert sorted(plain) == sorted(shuffled)
    turtle = {str(q.triple) for q in ox.parse(path=paths[2], format=ox.RdfFormat.TURTLE)}
    assert turtle == {line.removesuffix(" .") for line in plain}


def test_write__refuses_what_it_cannot_do(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="rdfxml"):
        lubm.write(tmp_path / "x", 1, format="rdfxml")
    with pytest.raises(ValueError, match="shuffled"):
        lubm.write(tmp_path / "x", 1, format="turtle", shuffle=True)
    assert list(tmp_path.iterdir()) == []


def test_generated_data__is_like_that_of_the_original_generator(shared_data: Path) -> None:
    original: Triples = set()
    departments = 0
    with gzip.open(shared_data / "lubm" / "lubm10" / "lubm10.nt.gz", "rt") as lines:
        for line in lines:
            s, p, o = line[:-3].split(" ", 2)
            departments += o.endswith("#Department>")
            if departments > 60:  # three universities are enough to compare
                break
            original.add((s, "a" if p.endswith("#type>") else local(p), o))
    ours = set(statements(3))

    def shape(data: Triples) -> dict[str, float]:
        departments = sum(1 for _, p, o in data if p == "a" and local(o) == "Department")
        kinds = Counter(local(o) if p == "a" else p for _, p, o in data)
        kinds["statements"] = len(data)
        return {kind: count / departments for kind, count in kinds.items() if kind != "University"}

    expected, found = shape(original), shape(ours)
    assert found.keys() == expected.keys()
    for kind, count in expected.items():
        assert found[kind] == pytest.approx(count, rel=0.1), kind
