"""The command line: its output, its exit statuses, and files that it must not make."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyoxigraph import NamedNode, Quad, RdfFormat, parse
from support.interrupting import STOPPED

from tests.cli.cli_helpers import run
from triplestore import Store
from triplestore.cli import main

DATA = """@prefix ex: <http://ex.org/> .
ex:a ex:p ex:b, "x"@EN .
ex:b a ex:C .
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "data.ttl").write_text(DATA)
    (tmp_path / "more.nq").write_text("<http://ex.org/a> <http://ex.org/p> _:x <http://ex.org/g> .")
    (tmp_path / "bad.nt").write_text(
        "<http://ex.org/a> <http://ex.org/p> 5 .\n<http://ex.org/a> <http://ex.org/p> _:y .\n"
    )
    return tmp_path


def load(store: Path, *files: Path) -> None:
    result = run("load", "-l", store, "--quiet", *(part for f in files for part in ("-f", f)))
    assert result.exit_code == 0, result.output


def test_load__several_files_after_one_flag(files: Path) -> None:
    result = run("load", "-l", files / "s", "-f", files / "data.ttl", files / "more.nq")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "added 4" in result.stderr
    with Store.read_only(files / "s") as store:
        assert len(store) == 4
        assert dict(store.prefixes) == {"ex": "http://ex.org/"}


def test_load__from_standard_input_needs_a_format(files: Path) -> None:
    refused = run("load", "-l", files / "s", stdin=DATA.encode())
    assert refused.exit_code == 1
    assert "format" in refused.stderr
    taken = run("load", "-l", files / "s", "--format", "ttl", stdin=DATA.encode())
    assert taken.exit_code == 0
    with Store.read_only(files / "s") as store:
        assert len(store) == 3


def test_load__into_graphs(files: Path) -> None:
    for option in ("--graph", "--replace-graph", "--replace-graph"):
        graph = f"http://ex.org/{option}"
        result = run("load", "-l", files / "s", "-f", files / "data.ttl", option, graph)
        assert result.exit_code == 0
    assert "already there 3" in result.stderr and "added" not in result.stderr
    with Store.read_only(files / "s") as store:
        assert len(list(store.named_graphs())) == 2
        assert len(store) == 6


def test_load__of_malformed_input_says_where_and_changes_nothing(files: Path) -> None:
    load(files / "s", files / "data.ttl")
    result = run("load", "-l", files / "s", "-f", files / "more.nq", files / "bad.nt")
    assert result.exit_code == 1
    assert "bad.nt:1:" in result.stderr
    assert "Traceback" not in result.stderr
    with Store.read_only(files / "s") as store:
        assert len(store) == 3 and store.commit == 1


