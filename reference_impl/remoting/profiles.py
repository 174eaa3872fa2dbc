"""The lines of the protocol as plain values: what differs between them and is no behaviour.

Where the behaviour differs, a subclass decides, or a method that asks `profile.v5`: a mutant can replace it.
"""

from typing import Literal

import msgspec

from harness.wire.fastjson import Engine
from harness.wire.messages import LineName


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the protocol."""

    name: Literal["4.9", "5.3", "5.5"]
    version: int
    """`version` of every response: ordinal of the release in MQVersion."""
    release: str
    """The name of that release."""
    v5: bool
    """Whether this is the 5.x line: its bodies, its settings, and the PROXY protocol."""
    v55: bool = False
    """Whether this is 5.4 or later, as far as a Broker differs by it."""
    invalid_utf8: Literal["refuse", "replace"]
    """Invalid UTF-8 in a JSON header: 5.3 closes, 4.9 reads U+FFFD."""
    engine: Engine
    """What reads and writes JSON: fastjson2 from 5.4 on."""
    messages: LineName
    """Whose way of writing messages this is."""
    faq: str
    """What the remarks of refusals point to."""
    invalid_parameter: int
    """The Broker's response code for a parameter that is out of its range."""


_OF_49 = Profile(
    name="4.9",
    version=409,
    release="V4_9_8",
    v5=False,
    invalid_utf8="replace",
    engine="fastjson",
    messages="4.9",
    faq="http://rocketmq.apache.org/docs/faq/",
    invalid_parameter=1,
)
_OF_53 = Profile(
    name="5.3",
    version=479,
    release="V5_3_3",
    v5=True,
    invalid_utf8="refuse",
    engine="fastjson",
    messages="5.3",
    faq="https://rocketmq.apache.org/docs/bestPractice/06FAQ",
    invalid_parameter=29,
)
_OF_55 = msgspec.structs.replace(
    _OF_53, name="5.5", version=513, release="V5_5_0", v55=True, engine="fastjson2"
)

PROFILES: dict[str, Profile] = {line.name: line for line in (_OF_49, _OF_53, _OF_55)}
"""The lines by name."""
