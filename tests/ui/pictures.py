"""Pictures of every page over any served store, to be looked at.

triplestore ui my.db --no-browser --port 7878 &
cd tests && python -m ui.pictures http://localhost:7878 ../build/pictures
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from ui.browser import Visitor, chromium, visiting

CLASSES = """SELECT ?class (COUNT(*) AS ?members) WHERE {
  ?thing a ?class
}
GROUP BY ?class
ORDER BY DESC(?members)
LIMIT 30"""
ONE = "SELECT ?thing { ?thing a ?class FILTER(isIRI(?thing)) } LIMIT 1 OFFSET 2000"
GRAPH = "CONSTRUCT { ?a ?p ?b } { ?a ?p ?b . ?b ?q ?c FILTER(isIRI(?c) && isIRI(?a)) } LIMIT 40"
PAGES = ("ontology", "reasoning", "change", "store")


def main(address: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium())

        @contextmanager
        def visitor(**context: Any) -> Iterator[Visitor]:
            with visiting(browser, address, **context) as made:
                made.page.set_default_timeout(60_000)
                yield made

        def keep(one: Visitor, name: str) -> None:
            one.page.wait_for_load_state("networkidle")
            one.page.wait_for_timeout(300)
            one.page.screenshot(path=folder / f"{name}.png")

        with visitor() as one:
            one.ask(CLASSES)
            keep(one, "query-table")
            for view in ("Chart", "Explain", "Raw"):
                one.page.get_by_role("tab", name=view).click()
                keep(one, f"query-{view.lower()}")
            one.ask(GRAPH)
            one.page.get_by_role("tab", name="Graph").click()
            one.page.locator(".graph-canvas canvas").first.wait_for()
            keep(one, "query-graph")
            one.ask(ONE)
            term = str(one.page.locator(".results a.term").first.get_attribute("href"))
        narrow = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
        for suffix, context in (("", {}), ("-dark", {"color_scheme": "dark"}), ("-390", narrow)):
            with visitor(**context) as one:
                one.page.goto(f"{address}/{term}")
                one.page.locator("main h1").first.wait_for(state="attached")
                keep(one, f"resource{suffix}")
                for place in PAGES:
                    one.open(place)
                    keep(one, f"{place}{suffix}")
                one.ask(CLASSES)
                keep(one, f"query{suffix}")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"), Path(sys.argv[2]))
