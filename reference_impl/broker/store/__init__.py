"""The message store of the Broker: an append-only log, consume queues, a key index.

It touches no file: a `Storage` does.
"""

from __future__ import annotations

from .config import StoreConfig
from .results import Arrival, GetStatus, Got, Put, PutStatus
from .storage import MemoryStorage, Space, Storage, StoreError
from .store import Store, key_of_tag
from .wanted import Wanted

__all__ = [
    "Arrival",
    "GetStatus",
    "Got",
    "MemoryStorage",
    "Put",
    "PutStatus",
    "Space",
    "Storage",
    "Store",
    "StoreConfig",
    "StoreError",
    "Wanted",
    "key_of_tag",
]
