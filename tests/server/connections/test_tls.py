"""HTTPS by certificate files, and who must log in."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from server.conftest import Client

from triplestore import Store
from triplestore.errors import StorageError, UsageError
from triplestore.server import Settings, serve
from triplestore.server.serving import configured

CERTIFICATE = Path(__file__).with_name("localhost.pem")


@pytest.fixture
def secure(serving: Callable[..., Client], users: Path) -> http.client.HTTPSConnection:
    client = serving(tls_cert=CERTIFICATE, users=users)
    context = ssl.create_default_context(cafile=CERTIFICATE)
    return http.client.HTTPSConnection("localhost", client.port, context=context, timeout=30)


def test_tls__answers_whom_trusts_the_certificate(secure: http.client.HTTPSConnection) -> None:
    secure.request("GET", "/health")
    assert json.loads(secure.getresponse().read()) == {"status": "ok"}
    secure.close()


def test_tls__plain_requests_are_not_answered(serving: Callable[..., Client]) -> None:
    client = serving(tls_cert=CERTIFICATE)
    with socket.create_connection(("localhost", client.port), timeout=30) as plain:
        plain.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200 OK" not in plain.recv(65536)


def test_tls__old_versions_are_refused(serving: Callable[..., Client]) -> None:
    client = serving(tls_cert=CERTIFICATE)
    context = ssl.create_default_context(cafile=CERTIFICATE)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with (
        socket.create_connection(("localhost", client.port)) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as wrapped,
    ):
        assert wrapped.version() == "TLSv1.2"
    made = configured(Store(), Settings(tls_cert=CERTIFICATE))
    made.load()
    assert made.ssl is not None
    assert made.ssl.minimum_version >= ssl.TLSVersion.TLSv1_2


def test_tls__the_cookie_is_for_encrypted_connections_only(
    secure: http.client.HTTPSConnection,
) -> None:
    body = json.dumps({"name": "wim", "password": "wim-secret"})
    secure.request("POST", "/api/login", body, {"content-type": "application/json"})
    answer = secure.getresponse()
    answer.read()
    cookie = str(answer.getheader("set-cookie"))
    assert cookie.startswith("__Host-") and "Secure" in cookie and "Path=/" in cookie
    secure.request("GET", "/health", headers={"cookie": cookie.partition(";")[0]})
    assert "quads" in json.loads(secure.getresponse().read())
    secure.close()


def test_tls__what_is_wrong_with_the_files_is_said(tmp_path: Path) -> None:
    def fails(**files: Path) -> str:
        with pytest.raises(StorageError) as found:
            configured(Store(), Settings(**files))
        return str(found.value)

    assert "No such file" in fails(tls_cert=tmp_path / "none.pem")
    (tmp_path / "odd.pem").write_text("nonsense")
    assert "for TLS" in fails(tls_cert=tmp_path / "odd.pem")
    (tmp_path / "only.pem").write_text(CERTIFICATE.read_text().partition("-----BEGIN PRI")[0])
    assert "for TLS" in fails(tls_cert=tmp_path / "only.pem")
    with pytest.raises(UsageError, match="needs a certificate"):
        Settings(tls_key=tmp_path / "key.pem")


def test_serve__asks_for_users_if_others_reach_it() -> None:
    with pytest.raises(UsageError) as found:
        serve(Store(), Settings(), host="0.0.0.0", port=0)
    for words in ("other machines", "triplestore users add", "--users", "--no-login"):
        assert words in str(found.value)
