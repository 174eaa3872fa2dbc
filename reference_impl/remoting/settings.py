"""The settings in force of a server: shown by one code, changed by another, and read anew for each decision.

1. One object, shared by all parts; a change replaces `config`, so that the next decision sees it. What is
   fixed at the start was read from it then.
2. An update that names a key of the black list changes nothing at all.
3. A key that the line does not know can be changed if the configuration file had it, and is ignored
   otherwise. So is a number that Java's `parseInt` refuses; a boolean is true if it says `true` in any case,
   and false otherwise.
4. `revision` grows with every update.

Source: Configuration, MixAll#properties2Object of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import msgspec

from harness.wire.bodies import Properties

from .values import Value, number, shown, trimmed


class _Config(Protocol):
    @property
    def file(self) -> dict[str, str]: ...
    @property
    def config_black_list(self) -> str: ...
    @property
    def rocketmq_home(self) -> str: ...
    @classmethod
    def settings(cls) -> tuple[msgspec.structs.FieldInfo, ...]: ...
    @classmethod
    def bits(cls, key: str) -> int: ...


_C = TypeVar("_C", bound=_Config)


class SettingsInForce(Generic[_C]):
    """What a server is configured by, from its start on."""

    ALWAYS_REFUSED: ClassVar[frozenset[str]]
    """Keys that an update must not name, whatever `configBlackList` says."""

    def __init__(self, config: _C, *, v5: bool) -> None:
        self.v5 = v5
        self.config = config
        self.revision = 0
        self.fields = {
            field.encode_name: field for field in config.settings() if self.knows(field.encode_name)
        }
        self.extra = {key: text for key, text in config.file.items() if key not in self.fields}
        """Keys of the file that do nothing."""
        self.black_list = self.refused_keys(config.config_black_list)

    def knows(self, key: str) -> bool:
        """Whether the line has such a setting."""
        raise NotImplementedError

    def refused_keys(self, listed: str) -> frozenset[str]:
        """The black list; an empty `configBlackList` names the empty key, as Java splits it."""
        if listed and not listed.strip(";"):
            return self.ALWAYS_REFUSED
        return self.ALWAYS_REFUSED.union(listed.rstrip(";").split(";"))

    def refuses(self, pairs: Mapping[str, str]) -> bool:
        """Whether an update names a key of the black list."""
        return not self.black_list.isdisjoint(pairs)

    def update(self, pairs: Mapping[str, str]) -> None:
        """Take over what can be taken over."""
        changes: dict[str, Any] = {}
        for key, text in pairs.items():
            field = self.fields.get(key)
            if field is not None:
                value = self.read(key, text, field.type)
                if value is not None:
                    changes[field.name] = value
            else:
                self.take_other(key, text)
        self.config = msgspec.structs.replace(self.config, **changes)  # type: ignore[type-var]
        self.revision += 1
        self.changed()

    def take_other(self, key: str, text: str) -> None:
        """Change a key that does nothing."""
        if key in self.extra:
            self.extra[key] = text

    def read(self, key: str, text: str, kind: Any) -> Value | None:
        """The value that a text means; None: the old one stays. 4.9 does not trim strings."""
        if kind is bool:
            return text.lower() == "true"
        if kind is str:
            return trimmed(text) if self.v5 else text
        return number(text, self.config.bits(key))

    def changed(self) -> None:
        """There was an update."""

    def pairs(self) -> dict[str, str]:
        """Every key with its value, sorted by key. (4.9 has no order.)"""
        known = {key: shown(getattr(self.config, field.name)) for key, field in self.fields.items()}
        if not self.config.rocketmq_home:
            known.pop("rocketmqHome", None)
        return dict(sorted((self.extra | known).items()))

    def dump(self) -> bytes:
        """What is shown, and stored."""
        return Properties(self.pairs()).encode()
