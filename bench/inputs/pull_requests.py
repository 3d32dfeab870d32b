"""Repositories of git with pull requests, to compare: a city, LUBM(10), and real histories.

Start at `repository`. A repository has the data on `main`, in N-Triples by subject, and branches
`pr0` to `pr9`. Those of the city and of LUBM are scripted edits of what an ontology and its data
have; those of a real history are its next versions, each a branch of the one before.
"""

from __future__ import annotations

import gzip
import random
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pyoxigraph import RdfFormat, parse

from bench.inputs.data import shared_data

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
COUNT = 10
"""Number of pull requests of each repository."""

_AXIOMS = tuple(f"<{name}" for name in (_RDFS, _OWL))


@dataclass(frozen=True)
class History:
    """A repository: ranges to compare, regimes, and files of rules in it."""

    folder: Path
    ranges: list[str]
    regimes: tuple[str, ...]
    rules: tuple[str, ...] = ()


def repository(name: str, folder: Path) -> History:
    """Make the repository of a name: `city`, `lubm10`, or a folder of `real-deltas`."""
    git = _Git(folder)
    if name == "city":
        from demo.files import make_files

        files = make_files(folder.parent / "city-files")
        lines = _triples(files[kind] for kind in ("ontology", "thesaurus", "network"))
        rules = (Path(__file__).parents[2] / "demo" / "rules.dlog").read_text()
        git.write({**_by_subject(lines, 8), "rules.dlog": rules})
        return _scripted(git, lines, 8, ("owl-rl", "skos"), ("rules.dlog",))
    if name == "lubm10":
        folder_of_lubm = shared_data() / "lubm"
        lines = _triples([folder_of_lubm / "univ-bench.owl"])
        packed = folder_of_lubm / "lubm10" / "lubm10.nt.gz"
        lines += gzip.decompress(packed.read_bytes()).decode().splitlines()
        lines = sorted(set(lines))
        git.write(_by_subject(lines, 100))
        return _scripted(git, lines, 100, ("owl-rl",), ())
    return _real(git, shared_data() / "real-deltas" / name)


