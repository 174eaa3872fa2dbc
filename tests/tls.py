"""Conversations under TLS, without a socket."""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.conformance.shared.certificates import FIRST, FIRST_KEY
from harness.trace import Closed, Opened, Received, Sent
from harness.trace.reassembly import Seen


def under_tls(
    version: ssl.TLSVersion,
    questions: Sequence[bytes],
    answer: Callable[[bytes], bytes],
    path: Path,
    *,
    remote: str = "10.0.0.2:6",
) -> tuple[list[Seen], Path]:
    """What passes on the wire: a handshake, then questions, one after the other, each answered; and the key
    log, which is written to the directory ``path``.
    """
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    (path / "certificate").write_bytes(FIRST + FIRST_KEY)
    serving.load_cert_chain(path / "certificate")
    asking = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    asking.check_hostname, asking.verify_mode = False, ssl.CERT_NONE
    asking.minimum_version = asking.maximum_version = version
    asking.keylog_filename = str(path / "keys")
    to_client, from_client, to_server, from_server = (ssl.MemoryBIO() for _ in range(4))
    client = asking.wrap_bio(to_client, from_client)
    server = serving.wrap_bio(to_server, from_server, server_side=True)
    seen: list[Seen] = [Opened(real=0, protocol=0, connection=1, local="10.0.0.1:5", remote=remote)]

    def carry() -> None:
        if data := from_client.read():
            seen.append(Sent(real=1, protocol=1, connection=1, data=data))
            to_server.write(data)
        if data := from_server.read():
            seen.append(Received(real=1, protocol=1, connection=1, data=data))
            to_client.write(data)

    for _ in range(3):
        for end in (client, server):
            with contextlib.suppress(ssl.SSLWantReadError):
                end.do_handshake()
            carry()
    for question in questions:
        client.write(question)
        carry()
        got = b""
        while len(got) < len(question):
            got += server.read(65_536)
        server.write(answer(got))
        carry()
        client.read(65_536)
    seen.append(Closed(real=2, protocol=2, connection=1, by="us", how="fin"))
    return seen, path / "keys"
