"""A small repository of git for tests of comparisons."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from triplestore.terms.vocabulary import RDF_TYPE

HEAD = """@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
"""

_E = "<http://example.org/"
PEOPLE = f"""{_E}ann> {_E}likes> {_E}tom> .
{_E}tom> <{RDF_TYPE}> {_E}Cat> .
{_E}kit> {_E}says> {_E}meow> .
"""

OLD = {
    "onto.ttl": HEAD
    + """:Cat rdfs:subClassOf :Animal .
:Cat owl:equivalentClass [ a owl:Restriction ; owl:onProperty :says ; owl:hasValue :meow ] .
:likes rdfs:domain :Person .
""",
    "data/people.nt": PEOPLE,
    "rules.dlog": "@prefix : <http://example.org/> .\n:friend[?y, ?x] :- :likes[?x, ?y] .\n",
    "README.md": "not data",
}

NEW = {
    **OLD,
    "onto.ttl": OLD["onto.ttl"]
    + ":Animal rdfs:subClassOf :Being .\n"
    + ":Person owl:disjointWith :Fan .\n"
    + ":likes rdfs:domain :Fan .\n",
}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files, instead of those that are there."""
    for name in OLD:
        (folder / name).unlink(missing_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def git(folder: Path, *arguments: str) -> str:
    """Run git as a person without settings."""
    own = [
        "-c",
        "user.name=Test",
        "-c",
        "user.email=test@example.org",
        "-c",
        "commit.gpgsign=false",
    ]
    done = subprocess.run(
        ["git", "-C", str(folder), *own, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def make_repository(folder: Path) -> Path:
    """A repository with the old files on `main`, checked out, and the new ones on `topic`."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for branch, files in (("main", OLD), ("topic", NEW)):
        if branch != "main":
            git(folder, "checkout", "-q", "-b", branch)
        write(folder, files)
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", branch)
    git(folder, "checkout", "-q", "main")
    return folder
