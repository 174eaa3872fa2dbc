"""Settings and their values, for the cases about configuration."""

STARTED: dict[str, str] = {
    "serverSelectorThreads": "5",
    "configBlackList": "writeBufferLowWaterMark;of.mine",
    "mine": "as written",
    "of.mine": "1",
}
"""The settings of the server for these cases: two keys that no release knows, and a black list."""
