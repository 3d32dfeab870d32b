"""A process that loads documents and reports each outcome; a crash ends only this process.

It reads one request a line (JSON: a path, and options of `load`), loads the document,
reads some of it back, and answers with one line. It is given the bytes of memory it may take.
Results of queries, by the ending of their name, are read as such.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from triplestore.errors import TripleStoreError
from triplestore.loaders import load
from triplestore.loaders.thresholds import LOADING
from triplestore.sparql.results.formats import results_format
from triplestore.sparql.results.read import ReadSolutions, read_results
from triplestore.terms.dictionary import Dictionary

_READ = 1_000  # terms that are read back
RESULTS = ("srj", "srx", "tsv", "csv")


def outcome(path: str, large: bool, **options: Any) -> str:
    """`loaded n`, `refused` with the message, or `raw` with an unexpected exception."""
    try:
        if path.rpartition(".")[2] in RESULTS:
            return f"loaded {read_back(Path(path))}"
        dictionary = Dictionary()
        # Small loads have the same maximum as before anything is compiled.
        LOADING.small_warm = -1 if large else LOADING.small_cold
        result = load(None, dictionary, path=path, threads=1, **options)
        result.add_terms(dictionary)
        for number in range(1, min(dictionary.size, _READ) + 1):
            str(dictionary.term(number))
    except TripleStoreError as error:
        return f"refused {type(error).__name__} {str(error)[:300]}"
    except BaseException as error:  # noqa: BLE001 - the answer is what it was
        return f"raw {type(error).__name__} {str(error)[:300]}"
    return f"loaded {len(result)}"


def read_back(path: Path) -> int:
    """The number of solutions of a document, which are looked at."""
    found = read_results(path.read_bytes(), results_format(None, path))
    if not isinstance(found, ReadSolutions):
        return 1
    str(found.rows[:_READ])
    return len(found.rows)


def main() -> None:
    """Answer requests until the end of the input."""
    with LOADING.changed(small_warm=-1, small_cold=-1):
        # Kernels are loaded before memory is bounded.
        load(b"<a:b> <a:c> <a:d> .\n", Dictionary(), format="nt")
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = used + int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    print("ready", flush=True)  # noqa: T201
    for line in sys.stdin:
        request = json.loads(line)
        began = time.process_time()
        answer = outcome(**request)
        print(json.dumps([answer, time.process_time() - began]), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
