"""The pages of the documentation: `python .ci/site FOLDER` writes all of them there.

Hand-written pages are copied from `docs/`; the others are made from the code, the test cases and
the reports of benches. mkdocs makes a site of the folder (`make docs`). `--check SITE` looks for
anything in a built site that a browser would fetch from elsewhere.
"""

from __future__ import annotations

import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]


def main(arguments: list[str]) -> None:
    """Write the pages, or check a site."""
    # Late: these import the package, which is found by the path set above.
    from fetched import fetched_from_elsewhere
    from pages import write_pages

    match arguments:
        case ["--check", site]:
            problems = fetched_from_elsewhere(Path(site))
            sys.exit("\n".join(problems) if problems else 0)
        case [folder]:
            write_pages(REPOSITORY, Path(folder))
        case _:
            sys.exit("usage: python .ci/site FOLDER | python .ci/site --check SITE")


if __name__ == "__main__":
    main(sys.argv[1:])