def test_load__lenient_keeps_the_good_and_ends_with_its_own_status(files: Path) -> None:
    result = run("load", "-l", files / "s", "-f", files / "bad.nt", "--lenient", "--quiet")
    assert result.exit_code == 3
    assert "bad.nt:1:" in result.stderr
    with Store.read_only(files / "s") as store:
        assert len(store) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("dump", "--format", "nq"),
        ("info",),
        ("verify",),
        ("backup", "-d", "copy"),
        ("optimize",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_verbs__never_make_a_store_from_a_mistyped_path(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    missing = tmp_path / "no-such.db"
    result = run(*arguments, "-l", missing)
    assert result.exit_code == 1
    assert str(missing) in result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_dump__to_standard_output_and_files(files: Path) -> None:
    load(files / "s", files / "data.ttl", files / "more.nq")
    out = run("dump", "-l", files / "s", "--format", "nq")
    assert out.exit_code == 0
    assert len(list(parse(out.stdout_bytes, RdfFormat.N_QUADS))) == 4
    assert run("dump", "-l", files / "s", files / "out.trig.gz").exit_code == 0
    twice = run("dump", "-l", files / "s", "a.nq", "-f", files / "b.nq")
    assert twice.exit_code == 2 and not Path("a.nq").exists()
    again = files / "again"
    load(again, files / "out.trig.gz")
    with Store.read_only(again) as store:
        assert len(store) == 4
    default = run("dump", "-l", files / "s", "--format", "ttl", "--graph", "default")
    assert default.exit_code == 0
    assert b"@prefix ex: <http://ex.org/>" in default.stdout_bytes
    one = run("dump", "-l", files / "s", "--format", "nt", "--graph", "http://ex.org/g")
    assert one.stdout_bytes.count(b"\n") == 1
    assert run("dump", "-l", files / "s").exit_code == 2
    assert run("dump", "-l", files / "s", "--format", "ttl").exit_code == 1
    inferred = run("dump", "-l", files / "s", "--format", "nq", "--facts", "inferred")
    assert inferred.exit_code == 0 and inferred.stdout_bytes == b""


def test_convert__streams_between_formats(files: Path) -> None:
    target = files / "out.nt"
    result = run("convert", "--from-file", files / "data.ttl", "--to-file", target)
    assert result.exit_code == 0
    assert len(list(parse(path=str(target)))) == 3
    piped = run("convert", "--from-format", "ttl", "--to-format", "nt", stdin=DATA.encode())
    assert sorted(piped.stdout_bytes.splitlines()) == sorted(target.read_bytes().splitlines())
    bad = run("convert", "--from-file", files / "bad.nt", "--to-format", "ttl")
    assert bad.exit_code == 1
    assert "bad.nt:1:" in bad.stderr
    lenient = run("convert", "--from-file", files / "bad.nt", "--to-format", "nt", "--lenient")
    assert lenient.exit_code == 3
    assert lenient.stdout_bytes.count(b"\n") == 1


def test_info__in_words_and_as_json(files: Path) -> None:
    load(files / "s", files / "data.ttl", files / "more.nq")
    text = run("info", "-l", files / "s")
    assert text.exit_code == 0
    assert "4 (4 explicit, 0 inferred)" in text.stdout
    figures = json.loads(run("info", "-l", files / "s", "--format", "json").stdout)
    assert (figures["quads"], figures["in_named_graphs"], figures["classes"]) == (4, 1, 1)
    assert figures["terms"] == 8


def test_verify_backup_optimize(files: Path) -> None:
    load(files / "s", files / "data.ttl")
    load(files / "s", files / "more.nq")
    assert run("optimize", "-l", files / "s").exit_code == 0
    assert run("backup", "-l", files / "s", "-d", files / "copy").exit_code == 0
    assert run("verify", "-l", files / "copy", "--quiet").exit_code == 0
    with Store.read_only(files / "s") as one, Store.read_only(files / "copy") as other:
        assert set(one) == set(other) and len(one) == 4
    again = run("backup", "-l", files / "s", "-d", files / "copy")
    assert again.exit_code == 1


def test_verify__names_a_damaged_file(files: Path) -> None:
    load(files / "s", files / "data.ttl")
    assert run("optimize", "-l", files / "s").exit_code == 0
    largest = max((files / "s").glob("*.seg"), key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[len(content) // 2] ^= 1
    largest.write_bytes(content)
    result = run("verify", "-l", files / "s", "--quiet")
    assert result.exit_code == 1
    assert largest.name in result.output


def test_second_writer__is_told_who_writes_and_readers_go_on(files: Path) -> None:
    load(files / "s", files / "data.ttl")
    with Store(files / "s"):
        command = [sys.executable, "-m", "triplestore.cli"]
        writer = subprocess.run(
            [*command, "load", "-l", files / "s", "-f", files / "more.nq"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert writer.returncode == 1
        assert "process" in writer.stderr and "Traceback" not in writer.stderr
        reader = subprocess.run(
            [*command, "info", "-l", files / "s"], capture_output=True, text=True, check=False
        )
        assert reader.returncode == 0


def test_interrupt__stops_a_load_cleanly(files: Path) -> None:
    load(files / "s", files / "data.ttl")
    process = subprocess.Popen(
        [sys.executable, "-m", "triplestore.cli", "load", "-l", files / "s", "--format", "nt"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    line = b"<http://ex.org/%d> <http://ex.org/p> <http://ex.org/b> .\n"
    for number in range(200_000):
        process.stdin.write(line % number)
    process.stdin.flush()
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode in STOPPED, errors
    assert b"Traceback" not in errors
    with Store(files / "s") as store:
        assert len(store) == 3
        assert store.verify() == []


def test_closed_pipe__ends_a_dump_quietly(files: Path) -> None:
    with Store(files / "s") as store:
        node = NamedNode("http://ex.org/p")
        store.extend(Quad(NamedNode(f"http://ex.org/{n}"), node, node) for n in range(20_000))
    dump = f"{sys.executable} -m triplestore.cli dump -l {files / 's'} --format nt | head -1"
    result = subprocess.run(dump, shell=True, capture_output=True, text=True, check=False)
    assert result.stdout.count("\n") == 1
    assert "Traceback" not in result.stderr and "Exception" not in result.stderr


@pytest.mark.parametrize("command", [None, *sorted(main.commands)], ids=str)
def test_help__has_an_example_for_every_verb(command: str | None) -> None:
    result = run(*([command] if command else []), "--help")
    assert result.exit_code == 0
    assert f"triplestore {command or 'load'}" in result.stdout.split("Example")[1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion__prints_a_script(shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_TRIPLESTORE_COMPLETE" in result.stdout


def test_help_and_info__import_nothing_heavy(files: Path) -> None:
    load(files / "s", files / "data.ttl")
    program = (
        "import sys\n"
        "from triplestore.cli import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "except SystemExit as end:\n"
        "    assert not end.code, end.code\n"
        "heavy = {'numba', 'rdflib', 'pyspark', 'pyarrow', 'matplotlib'} & set(sys.modules)\n"
        "numpy = {'numpy'} & set(sys.modules) if '--help' in sys.argv else set()\n"
        "sys.exit(str(heavy | numpy) if heavy | numpy else 0)\n"
    )
    for arguments in (["--help"], ["info", "-l", str(files / "s")]):
        result = subprocess.run(
            [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr


def test_dump__an_unknown_graph_is_an_error(files: Path) -> None:
    load(files / "s", files / "data.ttl", files / "more.nq")
    ours = ("dump", "-l", files / "s", "--format", "nq", "--graph")
    assert run(*ours, "http://ex.org/g").stdout.count("\n") == 1
    assert run(*ours, "default").stdout.count("\n") == 3
    refused = run(*ours, "http://ex.org/gg")
    assert refused.exit_code == 2 and refused.stdout == ""
    assert "does not have the graph <http://ex.org/gg>" in refused.stderr
    assert "did you mean <http://ex.org/g>?" in refused.stderr
    assert "there are: <http://ex.org/g>" in run(*ours, "urn:q").stderr


def completed(*words: str) -> list[tuple[str, str]]:
    """What is offered for the last word: kind and text."""
    from click.shell_completion import ShellComplete

    found = ShellComplete(main, {}, "triplestore", "_X").get_completions(
        list(words[:-1]), words[-1]
    )
    return [(item.type, item.value) for item in found]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("load", "--format", "n"), ["nt", "nq", "n3"]),
        (("dump", "--format", "t"), ["ttl", "trig"]),
        (("convert", "--to-format", "json"), ["jsonld"]),
        (("query", "--results-format", "p"), ["parquet"]),
        (("reason", "--regime", "OWL"), ["owl-rl", "owl-el", "owl-horst"]),
        (("check", "--regime", "s"), ["skos", "swrl"]),
        (("import", "--reason", "r"), ["rdfs"]),
        (("import", "--format", "par"), ["parquet"]),
        (("pre",), ["prefix"]),
    ],
)
def test_completion__of_formats_regimes_and_commands(
    words: tuple[str, ...], expected: list[str]
) -> None:
    assert completed(*words) == [("plain", word) for word in expected]


@pytest.mark.parametrize(
    "words",
    [
        ("load", "-l", "s", "-f", "da"),
        ("load", "-l", "s", "-f", "x.ttl", "da"),
        ("query", "-o", "da"),
        ("dump", "--file", "da"),
        ("reason", "--rules", "da"),
        ("reason", "--ontology", "da"),
        ("check", "--imports", "da"),
        ("import", "-l", "s", "da"),
        ("convert", "--from-file", "da"),
        ("load-table", "da"),
    ],
)
def test_completion__of_files(words: tuple[str, ...]) -> None:
    assert completed(*words) == [("file", "da")]
