"""Where a server's certificate comes from: files, read again when they change, or the one for tests.

Invariants:
1. Nothing is read before the first TLS connection needs it.
2. Certificate and key belong together: they are read again when both have changed, as Apache does, so that no
   connection falls between the two writes. A pair that cannot be read leaves the former pair in use.

The certificate of the test mode is `localhost.pem`, self-signed, for localhost and 127.0.0.1. Its key is
public: it proves no identity, as that of Apache's test mode does not.

Source: NamesrvController#initialize and TlsHelper#buildSslContext of rocketmq-all-5.3.3 and before.
"""

import functools
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path

from reference_impl.nameserver import TlsSettings

TEST_PAIR = Path(__file__).parent / "localhost.pem"

_State = tuple[int, int, int]


def certificates_for(
    pairs: Mapping[str, str], complain: Callable[[str], None]
) -> Callable[[], ssl.SSLContext | None]:
    """What a configuration file says. `complain` gets a sentence about what cannot be used.

    Raises ConfigError on a bad value.
    """
    settings = TlsSettings.of(pairs)
    if settings.test_mode:
        return _test_context
    return FileCertificates(
        Path(settings.cert_path), Path(settings.key_path), settings.key_password, complain
    )


class FileCertificates:
    """The certificate and the key in two files."""

    def __init__(self, certificate: Path, key: Path, password: str, complain: Callable[[str], None]) -> None:
        self._files = (certificate, key)
        self._password = password
        self._complain = complain
        self._states: tuple[_State | None, ...] = (None, None)
        self._context: ssl.SSLContext | None = None

    def __call__(self) -> ssl.SSLContext | None:
        """The context of the files as they are now; of the last that could be used; None: none."""
        states = tuple(_state(file) for file in self._files)
        if all(new is not None and new != old for new, old in zip(states, self._states, strict=True)):
            self._states = states
            self._context = self._read() or self._context
        return self._context

    def _read(self) -> ssl.SSLContext | None:
        certificate, key = self._files
        try:
            return _context(certificate, key, self._password)
        except (OSError, ssl.SSLError) as error:
            self._complain(f"TLS: {certificate} and {key} cannot be used: {error}; what was in use stays so")
            return None


def _state(file: Path) -> _State | None:
    """What tells one content of a file from another without reading it."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _context(certificate: Path, key: Path, password: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # Without a password OpenSSL would ask for one at the terminal.
    context.load_cert_chain(certificate, key, password)
    return context


@functools.cache
def _test_context() -> ssl.SSLContext:
    return _context(TEST_PAIR, TEST_PAIR, "")
