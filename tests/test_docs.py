"""The pages of the documentation: their examples are true, and the site can be made of them."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.page_examples import check

from triplestore.errors import UsageError

REPOSITORY = Path(__file__).resolve().parent.parent
DOCS = REPOSITORY / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")
NEEDED = {
    "agents.md": "mcp",
    "federation.md": "uvicorn",
    "rdflib.md": "rdflib",
    "server.md": "uvicorn",
    "server-for-others.md": "uvicorn",
    "spark.md": "pyspark",
    "tables.md": "pandas",
    "text-search.md": "tantivy",
}
"""The extra libraries that the examples of some pages need."""


def parameter(page: Path) -> object:
    name = str(page.relative_to(DOCS)).replace("/", "-")
    marks = [pytest.mark.xdist_group("spark")] if page.name == "spark.md" else []
    return pytest.param(page, id=name, marks=marks)


def there_is_java() -> bool:
    from triplestore.loaders.spark.java import find_java

    try:
        find_java()
    except UsageError:
        return False
    return True


@pytest.mark.parametrize("page", [parameter(page) for page in PAGES])
def test_page__examples_are_true(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page.name in NEEDED:
        pytest.importorskip(NEEDED[page.name])
    if page.name == "spark.md" and not there_is_java():
        pytest.skip("Spark needs Java")
    monkeypatch.chdir(tmp_path)
    problems = check(page.read_text(encoding="utf-8"), tmp_path, str(page.relative_to(REPOSITORY)))
    assert not problems, "\n".join(problems)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all pages, the generated ones included."""
    folder = tmp_path_factory.mktemp("docs") / "pages"
    make = [sys.executable, str(REPOSITORY / ".ci" / "site"), str(folder)]
    run = subprocess.run(make, capture_output=True, text=True, cwd=REPOSITORY)
    assert run.returncode == 0, run.stderr
    return folder


def test_generated__pages_have_their_contents(site: Path) -> None:
    def text(name: str) -> str:
        return (site / "generated" / name).read_text(encoding="utf-8")

    assert "### prp-trp" in text("owl-rl.md")
    assert 'rule "prp-trp" ex:p[?x, ?z] :- ex:p[?x, ?y], ex:p[?y, ?z] .' in text("owl-rl.md")
    assert "A deviation: " in text("owl-rl.md")
    assert "### rdfs9" in text("rdfs.md") and "### S36" in text("skos.md")
    assert "swrlb:greaterThan" in text("swrl.md") and "| 8.2 numbers |" in text("swrl.md")
    assert "### Store.reason" in text("api.md") and "import_dataset(" in text("api.md")
    assert "## query" in text("commands.md") and "--max-memory" in text("commands.md")
    assert "```mermaid" not in text("architecture.md")
    assert "| `cli` | `server`" in text("architecture.md")


def test_every_rule__of_owl_2_rl_has_a_row_and_a_section(site: Path) -> None:
    from tests.ontologies.rule_cases import CASES

    text = (site / "generated" / "owl-rl.md").read_text(encoding="utf-8")
    for rule in {case.rule for case in CASES}:
        assert f"| [{rule}](#" in text
        assert f"### {rule}\n" in text


def test_pages__lead_somewhere_and_are_in_the_contents(site: Path) -> None:
    problems = []
    for page in sorted(site.rglob("*.md")):
        for link in LINK.findall(re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)):
            path = link.partition("#")[0]
            if path and "://" not in path and not (page.parent / path).is_file():
                problems.append(f"{page.relative_to(site)}: the link to {link} leads nowhere")
    contents = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"([\w/-]+\.md)$", contents, re.MULTILINE))
    problems += [f"{name} is in mkdocs.yml only" for name in named if not (site / name).is_file()]
    there = {page.relative_to(site).as_posix() for page in site.rglob("*.md")}
    there -= {name for name in there if name.startswith("generated/bench-")}  # in reports.md
    problems += [f"{name} is not in mkdocs.yml" for name in sorted(there - named)]
    assert problems == []


def test_benchmarks__have_no_places_left(site: Path) -> None:
    text = (site / "benchmarks.md").read_text(encoding="utf-8")
    assert "{{" not in text and "| triplestore |" in text


@pytest.mark.skipif(
    importlib.util.find_spec("material") is None, reason="the extra `docs` is not installed"
)
def test_site__is_built_without_warnings_and_fetches_nothing(site: Path, tmp_path: Path) -> None:
    settings = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    settings = settings.replace("docs_dir: build/docs", f"docs_dir: {site}")
    settings = settings.replace("site_dir: build/site", f"site_dir: {tmp_path / 'site'}")
    (tmp_path / "mkdocs.yml").write_text(settings, encoding="utf-8")
    mkdocs = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    built = subprocess.run(
        mkdocs,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert built.returncode == 0, built.stderr
    look = [sys.executable, str(REPOSITORY / ".ci" / "site"), "--check", str(tmp_path / "site")]
    assert subprocess.run(look, capture_output=True, text=True).stderr == ""


def test_check__finds_what_a_page_fetches(tmp_path: Path) -> None:
    page = '<link href="https://fonts.example.org/a.css" rel="stylesheet"><a href="https://e.org/">x</a>'
    (tmp_path / "index.html").write_text(page)
    look = [sys.executable, str(REPOSITORY / ".ci" / "site"), "--check", str(tmp_path)]
    run = subprocess.run(look, capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr == "index.html: fetches https://fonts.example.org/a.css\n"


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("```rules\n:p[?x] :- :q[?y] .\n```\n", "page.md:2: "),
        (
            '```text title="a.txt"\nyes\n```\n```python\n>>> import os; os.listdir()\n1\n```\n',
            "['a.txt']",
        ),
        ("```console\n$ triplestore info -l none.db\n```\n", "none.db"),
    ],
)
def test_check_of_a_page__notices(
    page: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (found, *_) = check(page, tmp_path, "page.md")
    assert problem in found


def test_table__that_a_report_does_not_have_is_an_error() -> None:
    results = str(REPOSITORY / "bench" / "results")
    page = "{{ table loading, Nothing }}"
    code = f"import benchmarks, pathlib; benchmarks.expand({page!r}, pathlib.Path({results!r}))"
    folder = REPOSITORY / ".ci" / "site"
    run = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert "the report loading has no table under 'Nothing'" in run.stderr
