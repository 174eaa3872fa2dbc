"""What a pull or a pop is to be given: every message, those with some tags, or those that pass a filter."""

from __future__ import annotations

import msgspec

from harness.program.broker.filters import Filter, text_of
from harness.spec.broker.entries import Entry
from harness.spec.broker.filtering import passes
from harness.wire.messages import PropertyName, tag_hash


class Wanted(msgspec.Struct, frozen=True):
    """By default every message."""

    tags: tuple[str, ...] = ()
    filter: Filter | None = None
    filtered: str = "filter-decides"
    """The invariant that a wrong answer breaks where there is a filter."""

    @property
    def is_everything(self) -> bool:
        return not self.tags and self.filter is None

    @property
    def invariant(self) -> str:
        """What is broken by a message that is not wanted."""
        return "pull-has-the-tag" if self.filter is None else self.filtered

    def has(self, entry: Entry) -> bool:
        """Whether a message is wanted. Of a tag a queue knows the hash alone."""
        send = entry.send
        if self.filter is not None:
            tag = {} if send.tag is None else {str(PropertyName.TAGS): send.tag}
            return passes(self.filter, tag | dict(send.said))
        if not self.tags:
            return True
        return send.tag is not None and tag_hash(send.tag) in {tag_hash(one) for one in self.tags}

    def __str__(self) -> str:
        if self.filter is not None:
            return f"messages with {text_of(self.filter)}"
        return f"messages with {' or '.join(self.tags)}" if self.tags else "every message"
