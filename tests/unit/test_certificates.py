"""Certificates: the one for tests, and those in files that change."""

from __future__ import annotations

import contextlib
import os
import ssl
from pathlib import Path

from harness.conformance.shared.certificates import FIRST, FIRST_KEY, SECOND, SECOND_KEY
from reference_impl.certificates import TEST_PAIR, FileCertificates


def test_a_client_that_trusts_the_test_certificate_agrees_with_its_server() -> None:
    """The client trusts it, and nothing else, and looks at the name."""
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(TEST_PAIR)
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.load_verify_locations(TEST_PAIR)
    for name in ("localhost", "127.0.0.1"):
        there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = trusting.wrap_bio(back, there, server_hostname=name)
        server = serving.wrap_bio(there, back, server_side=True)
        for end in (client, server, client, server):
            with contextlib.suppress(ssl.SSLWantReadError):
                end.do_handshake()
        assert client.getpeercert()


class Files:
    def __init__(self, directory: Path) -> None:
        self.certificate, self.key = directory / "certificate.pem", directory / "key.pem"
        self.said: list[str] = []
        self.current = FileCertificates(self.certificate, self.key, "", self.said.append)
        self._clock = 0

    def write(self, path: Path, data: bytes) -> None:
        path.write_bytes(data)
        self._clock += 10**9
        os.utime(path, ns=(self._clock, self._clock))


def test_without_files_there_is_none(tmp_path: Path) -> None:
    assert Files(tmp_path).current() is None


def test_a_pair_is_read_again_when_both_files_have_changed(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.write(files.certificate, FIRST)
    assert files.current() is None
    files.write(files.key, FIRST_KEY)
    first = files.current()
    assert first is not None
    assert files.current() is first
    files.write(files.certificate, SECOND)
    assert files.current() is first
    files.write(files.key, SECOND_KEY)
    second = files.current()
    assert second is not None
    assert second is not first
    assert files.said == []


def test_a_pair_that_does_not_fit_is_said_and_not_used(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.write(files.certificate, FIRST)
    files.write(files.key, FIRST_KEY)
    first = files.current()
    files.write(files.certificate, SECOND)
    files.write(files.key, FIRST_KEY)
    assert files.current() is first
    assert len(files.said) == 1
    assert "cannot be used" in files.said[0]
