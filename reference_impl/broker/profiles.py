"""The lines of the protocol as plain values: what differs between 4.9 and 5.3 and is no behaviour.

Where the behaviour differs, a part asks `profile.v5` in a method of its own, so that a mutant can replace it.
"""

from typing import Literal

import msgspec

from harness.wire.fastjson import Engine

__all__ = ["PROFILES", "Profile"]


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the protocol."""

    name: Literal["4.9", "5.3"]
    version: int
    """`version` of every response: ordinal of the release in MQVersion."""
    release: str
    """The name of that release."""
    v5: bool
    """Whether this is the 5.x line."""
    invalid_utf8: Literal["refuse", "replace"]
    """Invalid UTF-8 in a JSON header: 5.3 closes, 4.9 reads U+FFFD."""
    engine: Engine
    """What reads JSON."""
    faq: str
    """What the remarks of refusals point to."""
    invalid_parameter: int
    """The response code of a parameter that is out of its range: 1 in 4.9, 29 in 5.3."""
    proxy_protocol: bool
    """Whether a connection may begin with a PROXY preamble."""


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            name="4.9",
            version=409,
            release="V4_9_8",
            v5=False,
            invalid_utf8="replace",
            engine="fastjson",
            faq="http://rocketmq.apache.org/docs/faq/",
            invalid_parameter=1,
            proxy_protocol=False,
        ),
        Profile(
            name="5.3",
            version=479,
            release="V5_3_3",
            v5=True,
            invalid_utf8="refuse",
            engine="fastjson",
            faq="https://rocketmq.apache.org/docs/bestPractice/06FAQ",
            invalid_parameter=29,
            proxy_protocol=True,
        ),
    )
}
"""The lines by name."""
