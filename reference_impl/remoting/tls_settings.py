"""How a server uses TLS, under the names of the system properties that Apache takes.

They come from the configuration file like all settings, are fixed at the start, and no code 318 changes them.

Source: TlsSystemConfig of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from collections.abc import Mapping
from typing import Final, Literal, cast

import msgspec

from .errors import ConfigError

TlsMode = Literal["disabled", "permissive", "enforcing"]


class TlsSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Defaults are Apache's."""

    mode: TlsMode = "permissive"
    """`tls.server.mode`: whether TLS is refused, allowed or demanded."""
    test_mode: bool = True
    """`tls.test.mode.enable`: use a certificate that is made at the start, whatever the files are."""
    cert_path: str = ""
    """`tls.server.certPath`: file of the certificate chain, PEM."""
    key_path: str = ""
    """`tls.server.keyPath`: file of the private key, PEM."""
    key_password: str = ""
    """`tls.server.keyPassword`: what the private key is encrypted with; empty: nothing."""

    @classmethod
    def of(cls, pairs: Mapping[str, str]) -> "TlsSettings":
        """Those of a configuration file. Raises ConfigError on a bad value."""
        mode = pairs.get("tls.server.mode", "permissive").strip()
        if mode not in ("disabled", "permissive", "enforcing"):
            raise ConfigError(f"tls.server.mode={mode}: expected disabled, permissive or enforcing")
        test_mode = pairs.get("tls.test.mode.enable", "true").strip().lower()
        if test_mode not in ("true", "false"):
            raise ConfigError(f"tls.test.mode.enable={test_mode}: expected true or false")
        return cls(
            mode=cast(TlsMode, mode),
            test_mode=test_mode == "true",
            cert_path=pairs.get("tls.server.certPath", ""),
            key_path=pairs.get("tls.server.keyPath", ""),
            key_password=pairs.get("tls.server.keyPassword", ""),
        )


TLS_KEYS: Final = frozenset(
    {
        "tls.server.mode",
        "tls.test.mode.enable",
        "tls.server.certPath",
        "tls.server.keyPath",
        "tls.server.keyPassword",
    }
)
"""Keys of a configuration file that are no settings of Apache's files, but system properties."""
