"""The command `import`, in the session of the tests, which it uses and does not stop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from triplestore import NamedNode, Store
from triplestore.cli import main

LINES = '<http://e/a> <http://e/p> "x"@en .\n_:b <http://e/p> <http://e/a> .\n'


def run(*arguments: object) -> Any:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(main, ["import", *words, "--partitions", "2"])


def test_import__lenient_says_what_was_left_out_and_keeps_a_report(
    spark: Any, tmp_path: Path
) -> None:
    source, target, report = tmp_path / "a.nt", tmp_path / "x.db", tmp_path / "report.json"
    source.write_text(LINES + "<http://e/a> oops .\n")
    strict = run("-l", target, source, "--report", report)
    assert strict.exit_code == 1
    assert "a.nt:3" in strict.stderr.splitlines()[-1]
    assert json.loads(report.read_text())["ok"] is False
    assert not target.exists()

    result = run("-l", target, source, "--lenient", "--report", report, "--graph", "http://e/g")
    assert result.exit_code == 3, result.stderr
    assert result.stderr.splitlines()[-1] == "triplestore: 1 malformed statement was left out"
    said = json.loads(report.read_text())
    assert said["ok"] is True and said["result"]["bad"] == 1
    assert {"statements", "terms"} <= {stage["stage"] for stage in said["stages"]}
    with Store(target) as made, Store() as local:
        local.load(LINES, "nt", to_graph=NamedNode("http://e/g"))
        assert made.digest() == local.digest()
    assert spark.range(3).count() == 3  # not stopped


def test_import__of_tables_with_rules(spark: Any, tmp_path: Path) -> None:
    rows = [("<http://e/a>", "<http://e/p>", '"x"@en', None), ("_:b", "<http://e/p>", "_:c", None)]
    frame = spark.createDataFrame(rows, "s string, p string, o string, g string")
    frame.write.parquet(str(tmp_path / "table"))
    rules = tmp_path / "rules.dlog"
    rules.write_text("<http://e/q>[?y, ?x] :- <http://e/p>[?x, ?y] .\n")
    target = tmp_path / "x.db"
    result = run("-l", target, tmp_path / "table", "--format", "parquet", "--rules", rules)
    assert result.exit_code == 0, result.stderr
    with Store(target) as made, Store() as local:
        local.load(" .\n".join(" ".join(row[:3]) for row in rows) + " .", "nt")
        local.reason(rules=rules)
        assert made.digest() == local.digest()
        assert made.count("inferred") == local.count("inferred") == 1
