"""What all tests share: the long forms, hypothesis profiles and the folder of shared data."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support import fuzzing
from support.data_folders import data_folder, missing

# Kernels are compiled in tests however few their rows are: few rows find most mistakes.
os.environ.setdefault("TRIPLESTORE_KERNELS", "compiled")

# A shell that puts the tests into the background has them ignore Ctrl-C, which some of them send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = Path(__file__).resolve().parent.parent

# `make test` gives the same verdict on the same code each time; the long form looks further.
settings.register_profile(
    "default",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile("short", settings.get_profile("default"), max_examples=10)
settings.register_profile(
    "long", settings.get_profile("default"), derandomize=False, max_examples=2000
)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the long forms of tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long forms out, unless they are asked for: `make test-long`."""
    if config.getoption("--long"):
        return
    # By mark: keywords have the names of folders as well, also those around the checkout.
    config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("long")])
    items[:] = [item for item in items if not item.get_closest_marker("long")]


def pytest_report_header() -> str:
    """Say which data is missing: tests that need it are skipped or not even collected."""
    absent = ", ".join(folder.name for folder in missing())
    return f"data: {data_folder()}" + (f"; missing (see make data): {absent}" if absent else "")


def _freeze() -> None:
    """Have Python's collector leave alone what there is: 16,000 tests are a million objects, and
    caches that tests fill are more. Going through them again and again doubled the time of tests.
    """
    gc.collect()
    gc.freeze()


def pytest_collection_finish() -> None:
    _freeze()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is not None and nextitem.path != item.path:
        _freeze()


@pytest.fixture
def tune() -> Generator[Callable[..., None]]:
    """Change thresholds of a package for one test: `tune(RELATIONS, few_rows=2)`."""
    with ExitStack() as changes:
        yield lambda thresholds, **values: changes.enter_context(thresholds.changed(**values))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of conformance suites and real data; a test that needs it is skipped without."""
    folder = data_folder()
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder} (set TRIPLESTORE_DATA)")
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call" and fuzzing.current is not None:
        if report.failed:
            report.sections.append(("seed", f"TRIPLESTORE_FUZZ_SEED={fuzzing.current}"))
        fuzzing.current = None
    return report
