"""The lines of the protocol: what differs as a plain value. What differs in behaviour is a subclass."""

from typing import Literal

import msgspec

from harness.wire.fastjson import Engine

__all__ = ["PROFILES", "Profile"]


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the protocol."""

    name: Literal["4.9", "5.3", "5.5"]
    version: int
    """`version` of every response: ordinal of the release in MQVersion."""
    invalid_utf8: Literal["refuse", "replace"]
    """Invalid UTF-8 in a JSON header: 5.3 closes, 4.9 reads U+FFFD."""
    engine: Engine
    """What reads JSON: fastjson2 from 5.4 on."""
    faq: str
    """What the remark of an unknown topic points to."""
    v5_bodies: bool
    """Whether register bodies follow the rules of 5.x."""
    v5_settings: bool
    """Whether there are the settings of 5.x, and strings among them are trimmed."""
    proxy_protocol: bool
    """Whether a connection may begin with a PROXY preamble."""


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            name="4.9",
            version=409,
            invalid_utf8="replace",
            engine="fastjson",
            faq="http://rocketmq.apache.org/docs/faq/",
            v5_bodies=False,
            v5_settings=False,
            proxy_protocol=False,
        ),
        Profile(
            name="5.3",
            version=479,
            invalid_utf8="refuse",
            engine="fastjson",
            faq="https://rocketmq.apache.org/docs/bestPractice/06FAQ",
            v5_bodies=True,
            v5_settings=True,
            proxy_protocol=True,
        ),
        Profile(
            name="5.5",
            version=513,
            invalid_utf8="refuse",
            engine="fastjson2",
            faq="https://rocketmq.apache.org/docs/bestPractice/06FAQ",
            v5_bodies=True,
            v5_settings=True,
            proxy_protocol=True,
        ),
    )
}
