"""Handles of popped messages (5.x): by which a message is acknowledged, or hidden for longer.

A handle is eight words: where its pop began in the queue, when that was (ms), for how long it hides (ms), the
queue of the Broker's own log of pops, the kind of the topic, the name of the Broker, queue and offset.

Source: ExtraInfoUtil#buildExtraInfo, MQClientAPIImpl#processPopResponse (5.3.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.wire.errors import WireError
from harness.wire.messages import Message, PropertyName, TopicName

__all__ = ["handles_of", "listed", "new_handle", "place_of"]

_SEPARATORS = {"0": None, "1": "_", "2": "+"}
"""Kinds of topics: what stands between group and topic in the name of one for messages that come again."""
_LISTS = ("startOffsetInfo", "msgOffsetInfo")
_OF_THE_POP = ("popTime", "invisibleTime", "reviveQid")


def listed(ext: Mapping[str, str | None]) -> list[tuple[str, int, int, str]]:
    """``(kind of topic, queue, offset, where the pop began)`` of each message that the answer to a pop lists.
    Raises `WireError`.
    """
    starts, offsets = ([one.split(" ") for one in (ext.get(name) or "").split(";") if one] for name in _LISTS)
    try:
        begins = {(kind, queue): start for kind, queue, start in starts}
        return [
            (kind, int(queue), int(offset), begins[kind, queue])
            for kind, queue, several in offsets
            for offset in several.split(",")
        ]
    except (KeyError, ValueError):
        named = {name: ext.get(name) for name in _LISTS}
        raise WireError(f"lists that cannot be read: {named}") from None


def handles_of(ext: Mapping[str, str | None], messages: Sequence[Message], broker: str) -> list[str]:
    """Of each message that a pop has given its handle: the property that it has, or what the answer says of
    it. `broker`: the name of the Broker that has answered. Raises `WireError`.
    """
    starts = {(queue, offset): start for kind, queue, offset, start in listed(ext) if kind == "0"}
    found = []
    for message in messages:
        place = (message.queue_id, message.queue_offset)
        words = (starts.get(place), *(ext.get(name) for name in _OF_THE_POP))
        handle = message.properties.get(PropertyName.POP_CK)
        if handle is None and None in words:
            raise WireError(f"the message at {place} is not listed")
        found.append(handle or " ".join(map(str, (*words, "0", broker, *place))))
    return found


def new_handle(handle: str, ext: Mapping[str, str | None]) -> str:
    """The handle of a message once it is hidden for another time, by the answer to that."""
    *_, kind, broker, queue, offset = handle.split(" ")
    return " ".join((offset, *(ext.get(name) or "" for name in _OF_THE_POP), kind, broker, queue, offset))


def place_of(handle: str, topic: str, group: str) -> dict[str, str | None]:
    """The fields by which requests name the message of a handle, which a group has popped of a topic."""
    words = handle.split(" ")
    separator = _SEPARATORS[words[4]]
    return {
        "consumerGroup": group,
        "topic": topic if separator is None else f"{TopicName.RETRY_PREFIX}{group}{separator}{topic}",
        "queueId": words[6],
        "offset": words[7],
        "extraInfo": handle,
    }
