"""What is said of missing data, and that it names every folder which tests and benches read."""

import re

from support.data_folders import FOLDERS, REPOSITORY, missing, table

NAMES = {folder.name for folder in FOLDERS}
USE = re.compile(r'(?:shared_data|DATA|data_folder\(\))\s*/ "([a-z0-9-]+)"')


def test_every_folder_that_tests_read__is_listed() -> None:
    texts = [path.read_text() for path in (REPOSITORY / "tests").rglob("*.py")]
    read = {name for text in texts for name in USE.findall(text)}
    assert len(read) > 5
    assert read <= NAMES


def test_without_data__the_table_says_what_is_missing_and_where_to_get_it(
    tmp_path, monkeypatch
) -> None:
    (tmp_path / "lubm").mkdir()
    monkeypatch.setenv("TRIPLESTORE_DATA", str(tmp_path))
    assert {folder.name for folder in missing()} == NAMES - {"lubm"}
    assert re.search(r"found +lubm ", table())
    assert re.search(r"missing +w3c-rdf-tests .* git clone \S+/w3c/rdf-tests", table())
    assert f"{len(NAMES) - 1} of {len(NAMES)} are missing" in table()


def test_with_all_data__nothing_is_to_be_done(tmp_path, monkeypatch) -> None:
    for name in NAMES:
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TRIPLESTORE_DATA", str(tmp_path))
    assert not missing()
    assert "missing" not in table()
