"""Settings and their values, for the cases about configuration."""

from harness.session import NameServerSession

STARTED: dict[str, str] = {
    "serverChannelMaxIdleTimeSeconds": "121",
    "configBlackList": "writeBufferLowWaterMark;of.mine",
    "mine": "as written",
    "of.mine": "1",
}
"""The settings of a server for cases about its file: two keys that no release knows, and a black list."""

IDLE = "serverChannelMaxIdleTimeSeconds"
"""A number that changes nothing for connections that are open."""

THREADS = "clientRequestThreadPoolNums"
"""A number of the NameServer itself, since 5.0; it is read at the start."""

ORDER = "orderMessageEnable"
"""A boolean that every server has, and that changes nothing for topics without an order configuration."""


def number(ns: NameServerSession) -> str:
    """A number whose change has no effect: one of the NameServer's own, where the line has such."""
    return THREADS if ns.profile.has("settings-of-5") else IDLE
