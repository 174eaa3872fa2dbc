"""The settings in force: shown by code 319, changed by code 318, and read anew for each decision.

Rules:
1. One object, shared by all parts; a change replaces `config`, so that the next decision sees it. What is
   fixed at the start (the port, the files, the interval of scans, the capacity of the queue, the black list)
   was read from it then.
2. An update that names a key of the black list changes nothing at all.
3. A key that the line does not know can be changed if the configuration file had it, and is ignored
   otherwise. So is a number that Java's `parseInt` refuses; a boolean is true if it says `true` in any case,
   and false otherwise.
4. After every update that was not refused, the whole configuration is to be on disk before the reply. It is
   written so that it reads back as it is. (Apache writes values as they are: what follows a line break within
   a value is a setting of its own when the server starts again.)
5. `revision` grows with every update.

Source: DefaultRequestProcessor#updateConfig, #initConfigBlackList, Configuration, MixAll#properties2Object of
rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from harness.wire.bodies import Properties
from reference_impl.remoting.values import Value, shown, trimmed

from .config import NOT_IN_49, Config, number
from .profiles import Profile

__all__ = ["ALWAYS_REFUSED", "Settings"]

ALWAYS_REFUSED: Final = frozenset({"configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome"})
"""Keys that code 318 refuses whatever `configBlackList` says."""


class Settings:
    """What a server is configured by, from its start on."""

    def __init__(self, profile: Profile, config: Config) -> None:
        self.profile = profile
        self.config = config
        self.revision = 0
        self.unwritten = False
        """Whether there was an update since the caller last took `dump()` to be written."""
        self.fields = {
            field.encode_name: field for field in Config.settings() if self.knows(field.encode_name)
        }
        self.extra = {key: text for key, text in config.file.items() if key not in self.fields}
        """Keys of the file that the line does not know."""
        self.black_list = self.refused_keys(config.config_black_list)

    def knows(self, key: str) -> bool:
        """Whether the line has such a setting."""
        return self.profile.v5_settings or key not in NOT_IN_49

    def refused_keys(self, listed: str) -> frozenset[str]:
        """The black list; an empty `configBlackList` names the empty key, as Java splits it."""
        if listed and not listed.strip(";"):
            return ALWAYS_REFUSED
        return ALWAYS_REFUSED.union(listed.rstrip(";").split(";"))

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
            elif key in self.extra:
                self.extra[key] = text
        self.config = msgspec.structs.replace(self.config, **changes)
        self.revision += 1
        self.changed()

    def read(self, key: str, text: str, kind: Any) -> Value | None:
        """The value that a text means; None: the old one stays. 4.9 does not trim strings."""
        if kind is bool:
            return text.lower() == "true"
        if kind is int:
            return number(key, text)
        return trimmed(text) if self.profile.v5_settings else text

    def changed(self) -> None:
        """The configuration has to be on disk before the reply is sent."""
        self.unwritten = True

    def pairs(self) -> dict[str, str]:
        """Every key with its value, sorted by key. (4.9 has no order.)"""
        known = {key: shown(getattr(self.config, field.name)) for key, field in self.fields.items()}
        if not self.config.rocketmq_home:
            del known["rocketmqHome"]
        return dict(sorted((self.extra | known).items()))

    def dump(self) -> bytes:
        """The body of code 319, and what is stored."""
        return Properties(self.pairs()).encode()
