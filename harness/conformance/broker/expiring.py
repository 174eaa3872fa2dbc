"""A Broker whose messages expire soon."""

EXPIRING = {
    "mappedFileSizeCommitLog": "65536",
    "fileReservedTime": "0",
    "deleteWhen": ";".join(f"{hour:02d}" for hour in range(24)),
}
"""Files of the log expire at once. A Broker looks for them every 10 s, for the first time after a minute."""
