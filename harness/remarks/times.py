"""Times by which clients are judged, in seconds. The statements of `specs/statements/client` say the same."""

from __future__ import annotations

from typing import Final

FORGOTTEN: Final = 120.0
"""A Broker forgets a client without a heartbeat for so long (`ProducerManager#scanNotActiveChannel`,
`ConsumerManager#scanNotActiveChannel`).
"""
TWICE: Final = FORGOTTEN / 2
"""Heartbeats that come so often survive the loss of one. Apache's clients send one every 30 s
(`ClientConfig#heartbeatBrokerInterval`).
"""
LOCKED: Final = 60.0
"""A lock on a queue lasts so long (`RebalanceLockManager#tryLockBatch`). Apache's clients renew it every 20 s
(`ProcessQueue#REBALANCE_LOCK_INTERVAL`).
"""
REBALANCE: Final = 20.0
"""Apache's clients look for their queues so often (`RebalanceService#run`), and at once when notified."""
ROUTE: Final = 120.0
"""Four times the period in which Apache's clients ask for routes (`ClientConfig#pollNameServerInterval`)."""
CHECK: Final = 60.0
"""A Broker of 4.9 asks again about a transaction after so long (`BrokerConfig#transactionCheckInterval`)."""
ANSWER: Final = 10.0
"""A Broker waits so long for the answer of a client (`Broker2Client#callClient`)."""
