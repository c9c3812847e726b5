"""TLS: a certificate of a CA of one's own, one that is not trusted, and none at all."""

import datetime
import ipaddress
import ssl
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tui.agent.load import connections as load_http


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a self-signed certificate for 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tminus test")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1))
    builder = builder.not_valid_after(now + datetime.timedelta(days=1))
    builder = builder.add_extension(names, critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    pem = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    plain = serialization.NoEncryption()
    pem += key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    path.write_bytes(pem)
    return path


@pytest.fixture
def secure(serve: Any, certificate: Path) -> Any:
    """Start a scripted server that speaks TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return serve(tls=context)


def test_a_ca_of_ones_own_is_trusted_when_named(secure: Any, bench: Any, certificate: Path) -> None:
    result = bench(secure.url, ca_file=str(certificate), concurrency=3, requests=6)
    assert (result.outcome, result.completed, result.output_tokens) == ("done", 6, 600)


def test_insecure_asks_for_no_trust(secure: Any, bench: Any) -> None:
    assert bench(secure.url, insecure=True).completed == 2


def test_an_unknown_certificate_is_told_as_tls(secure: Any, bench: Any) -> None:
    result = bench(secure.url)
    assert (result.outcome, result.failures) == ("failed", {"tls": 1})
    assert "--insecure" in result.sentence


def test_a_handshake_that_never_ends_is_a_timeout(
    serve: Any, bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_http, "CONNECT_TIMEOUT_S", 0.2)
    assert bench(serve().url.replace("http:", "https:")).failures == {"timeout": 1}


def test_tls_behind_plain_http_is_a_failure_with_a_sentence(secure: Any, bench: Any) -> None:
    result = bench(secure.url.replace("https:", "http:"))
    assert result.outcome == "failed"
    assert set(result.failures) <= {"not_http", "reset"}


def test_a_ca_file_that_cannot_be_read_is_said(secure: Any, bench: Any) -> None:
    result = bench(secure.url, ca_file="/no/such.pem")
    assert (result.outcome, result.failed) == ("failed", 0)
    assert "/no/such.pem" in result.sentence
