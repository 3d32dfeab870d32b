"""A small repository of an ontology with three pull requests, and what each of them infers.

`make demo-ci`, or `python -m examples.ontology_ci [folder]`: the repository and a report of each
pull request, as Markdown and HTML, are in the folder afterwards.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "build" / "demo-ci"
WORKFLOW = Path(__file__).with_name("ontology-diff.yml")

ONTOLOGY = """\
@prefix : <http://example.org/hospital#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

:Person a owl:Class .
:Staff a owl:Class ; rdfs:subClassOf :Person .
:Doctor a owl:Class ; rdfs:subClassOf :Staff .
:Nurse a owl:Class ; rdfs:subClassOf :Staff .
:Patient a owl:Class ; rdfs:subClassOf :Person .
:Ward a owl:Class ; owl:disjointWith :Person .

:treats a owl:ObjectProperty ; rdfs:domain :Staff ; rdfs:range :Patient .
:worksIn a owl:ObjectProperty ; rdfs:range :Ward .
:reportsTo a owl:ObjectProperty .
"""

RULES = """\
@prefix : <http://example.org/hospital#> .
:responsibleFor[?boss, ?patient] :- :reportsTo[?x, ?boss], :treats[?x, ?patient] .
"""

TITLES = {
    "transitive-reports": "reportsTo is transitive: bosses of bosses are responsible as well",
    "staff-in-wards": "Whoever works in a ward is a member of it (a mistake: see the violations)",
    "no-nurses": "Nurses are not staff any more",
}


def data(people: int) -> str:
    """Staff and patients, as N-Triples."""
    name, lines = "<http://example.org/hospital#", []
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    for number in range(people):
        role = "Nurse" if number % 3 else "Doctor"
        lines.append(f"{name}staff{number}> {kind} {name}{role}> .")
        lines.append(f"{name}staff{number}> {name}treats> {name}patient{number}> .")
        lines.append(f"{name}staff{number}> {name}worksIn> {name}ward{number % 7}> .")
        if number:
            lines.append(f"{name}staff{number}> {name}reportsTo> {name}staff{number // 3}> .")
    return "\n".join(lines) + "\n"


def changed(branch: str) -> str:
    """The ontology of a branch."""
    if branch == "transitive-reports":
        return ONTOLOGY.replace(
            ":reportsTo a owl:ObjectProperty .",
            ":reportsTo a owl:ObjectProperty , owl:TransitiveProperty .",
        )
    if branch == "staff-in-wards":
        return ONTOLOGY + ":worksIn rdfs:subPropertyOf :memberOf .\n:memberOf rdfs:domain :Ward .\n"
    return ONTOLOGY.replace(":Nurse a owl:Class ; rdfs:subClassOf :Staff .", ":Nurse a owl:Class .")


def make(folder: Path) -> None:
    """Make the repository: `main`, and a branch for each pull request."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    workflows = folder / ".github" / "workflows"
    workflows.mkdir(parents=True)
    shutil.copyfile(WORKFLOW, workflows / WORKFLOW.name)
    (folder / "ontology").mkdir()
    (folder / "ontology" / "hospital.ttl").write_text(ONTOLOGY)
    (folder / "ontology" / "staff.nt").write_text(data(60))
    (folder / "rules.dlog").write_text(RULES)
    commit(folder, "The ontology of a hospital")
    for branch, title in TITLES.items():
        git(folder, "checkout", "-q", "-b", branch, "main")
        (folder / "ontology" / "hospital.ttl").write_text(changed(branch))
        commit(folder, title)
    git(folder, "checkout", "-q", "main")


def commit(folder: Path, title: str) -> None:
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", title)


def git(folder: Path, *arguments: str) -> None:
    own = ["-c", "user.name=demo", "-c", "user.email=demo@example.org"]
    own += ["-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *own, *arguments], check=True)


def main(folder: Path = FOLDER) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    repository = folder / "repository"
    make(repository)
    for branch, title in TITLES.items():
        print(f"\n== {branch}: {title}\n", flush=True)
        command = [sys.executable, "-m", "triplestore", "diff", f"main..{branch}"]
        command += ["-C", str(repository), "--only", "ontology", "--reason", "owl-rl"]
        command += ["--rules", "rules.dlog", "--cache", str(folder / "cache")]
        command += ["--report", str(folder / f"{branch}.md")]
        command += ["--report", str(folder / f"{branch}.html")]
        command += ["--fail-on", "violations>0 or removed-classes>0"]
        done = subprocess.run(command, check=False)
        print(f"exit status {done.returncode}")
    print(f"\nreports and repository: {folder}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
