"""Answers of queries as tables: Parquet and Arrow over HTTP."""

from __future__ import annotations

import io

import pytest
from server.conftest import SEES, Client

pa = pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")

PARQUET = "application/vnd.apache.parquet"
STREAM = "application/vnd.apache.arrow.stream"
FILE = "application/vnd.apache.arrow.file"


def read(body: bytes, media_type: str):
    import pyarrow.parquet

    if media_type == PARQUET:
        return pyarrow.parquet.read_table(io.BytesIO(body))
    opened = pa.ipc.open_stream if media_type == STREAM else pa.ipc.open_file
    return opened(io.BytesIO(body)).read_all()


@pytest.mark.parametrize("media_type", [PARQUET, STREAM, FILE])
def test_tables__have_a_column_for_each_variable(client: Client, media_type: str) -> None:
    reply = client.query(SEES, media_type)
    assert (reply.status, reply.media_type) == (200, media_type)
    assert read(reply.body, media_type).to_pydict() == {"y": ["http://ex.org/bob"]}


@pytest.mark.parametrize("media_type", [PARQUET, STREAM])
def test_tables__triples_have_three_columns(client: Client, media_type: str) -> None:
    reply = client.query("CONSTRUCT WHERE { :ada :sees ?y }", media_type)
    assert read(reply.body, media_type).column_names == ["s", "p", "o"]


def test_tables__only_for_those_who_ask_for_them(client: Client) -> None:
    assert client.query(SEES, "*/*").media_type == "application/sparql-results+json"
    assert client.query(SEES, "application/*").media_type == "application/sparql-results+json"
