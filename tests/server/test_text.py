"""Text search over HTTP: the query endpoint answers `text:query`, and says what is wrong."""

from __future__ import annotations

from .conftest import Client

TEXT = 'PREFIX text: <http://jena.apache.org/text#> SELECT ?x { ?x text:query "%s" }'


def test_query__searches_texts(client: Client) -> None:
    reply = client.query(TEXT % "ada")
    assert reply.status == 400
    assert "needs a text index" in reply.text
    client.store.index_text(["http://ex.org/name"])
    for _ in range(2):
        reply = client.query(TEXT % "ad*", accept="text/csv")
        assert (reply.status, reply.text) == (200, "x\r\nhttp://ex.org/ada\r\n")
    reply = client.query(TEXT % "(ada")
    assert reply.status == 400
    assert "the bracket is not closed, at character 1" in reply.text
    update = 'INSERT DATA { <http://ex.org/new> <http://ex.org/name> "Adam" }'
    assert client.store.update(update).commit
    reply = client.query(TEXT % "adam", accept="text/csv")
    assert reply.text == "x\r\nhttp://ex.org/new\r\n"
