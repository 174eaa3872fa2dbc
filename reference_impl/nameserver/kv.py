"""The key-value table: namespaces of string pairs that survive a restart. Pure state; writing it is the
caller's effect.

1. A namespace comes into being with its first put and never goes: emptied, it is listed as an empty table.
2. The empty string is a legal namespace, key and value (over JSON; the binary header cannot carry it).
3. `revision` grows with every change.

Source: KVConfigManager, KVConfigSerializeWrapper of rocketmq-all-4.9.8 and rocketmq-all-5.3.3.
"""

from harness.wire import fastjson

ORDER_TOPIC_CONFIG = "ORDER_TOPIC_CONFIG"
"""The one namespace that the server itself reads (NamesrvUtil)."""


class KvError(ValueError):
    """A stored table that cannot be read; the text says what was found and what was expected."""


class KvTable:
    """Namespaces of pairs."""

    def __init__(self) -> None:
        self.namespaces: dict[str, dict[str, str]] = {}
        self.revision = 0

    def put(self, namespace: str, key: str, value: str | None) -> None:
        """Store a pair over any older one. Without value: the namespace exists, the key is not found."""
        self.revision += 1
        pairs = self.namespaces.setdefault(namespace, {})
        if value is None:
            pairs.pop(key, None)
        else:
            pairs[key] = value

    def get(self, namespace: str | None, key: str | None) -> str | None:
        """The value of a key, or None."""
        if namespace is None or key is None:
            return None
        return self.namespaces.get(namespace, {}).get(key)

    def delete(self, namespace: str, key: str) -> None:
        """Drop a key, known or not."""
        self.revision += 1
        self.namespaces.get(namespace, {}).pop(key, None)

    def pairs(self, namespace: str | None) -> dict[str, str] | None:
        """All pairs of a namespace, or None if it has never existed."""
        return None if namespace is None else self.namespaces.get(namespace)

    def dump(self) -> bytes:
        """The whole table as it is stored: `{"configTable":{namespace:{key:value}}}`."""
        return fastjson.dumps({"configTable": self.namespaces}, "plain")

    def load(self, stored: bytes | None) -> None:
        """Take over a stored table; nothing, blank or `null` is an empty one. Raises KvError otherwise."""
        if stored is None or not stored.strip():
            return
        try:
            document = fastjson.parse(stored)
        except ValueError as error:
            raise KvError(
                f'not JSON ({error}); expected {{"configTable":{{namespace:{{key:value}}}}}}'
            ) from error
        if document is None:
            return
        table = document.get("configTable") if isinstance(document, dict) else None
        if not isinstance(table, dict):
            raise KvError('no object "configTable"; expected {"configTable":{namespace:{key:value}}}')
        for namespace, pairs in table.items():
            if not isinstance(pairs, dict):
                raise KvError(f"namespace {namespace!r}: expected an object of strings")
            stored_pairs = self.namespaces.setdefault(namespace, {})
            for key, value in pairs.items():
                if not isinstance(value, str):
                    raise KvError(f"namespace {namespace!r}, key {key!r}: expected a string")
                stored_pairs[key] = value
