"""All pages of the site in one folder: start reading at `write_pages`.

Always true: links that lead out of the site (to a file of the repository) become code, so that a
page says the same in the repository and on the site.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path

from benchmarks import expand, report_pages, reports_page
from command_page import command_page
from reference_page import reference_page
from rule_pages import owl_rl_page, rdfs_page, skos_page, swrl_page

GENERATED = "generated"
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
_MERMAID = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ARROW = re.compile(r"^ *([\w.]+) --> ([\w.]+)$", re.MULTILINE)


def write_pages(repository: Path, target: Path) -> None:
    """Write the folder anew: pages, pictures and styles."""
    if target.exists():
        shutil.rmtree(target)
    results = repository / "bench" / "results"
    shutil.copytree(repository / "docs", target)
    for page in target.rglob("*.md"):
        page.write_text(expand(page.read_text(encoding="utf-8"), results), encoding="utf-8")
    folder = target / GENERATED
    folder.mkdir()
    made = {
        "owl-rl.md": owl_rl_page(),
        "rdfs.md": rdfs_page(),
        "skos.md": skos_page(),
        "swrl.md": swrl_page(repository / "ontologies" / "DESIGN.md"),
        "api.md": reference_page(),
        "commands.md": command_page(),
        "architecture.md": tables_of_arrows(
            (repository / "ARCHITECTURE.md").read_text(encoding="utf-8")
        ),
        "changes.md": (repository / "CHANGELOG.md").read_text(encoding="utf-8"),
        "reports.md": reports_page(results),
        **report_pages(results),
    }
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
    for picture in results.glob("*.svg"):
        shutil.copy(picture, folder)
    _cut_foreign_links(target)


def tables_of_arrows(text: str) -> str:
    """The text with each drawing of packages as a table: the site has no library that draws."""

    def table(match: re.Match[str]) -> str:
        users: dict[str, list[str]] = {}
        for user, used in _ARROW.findall(match[1]):
            users.setdefault(user, []).append(f"`{used}`")
        rows = [f"| `{user}` | {', '.join(used)} |" for user, used in users.items()]
        return "\n".join(["| package | imports |", "|---|---|", *rows])

    return _MERMAID.sub(table, text).replace('An arrow means "imports". ', "")


def _cut_foreign_links(target: Path) -> None:
    for page in target.rglob("*.md"):
        folder = page.parent.relative_to(target).as_posix()

        def kept(match: re.Match[str], folder: str = folder) -> str:
            words, link = match[1], match[2]
            path = link.partition("#")[0]
            if not path or "://" in link or link.startswith("mailto:"):
                return match[0]
            place = posixpath.normpath(posixpath.join(folder, path))
            if (target / place).is_file():
                return match[0]
            page_of_docs = re.fullmatch(r"(?:generated/)?docs/(.+\.md)", place)
            if page_of_docs and (target / page_of_docs[1]).is_file():
                return f"[{words}]({posixpath.relpath(page_of_docs[1], folder or '.')})"
            report = re.fullmatch(r"(?:.*/)?bench/results/(\w+)\.md", place)
            if report and (target / GENERATED / f"bench-{report[1]}.md").is_file():
                up = posixpath.relpath(f"{GENERATED}/bench-{report[1]}.md", folder or ".")
                return f"[{words}]({up})"
            return f"{words} (`{path}`)" if words != path else f"`{path}`"

        text = page.read_text(encoding="utf-8")
        page.write_text(_LINK.sub(kept, text), encoding="utf-8")
