"""Sources as they are found: odd names, odd files, odd terms. Digests are the local loader's."""

from __future__ import annotations

import bz2
import datetime
import gzip
import random
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.spark.random_programs_on_spark import settings
from tests.spark.test_parse import JSON_LD, RDF_XML, TRIG, TURTLE, written
from triplestore import Store
from triplestore.errors import ParseError, StorageError, UsageError
from triplestore.loaders.compression import zstd
from triplestore.loaders.spark.importing.dataset import import_dataset
from triplestore.loaders.spark.importing.sources import SourceOptions
from triplestore.loaders.spark.importing.table_columns import Property, columns_to_triples

BOM = b"\xef\xbb\xbf"


def lines(first: int, count: int, end: str = "\n") -> bytes:
    """N-Triples with unique labels and values."""
    made = []
    for number in range(first, first + count):
        made.append(f"<http://e/{number}> <http://e/p> <http://e/{number + 1}> .{end}")
        made.append(f'_:n{number % 5} <http://e/name> "n {number} \u00fc"@en .{end}')
    return "".join(made).encode()


def digest_of(target: Path) -> str:
    with Store.read_only(target) as store:
        assert store.verify() == []
        return store.digest()


def local_digest(paths: Sequence[Path], **told: Any) -> str:
    store = Store()
    store.load(path=list(paths), **told)
    return store.digest()


