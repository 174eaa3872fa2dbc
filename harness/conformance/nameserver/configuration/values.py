"""Settings and their values, for the cases about configuration."""

STARTED: dict[str, str] = {
    "serverChannelMaxIdleTimeSeconds": "121",
    "configBlackList": "writeBufferLowWaterMark;of.mine",
    "mine": "as written",
    "of.mine": "1",
}
"""The settings of a server for cases about its file: two keys that no release knows, and a black list."""

IDLE = "serverChannelMaxIdleTimeSeconds"
"""A number that every server has, and that changes nothing for connections that are open."""

ORDER = "orderMessageEnable"
"""A boolean that every server has, and that changes nothing for topics without an order configuration."""
