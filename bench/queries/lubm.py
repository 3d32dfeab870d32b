"""The fourteen queries of LUBM, as its paper gives them (Guo, Pan and Heflin, 2005).

Each is the list of its patterns over the namespace of univ-bench; `queries` makes SPARQL of them.
"""

from __future__ import annotations

from bench.inputs.lubm import UNIV_BENCH

DEPARTMENT = "http://www.Department0.University0.edu"
UNIVERSITY = "<http://www.University0.edu>"

PATTERNS: dict[str, tuple[str, tuple[str, ...]]] = {
    "q1": ("?x", ("?x a :GraduateStudent", f"?x :takesCourse <{DEPARTMENT}/GraduateCourse0>")),
    "q2": (
        "?x ?y ?z",
        (
            "?x a :GraduateStudent",
            "?y a :University",
            "?z a :Department",
            "?x :memberOf ?z",
            "?z :subOrganizationOf ?y",
            "?x :undergraduateDegreeFrom ?y",
        ),
    ),
    "q3": (
        "?x",
        ("?x a :Publication", f"?x :publicationAuthor <{DEPARTMENT}/AssistantProfessor0>"),
    ),
    "q4": (
        "?x ?name ?email ?phone",
        (
            "?x a :Professor",
            f"?x :worksFor <{DEPARTMENT}>",
            "?x :name ?name",
            "?x :emailAddress ?email",
            "?x :telephone ?phone",
        ),
    ),
    "q5": ("?x", ("?x a :Person", f"?x :memberOf <{DEPARTMENT}>")),
    "q6": ("?x", ("?x a :Student",)),
    "q7": (
        "?x ?y",
        (
            "?x a :Student",
            "?y a :Course",
            "?x :takesCourse ?y",
            f"<{DEPARTMENT}/AssociateProfessor0> :teacherOf ?y",
        ),
    ),
    "q8": (
        "?x ?y ?email",
        (
            "?x a :Student",
            "?y a :Department",
            "?x :memberOf ?y",
            f"?y :subOrganizationOf {UNIVERSITY}",
            "?x :emailAddress ?email",
        ),
    ),
    "q9": (
        "?x ?y ?z",
        (
            "?x a :Student",
            "?y a :Faculty",
            "?z a :Course",
            "?x :advisor ?y",
            "?y :teacherOf ?z",
            "?x :takesCourse ?z",
        ),
    ),
    "q10": ("?x", ("?x a :Student", f"?x :takesCourse <{DEPARTMENT}/GraduateCourse0>")),
    "q11": ("?x", ("?x a :ResearchGroup", f"?x :subOrganizationOf {UNIVERSITY}")),
    "q12": (
        "?x ?y",
        (
            "?x a :Chair",
            "?y a :Department",
            "?x :worksFor ?y",
            f"?y :subOrganizationOf {UNIVERSITY}",
        ),
    ),
    "q13": ("?x", ("?x a :Person", f"{UNIVERSITY} :hasAlumnus ?x")),
    "q14": ("?x", ("?x a :UndergraduateStudent",)),
}
"""Query -> its variables, its patterns."""


def queries() -> dict[str, str]:
    """The texts.

    >>> print(queries()["q6"])
    PREFIX : <http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#>
    SELECT ?x WHERE {
      ?x a :Student .
    }
    """
    return {name: _text(*given) for name, given in PATTERNS.items()}


def _text(variables: str, patterns: tuple[str, ...]) -> str:
    body = "\n".join(f"  {pattern} ." for pattern in patterns)
    return f"PREFIX : <{UNIV_BENCH}>\nSELECT {variables} WHERE {{\n{body}\n}}"