def imported(spark: Any, source: Any, target: Path, **told: Any) -> str:
    import_dataset(spark, source, target, partitions=3, **told)
    return digest_of(target)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, hidden files and unfinished output."""
    base = tmp_path_factory.mktemp("as found") / "year=2020 (\u00fc\u00f1\u4e2d)"
    for name in ("part=1", "_temporary", ".hidden"):
        (base / name).mkdir(parents=True)
    written(base / "_temporary", "lost.nt", "not data")
    written(base / ".hidden", "lost.nt", "not data")
    written(base, "_SUCCESS", "")
    written(base, "._SUCCESS.crc", "x")
    written(base, ".part-0.nt.crc", "x")
    written(base, "_notes.nt", "not data")
    written(base, "read me.md", "not data")
    inside = base / "part=1"
    written(inside, "a b+c%20d&e#f,g;h'i~j.nt", lines(0, 40))
    written(inside, "\u00e9t\u00e9 \u4e2d\u6587.ttl", TURTLE)
    written(inside, "UPPER.NT", lines(200, 4))
    written(inside, "dots.in.the.name.v1.0.nt.gz", gzip.compress(lines(300, 40)))
    # As `cat *.gz` and parallel compressors write them: streams one after the other.
    twice = [lines(400, 30), lines(430, 30)]
    written(inside, "two.nt.gz", b"".join(map(gzip.compress, twice)))
    written(inside, "two.nt.bz2", b"".join(map(bz2.compress, twice)))
    written(inside, "two.ttl.zst", b"".join(map(zstd().compress, [TURTLE.encode()])))
    written(inside, "three.nq.zst", zstd().compress(lines(500, 30)))
    written(inside, "windows.nt", BOM + lines(600, 30, "\r\n"))
    written(inside, "windows.ttl", BOM + TURTLE.replace("\n", "\r\n").encode())
    written(inside, "windows.trig", BOM + TRIG.replace("\n", "\r\n").encode())
    written(inside, "windows.jsonld", JSON_LD.replace("\n", "\r\n"))
    written(inside, "windows.nt.gz", gzip.compress(lines(700, 30, "\r\n")))
    written(inside, "old mac.nt", lines(800, 30, "\r"))
    written(inside, "no end.nt", lines(900, 30).rstrip(b"\n"))
    written(inside, "schema.owl", RDF_XML)
    for name in ("empty.nt", "empty.ttl", "empty.nq", "empty.trig", "empty.nt.bz2"):
        written(inside, name, "")
    written(inside, "empty.nt.gz", gzip.compress(b""))
    written(inside, "only a mark.nt", BOM)
    written(inside, "only blanks.ttl", " \n\n# nothing\n")
    return base


def data_of(folder: Path) -> list[Path]:
    """The files of the folder that an import reads, in order."""
    return sorted(path for path in (folder / "part=1").iterdir() if path.is_file())


@pytest.mark.parametrize(
    ("split", "cut"),
    [
        (2000, 500),
        # Ranges and blocks of a few bytes: a mark, a line end or a stream may be anywhere in them.
        pytest.param(700, 100, marks=pytest.mark.long),
        pytest.param(1 << 26, 1 << 26, marks=pytest.mark.long),
    ],
)
def test_folder__as_it_is_found(
    spark: Any, found: Path, tmp_path: Path, split: int, cut: int
) -> None:
    wanted = local_digest(data_of(found))
    options = SourceOptions(split_bytes=split, cut_bytes=cut)
    assert imported(spark, f"file://{found}", tmp_path / "x.db", options=options) == wanted


@pytest.mark.parametrize(
    "pattern",
    [
        "*/[a-z]*.nt",
        *(
            pytest.param(pattern, marks=pytest.mark.long)
            for pattern in ("part=1/*.{nt,ttl}", "part=1/tw?.nt.*", "*1/?[w-z]*")
        ),
    ],
)
def test_patterns__name_what_they_match(
    spark: Any, found: Path, tmp_path: Path, pattern: str
) -> None:
    if "{" in pattern:
        chosen = [*found.glob("part=1/*.nt"), *found.glob("part=1/*.ttl")]
    else:  # `*` takes no hidden folder on Spark
        chosen = [path for path in found.glob(pattern) if path.parent.name == "part=1"]
    assert len(chosen) > 1
    wanted = local_digest(sorted(chosen))
    assert imported(spark, f"file:{found}/{pattern}", tmp_path / "x.db") == wanted


def test_names__with_marks_of_patterns_are_read_from_their_folder(
    spark: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    names = ["a[1].nt", "b{2,3}.nt", "c*.nt.bz2", "d?.ttl", "e\\.nt", "f$^|.nt"]
    for number, name in enumerate(names):
        data = lines(number * 100, 30)
        written(folder, name, bz2.compress(data) if name.endswith("bz2") else data)
    wanted = local_digest(sorted(folder.iterdir()))
    options = SourceOptions(split_bytes=300)
    assert imported(spark, str(folder), tmp_path / "x.db", options=options) == wanted


def test_names__with_colons_are_read_from_their_folder_but_no_pattern(
    spark: Any, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    paths = [written(tmp_path / "in", f"at 12:{n}.nt", lines(n, 3)) for n in (15, 30)]
    assert imported(spark, str(tmp_path / "in"), tmp_path / "x.db") == local_digest(paths)
    with pytest.raises(StorageError, match="give the folder"):
        import_dataset(spark, str(tmp_path / "in" / "*.nt"), tmp_path / "y.db")


@pytest.mark.long
@pytest.mark.parametrize("times", [2, 16])
def test_terms__that_are_very_long_or_everywhere(spark: Any, tmp_path: Path, times: int) -> None:
    chosen = random.Random(4)
    long = ["".join(chosen.choices("ab \u00fc\u4e2d", k=250_000)) * times for _ in range(2)]
    assert all(len(text.encode()) > 375_000 * times for text in long)
    text = "".join(f'<http://e/{n}> <http://e/text> "{long[n % 2]}{n}" .\n' for n in range(4))
    text += "".join(f"<http://e/{n}> <http://e/in> <http://e/all> .\n" for n in range(375 * times))
    text += "".join(
        f"<http://e/all> <http://e/has> <http://e/x{n}> .\n" for n in range(200 * times)
    )
    (tmp_path / "in").mkdir()
    written(tmp_path / "in", "a.nt", text)
    written(tmp_path / "in", "b.nt.bz2", bz2.compress(text.replace("/e/text", "/e/more").encode()))
    written(tmp_path / "in", "c.ttl", text[: 875_000 * times].rpartition("\n")[0])
    wanted = local_digest(sorted((tmp_path / "in").iterdir()))
    options = SourceOptions(split_bytes=times << 16, cut_bytes=times << 18)
    assert imported(spark, str(tmp_path / "in"), tmp_path / "x.db", options=options) == wanted


@pytest.mark.parametrize("count", [200, pytest.param(3000, marks=pytest.mark.long)])
def test_files__many_of_them_named_one_by_one(spark: Any, tmp_path: Path, count: int) -> None:
    paths = [written(tmp_path, f"{number:05}.nt", lines(number, 1)) for number in range(count)]
    wanted = local_digest(paths)
    assert imported(spark, [str(path) for path in paths], tmp_path / "x.db") == wanted


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("a.jsonld", '{"@context": "https://example.org/c", "@id": "http://e/a"}', "context"),
        ("a.jsonld", "", "a.jsonld:1"),
        ("a.ttl.gz", "<http://e/a> <http://e/b> 1 .", "does not start like gzip data"),
        ("a.nt", BOM.decode() * 2 + "<http://e/a> <http://e/b> <http://e/c> .", "a.nt:1"),
    ],
    ids=["remote context", "empty JSON", "not compressed", "two marks"],
)
def test_files__that_cannot_be_read_are_told_as_locally(
    spark: Any, tmp_path: Path, name: str, text: str, match: str
) -> None:
    (tmp_path / "in").mkdir()
    path = written(tmp_path / "in", name, text)
    said = []
    for way in (lambda: local_digest([path]), lambda: imported(spark, str(path), tmp_path / "x")):
        with pytest.raises(ParseError, match=match) as caught:
            way()
        said.append((caught.value.filename, caught.value.lineno, caught.value.msg))
    assert said[0][:2] == said[1][:2]
    assert said[1][2].removeprefix("column 1: ") == said[0][2]
    assert not (tmp_path / "x").exists()


# --- tables -------------------------------------------------------------------------------------

XSD = "http://www.w3.org/2001/XMLSchema#"
ROWS: list[tuple[Any, ...]] = [
    (1, Decimal("1.50"), Decimal("0E-18"), 1.0, datetime.date(2024, 2, 29), ["x", None], True),
    (2, Decimal("-0.00"), Decimal("1E-18"), -0.0, datetime.date(1, 1, 1), [], False),
    (3, None, Decimal("-12345678901234567890.5"), 1e-7, None, None, None),
    (4, Decimal("99999999.99"), None, float("nan"), datetime.date(9999, 12, 31), [""], None),
    (5, Decimal("-7"), None, float("-inf"), datetime.date(1582, 10, 4), ["\t\u0000\u2028"], None),
    (None, Decimal("1"), None, 1e300, None, ["nobody"], None),
]
WRITTEN = {
    1: [
        ("m", "1.50", "decimal"), ("w", "0.000000000000000000", "decimal"), ("d", "1.0", "double"),
        ("day", "2024-02-29", "date"), ("tag", "x", None), ("b", "true", "boolean"),
    ],
    2: [
        ("m", "0.00", "decimal"), ("w", "0.000000000000000001", "decimal"),
        ("d", "-0.0", "double"), ("day", "0001-01-01", "date"), ("b", "false", "boolean"),
    ],
    3: [("w", "-12345678901234567890.500000000000000000", "decimal"), ("d", "1.0E-7", "double")],
    4: [
        ("m", "99999999.99", "decimal"), ("d", "NaN", "double"), ("day", "9999-12-31", "date"),
        ("tag", "", None),
    ],
    5: [
        ("m", "-7.00", "decimal"), ("d", "-INF", "double"), ("day", "1582-10-04", "date"),
        ("tag", "\\t\\u0000\u2028", None),
    ],
}  # fmt: skip
"""The rows as triples: subject, and property, text and datatype."""


def test_table__typed_columns_of_parquet(spark: Any, tmp_path: Path) -> None:
    made = spark.createDataFrame(
        ROWS,
        "id int, m decimal(10,2), w decimal(38,18), d double, day date, tag array<string>, "
        "b boolean",
    )
    # Spark 3.5 wants to be told by which calendar dates before 1582-10-15 are to be written.
    with settings(spark, {"spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED"}):
        made.write.parquet(str(tmp_path / "in"))
    table = spark.read.parquet(str(tmp_path / "in"))
    names = ("m", "w", "d", "day", "b", "tag")
    triples = columns_to_triples(
        table, subject="http://e/{id}", properties={name: f"http://e/{name}" for name in names}
    )
    text = "".join(
        f'<http://e/{number}> <http://e/{name}> "{value}"'
        + (f"^^<{XSD}{kind}> .\n" if kind else " .\n")
        for number, said in WRITTEN.items()
        for name, value, kind in said
    )
    wanted = local_digest([written(tmp_path, "wanted.nt", text)])
    assert imported(spark, triples, tmp_path / "x.db") == wanted


@pytest.mark.parametrize(
    "zone",
    [
        "America/St_Johns",
        pytest.param("UTC", marks=pytest.mark.long),
        pytest.param("Asia/Kolkata", marks=pytest.mark.long),
    ],
)
def test_table__times_are_the_same_in_any_zone(spark: Any, tmp_path: Path, zone: str) -> None:
    with settings(spark, {"spark.sql.session.timeZone": zone}):
        table = spark.sql(
            """SELECT id, CAST(text AS timestamp) AS at, CAST(plain AS timestamp_ntz) AS here,
                array(CAST(text AS timestamp), NULL) AS many FROM VALUES
            (1, '2024-03-31T02:30:00.123456+05:30', '2024-03-31T02:30:00.5'),
            (2, '1969-12-31T23:59:59.999999Z', '0001-01-01T00:00:00'),
            (3, '2024-11-03T05:30:00Z', NULL), (4, NULL, '1970-01-01T00:00:00'),
            (5, '2024-11-03T04:30:00Z', NULL) AS t(id, text, plain)"""
        )
        table.write.parquet(str(tmp_path / "in"))
        properties: dict[str, str | Property] = {
            name: f"http://e/{name}" for name in ("at", "here", "many")
        }
        triples = columns_to_triples(
            spark.read.parquet(str(tmp_path / "in")),
            subject="http://e/{id}",
            properties=properties,
        )
        found = imported(spark, triples, tmp_path / "x.db")
    said = [
        (1, "at", "2024-03-30T21:00:00.123456Z"), (1, "many", "2024-03-30T21:00:00.123456Z"),
        (1, "here", "2024-03-31T02:30:00.500000"),
        (2, "at", "1969-12-31T23:59:59.999999Z"), (2, "many", "1969-12-31T23:59:59.999999Z"),
        (2, "here", "0001-01-01T00:00:00.000000"),
        (3, "at", "2024-11-03T05:30:00.000000Z"), (3, "many", "2024-11-03T05:30:00.000000Z"),
        (4, "here", "1970-01-01T00:00:00.000000"),
        (5, "at", "2024-11-03T04:30:00.000000Z"), (5, "many", "2024-11-03T04:30:00.000000Z"),
    ]  # fmt: skip
    text = "".join(
        f'<http://e/{number}> <http://e/{name}> "{value}"^^<{XSD}dateTime> .\n'
        for number, name, value in said
    )
    assert found == local_digest([written(tmp_path, "wanted.nt", text)])


def test_table__a_column_without_a_term_is_refused(spark: Any, tmp_path: Path) -> None:
    table = spark.sql("SELECT 1 AS id, INTERVAL 1 DAY AS many")
    with pytest.raises(UsageError, match="column many has the type interval"):
        columns_to_triples(table, subject="http://e/{id}", properties={"many": "http://e/p"})


# --- what takes long ----------------------------------------------------------------------------


@pytest.mark.long
def test_files__a_hundred_thousand_small_ones(spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for number in range(100_000):
        if number % 1000 == 0:
            (folder / f"{number // 1000:03}").mkdir(parents=True)
        written(folder / f"{number // 1000:03}", f"{number:06}.nt", lines(number, 1))
    wanted = local_digest([folder])
    assert imported(spark, str(folder), tmp_path / "x.db") == wanted


@pytest.mark.long
def test_files__a_large_one_that_cannot_be_split(spark: Any, tmp_path: Path) -> None:
    chosen = random.Random(7)
    with gzip.open(tmp_path / "a.nt.gz", "wb", compresslevel=1) as stream:
        for number in range(0, 3_000_000, 1000):
            made = (
                f'<http://e/s{n // 9}> <http://e/p{n % 11}> "{chosen.getrandbits(400):x}" .\n'
                for n in range(number, number + 1000)
            )
            stream.write("".join(made).encode())
    assert (tmp_path / "a.nt.gz").stat().st_size > 200_000_000
    wanted = local_digest([tmp_path / "a.nt.gz"])
    assert imported(spark, str(tmp_path / "a.nt.gz"), tmp_path / "x.db") == wanted
