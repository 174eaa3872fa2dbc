"""Settings of a server from the file that a person named."""

import os
from pathlib import Path
from typing import Protocol, Self, TypeVar

from reference_impl.remoting.errors import ConfigError

from .problems import EXIT_CONFIGURATION, StartError


class _Readable(Protocol):
    @classmethod
    def from_properties(cls, data: bytes, profile: str) -> Self: ...


_C = TypeVar("_C", bound=_Readable)


def from_file(kind: type[_C], config_file: str | os.PathLike[str], profile: str) -> _C:
    """The settings in a Java `.properties` file. Raises StartError."""
    try:
        return kind.from_properties(Path(config_file).read_bytes(), profile)
    except OSError as error:
        raise StartError(
            f"configuration {config_file} cannot be read ({error.strerror}); expected a .properties file",
            EXIT_CONFIGURATION,
        ) from error
    except ConfigError as error:
        raise StartError(f"configuration {config_file}: {error}", EXIT_CONFIGURATION) from error
