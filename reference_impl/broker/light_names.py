"""Names of light topics and of the queues that hold their messages (5.5). Pure functions.

Source: LiteUtil, MixAll#isLmq of rocketmq-all-5.5.0.
"""

from __future__ import annotations

from typing import Final

LIGHT_QUEUE: Final = "%LMQ%"
"""How the name of every light queue begins, be it that of a light topic or not."""
_OF_TOPIC: Final = LIGHT_QUEUE + "$"
_SEPARATOR: Final = "$"


def queue_of(topic: str, light: str) -> str:
    """The queue of a light topic of a parent."""
    return f"{_OF_TOPIC}{topic}{_SEPARATOR}{light}"


def is_of(queue: str, topic: str) -> bool:
    """Whether a queue is that of a light topic of a parent."""
    return queue.startswith(queue_of(topic, ""))


def is_of_light_topic(queue: str) -> bool:
    """Whether a queue is that of a light topic."""
    return queue.startswith(_OF_TOPIC)


def parted(queue: str) -> tuple[str, str]:
    """(parent, light topic) of a queue that is that of a light topic."""
    topic, _, light = queue.removeprefix(_OF_TOPIC).partition(_SEPARATOR)
    return topic, light
