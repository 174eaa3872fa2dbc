"""What the settings of both servers share: they are read from a Java `.properties` file, and checked.

A value of the wrong kind is refused at the start with key, value and what was expected.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Self

import msgspec

from harness.wire import WireError
from harness.wire.bodies import Properties

from .errors import ConfigError
from .profiles import PROFILES
from .values import Limits, read_value


class ServerConfig(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Effective settings of a server; each field but `file` is one."""

    LONG: ClassVar[frozenset[str]]
    """Numbers of 64 bits; all others have 32."""
    AT_LEAST: ClassVar[Mapping[str, int]]

    file: dict[str, str] = {}
    """What the configuration file says, as it says it."""

    @classmethod
    def from_properties(cls, data: bytes, profile: str = "5.3") -> Self:
        """Read a Java `.properties` file. Raises ConfigError on a bad value or a malformed escape."""
        try:
            return cls.of(Properties.load(data).pairs, profile)
        except WireError as error:
            raise ConfigError(str(error)) from error

    @classmethod
    def of(cls, pairs: Mapping[str, str], profile: str = "5.3") -> Self:
        """The settings of these pairs; 4.9 does not trim strings. Raises ConfigError on a bad value."""
        given: dict[str, Any] = {
            field.name: read_value(
                field.encode_name,
                pairs[field.encode_name],
                field.type,
                trims=PROFILES[profile].v5,
                limits=Limits(cls.bits(field.encode_name), cls.AT_LEAST.get(field.encode_name)),
            )
            for field in cls.settings()
            if field.encode_name in pairs
        }
        config = cls(**given, file=dict(pairs))
        config.check()
        return config

    def check(self) -> None:
        """Raises ConfigError for settings that contradict each other or mean nothing."""

    @classmethod
    @cache
    def settings(cls) -> tuple[msgspec.structs.FieldInfo, ...]:
        """The fields that are settings; `encode_name` is the key."""
        return tuple(field for field in msgspec.structs.fields(cls) if field.name != "file")

    @classmethod
    def bits(cls, key: str) -> int:
        """How large the number of a setting may be: 31 bits or 63."""
        return 63 if key in cls.LONG else 31