class _Git:
    """A repository that is made; nothing of the machine's settings is used."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self("init", "-q", "-b", "main")

    def __call__(self, *arguments: str) -> None:
        own = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
        own += ["-c", "commit.gpgsign=false", "-c", "core.autocrlf=false"]
        subprocess.run(
            ["git", "-C", str(self.folder), *own, *arguments], check=True, capture_output=True
        )

    def write(self, files: dict[str, str], branch: str = "main") -> None:
        """Commit files on a branch, which begins at the commit that is checked out."""
        if branch != "main":
            self("checkout", "-q", "-b", branch)
        for name, text in files.items():
            (self.folder / name).write_text(text)
        self("add", ".")
        self("commit", "-q", "--allow-empty", "-m", branch)


def _triples(files: Iterable[Path]) -> list[str]:
    found: list[str] = []
    for path in files:
        data = path.read_bytes()
        packed = path.suffix == ".gz"
        data = gzip.decompress(data) if packed else data
        form = _FORMATS[path.with_suffix("").suffix if packed else path.suffix]
        quads = parse(data, format=form, base_iri="http://example.org/")
        found += [f"{quad.triple} ." for quad in quads]
    return found


_FORMATS = {".ttl": RdfFormat.TURTLE, ".nt": RdfFormat.N_TRIPLES, ".owl": RdfFormat.RDF_XML}


def _by_subject(lines: list[str], parts: int) -> dict[str, str]:
    """Axioms, and all with blank nodes, in one file; the rest in files of subsequent subjects."""
    axioms = [line for line in lines if _is_axiom(line)]
    data = sorted(line for line in lines if not _is_axiom(line))
    size = -(-len(data) // parts)
    found = {"ontology.nt": "\n".join(axioms) + "\n"}
    for part in range(parts):
        chosen = data[part * size : (part + 1) * size]
        found[f"data{part:03}.nt"] = "\n".join(chosen) + "\n" if chosen else ""
    return found


def _is_axiom(line: str) -> bool:
    words = line.split(" ", 3)
    return "_:" in line or words[1].startswith(_AXIOMS) or words[2].startswith(_AXIOMS)


# -- scripted edits -------------------------------------------------------------------------------

Edited = tuple[list[str], list[str]]
"""Axioms, and the data of one file."""

Edit = Callable[[list[str], list[str], random.Random], Edited]
"""From axioms and the data of one file to what they become."""


def _scripted(
    git: _Git, lines: list[str], parts: int, regimes: tuple[str, ...], rules: tuple[str, ...]
) -> History:
    files = _by_subject(lines, parts)
    axioms = files["ontology.nt"].splitlines()
    for number, edit in enumerate(EDITS):
        git("checkout", "-q", "main")
        name = f"data{number * parts // COUNT:03}.nt"
        chance = random.Random(number)
        ontology, data = edit(list(axioms), files[name].splitlines(), chance)
        changed = {"ontology.nt": "\n".join(ontology) + "\n", name: "\n".join(data) + "\n"}
        git.write(changed, f"pr{number}")
    ranges = [f"main..pr{number}" for number in range(len(EDITS))]
    return History(git.folder, ranges, regimes, rules)


def _with(lines: list[str], word: str) -> list[str]:
    return [line for line in lines if f" <{word}> " in line and "_:" not in line]


def _line(s: str, p: str, o: str) -> str:
    return f"{s} <{p}> {o} ."


def _classes(axioms: list[str]) -> list[str]:
    names = {line.split(" ")[0] for line in axioms if f"<{_OWL}Class>" in line}
    return sorted(name for name in names if name.startswith("<"))


def _properties(axioms: list[str]) -> list[str]:
    names = {line.split(" ")[0] for line in axioms if f"<{_OWL}ObjectProperty>" in line}
    return sorted(name for name in names if name.startswith("<"))


def _add_superclass(axioms: list[str], data: list[str], chance: random.Random) -> Edited:
    new = f"<http://example.org/New{chance.randrange(9)}>"
    return [*axioms, _line(chance.choice(_classes(axioms)), f"{_RDFS}subClassOf", new)], data


def _drop_superclass(axioms: list[str], data: list[str], chance: random.Random) -> Edited:
    axioms.remove(chance.choice(_with(axioms, f"{_RDFS}subClassOf")))
    return axioms, data


def _add_domain(axioms: list[str], data: list[str], chance: random.Random) -> Edited:
    property_ = chance.choice(_used(data) or _properties(axioms))
    return [*axioms, _line(property_, f"{_RDFS}domain", "<http://example.org/Domain>")], data


def _drop_domain(axioms: list[str], data: list[str], chance: random.Random) -> Edited:
    axioms.remove(chance.choice(_with(axioms, f"{_RDFS}domain")))
    return axioms, data


def _add_members(axioms: list[str], data: list[str], chance: random.Random) -> Edited:
    class_ = chance.choice(_classes(axioms))
    made = [_line(f"<http://example.org/i{n}>", f"{_RDF}type", class_) for n in range(50)]
    return axioms, data + made


def _drop_data(axioms: list[str], data: list[str], chance: random.Random) -> Edited:
    gone = set(chance.sample(data, min(50, len(data))))
    return axioms, [line for line in data if line not in gone]


def _disjoint(axioms: list[str], data: list[str], chance: random.Random) -> Edited:
    one, other = chance.sample(_classes(axioms), 2)
    return [*axioms, _line(one, f"{_OWL}disjointWith", other)], data


def _rename(axioms: list[str], data: list[str], chance: random.Random) -> Edited:
    old = chance.choice(data).split(" ")[0]
    return axioms, [line.replace(old, "<http://example.org/renamed>") for line in data]


def _add_subproperty(axioms: list[str], data: list[str], chance: random.Random) -> Edited:
    one = chance.choice(_used(data) or _properties(axioms))
    return [*axioms, _line(one, f"{_RDFS}subPropertyOf", "<http://example.org/related>")], data


def _mixed(axioms: list[str], data: list[str], chance: random.Random) -> Edited:
    for edit in (_add_superclass, _drop_domain, _add_members, _drop_data):
        axioms, data = edit(axioms, data, chance)
    return axioms, data


def _used(data: list[str]) -> list[str]:
    """Properties between things that the data of a file have."""
    found = {line.split(" ")[1] for line in data if line.split(" ")[2].startswith("<")}
    return sorted(found - {f"<{_RDF}type>"})


EDITS: tuple[Edit, ...] = (
    _add_superclass,
    _drop_superclass,
    _add_domain,
    _drop_domain,
    _add_members,
    _drop_data,
    _disjoint,
    _rename,
    _add_subproperty,
    _mixed,
)


# -- real histories -------------------------------------------------------------------------------


def _real(git: _Git, folder: Path) -> History:
    """The first versions of a published ontology, each with its real changes."""
    base = gzip.decompress((folder / "base.nt.gz").read_bytes()).decode().splitlines()
    lines = dict.fromkeys(base)
    deltas = gzip.decompress((folder / "deltas.tsv.gz").read_bytes()).decode().splitlines()
    git.write({"ontology.nt": "\n".join(lines) + "\n"})
    versions = ["main"]
    for line in deltas:
        if line.startswith("#"):
            if len(versions) > 1:
                git.write({"ontology.nt": "\n".join(lines) + "\n"}, versions[-1])
            if len(versions) > COUNT:
                break
            versions.append(f"pr{len(versions) - 1}")
        elif line.startswith("D\t"):
            lines.pop(line[2:], None)
        else:
            lines[line[2:]] = None
    else:
        git.write({"ontology.nt": "\n".join(lines) + "\n"}, versions[-1])
    ranges = [f"{one}..{other}" for one, other in pairwise(versions)]
    return History(git.folder, ranges, ("owl-rl",))
