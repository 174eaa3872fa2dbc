"""Faults of the key-value table (codes 100, 101, 102, 219) and of its file."""

import re

from harness.wire import Command, ResponseCode, fastjson
from reference_impl.mutants import mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.kv import KvTable
from reference_impl.nameserver.parts import Parts
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply

# -- what is stored ------------------------------------------------------------------------------------------


@mutant("kv-values-are-lower-case", "Values are stored in lower case.")
def kv_values_are_lower_case(parts: Parts) -> Parts:
    def put(self: KvTable, namespace: str, key: str, value: str | None) -> None:
        parts.kv.put(self, namespace, key, None if value is None else value.lower())

    return parts.override("kv", put)


@mutant("kv-keeps-the-first-value", "A put does not replace the value that a key has.")
def kv_keeps_the_first_value(parts: Parts) -> Parts:
    def put(self: KvTable, namespace: str, key: str, value: str | None) -> None:
        if value is None or self.get(namespace, key) is None:
            parts.kv.put(self, namespace, key, value)

    return parts.override("kv", put)


@mutant("put-without-value-is-ignored", "A put without value is answered with success and changes nothing.")
def put_without_value_is_ignored(parts: Parts) -> Parts:
    def put(self: KvTable, namespace: str, key: str, value: str | None) -> None:
        if value is not None:
            parts.kv.put(self, namespace, key, value)

    return parts.override("kv", put)


@mutant("put-without-value-is-refused", "A put without value is refused.")
def put_without_value_is_refused(parts: Parts) -> Parts:
    def put_kv(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        self.needed(fields.text(command.ext, "value"), "value")
        return parts.nameserver.put_kv(self, command, connection, now)

    return parts.override("nameserver", put_kv)


@mutant("put-takes-absent-names-for-empty", "A put without namespace or key is stored under the empty one.")
def put_takes_absent_names_for_empty(parts: Parts) -> Parts:
    def put_kv(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        command.ext = {"namespace": "", "key": "", **(command.ext or {})}
        return parts.nameserver.put_kv(self, command, connection, now)

    return parts.override("nameserver", put_kv)


@mutant("put-refusal-has-another-remark", "The remark of a refused put is not Apache's.")
def put_refusal_has_another_remark(parts: Parts) -> Parts:
    def put_kv(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        self.needed(fields.text(command.ext, "namespace"), "namespace")
        self.needed(fields.text(command.ext, "key"), "key")
        return parts.nameserver.put_kv(self, command, connection, now)

    return parts.override("nameserver", put_kv)


@mutant("kv-values-are-ascii", "Each character beyond ASCII is stored as a question mark.")
def kv_values_are_ascii(parts: Parts) -> Parts:
    def put(self: KvTable, namespace: str, key: str, value: str | None) -> None:
        stored = None if value is None else value.encode("ascii", "replace").decode()
        parts.kv.put(self, namespace, key, stored)

    return parts.override("kv", put)


@mutant("kv-values-lose-backslashes", "Backslashes are not stored.")
def kv_values_lose_backslashes(parts: Parts) -> Parts:
    def put(self: KvTable, namespace: str, key: str, value: str | None) -> None:
        parts.kv.put(self, namespace, key, None if value is None else value.replace("\\", ""))

    return parts.override("kv", put)


@mutant("kv-values-are-stripped", "White space at the end of lines is not stored.")
def kv_values_are_stripped(parts: Parts) -> Parts:
    def put(self: KvTable, namespace: str, key: str, value: str | None) -> None:
        stored = None if value is None else re.sub(r"[ \t\r]+\n", "\n", value)
        parts.kv.put(self, namespace, key, stored)

    return parts.override("kv", put)


@mutant("kv-names-are-topic-names", "Namespaces and keys that could not be topics are refused.")
def kv_names_are_topic_names(parts: Parts) -> Parts:
    def put_kv(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        for name in ("namespace", "key"):
            if not re.fullmatch(r"[%|a-zA-Z0-9_-]*", fields.text(command.ext, name) or ""):
                raise RefusedError(f"{name} has illegal characters")
        return parts.nameserver.put_kv(self, command, connection, now)

    return parts.override("nameserver", put_kv)


@mutant("empty-value-is-no-value", "An empty value reads as not found.")
def empty_value_is_no_value(parts: Parts) -> Parts:
    def get(self: KvTable, namespace: str | None, key: str | None) -> str | None:
        return parts.kv.get(self, namespace, key) or None

    return parts.override("kv", get)


@mutant("empty-key-is-no-key", "A put with an empty key is refused.")
def empty_key_is_no_key(parts: Parts) -> Parts:
    def put_kv(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        self.needed(fields.text(command.ext, "key") or None, "key")
        return parts.nameserver.put_kv(self, command, connection, now)

    return parts.override("nameserver", put_kv)


@mutant("put-reaches-every-namespace", "A put stores the pair in every namespace that there is.")
def put_reaches_every_namespace(parts: Parts) -> Parts:
    def put(self: KvTable, namespace: str, key: str, value: str | None) -> None:
        for known in {*self.namespaces, namespace}:
            parts.kv.put(self, known, key, value)

    return parts.override("kv", put)


# -- what is told --------------------------------------------------------------------------------------------


@mutant("missing-key-is-empty", "A key that is not there reads as an empty value.")
def missing_key_is_empty(parts: Parts) -> Parts:
    def get(self: KvTable, namespace: str | None, key: str | None) -> str | None:
        return parts.kv.get(self, namespace, key) or ""

    return parts.override("kv", get)


@mutant("missing-namespace-is-a-failure", "A get from an unknown namespace is answered with SYSTEM_ERROR.")
def missing_namespace_is_a_failure(parts: Parts) -> Parts:
    def get_kv(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        self.needed(self.kv.pairs(fields.text(command.ext, "namespace")), "namespace")
        return parts.nameserver.get_kv(self, command, connection, now)

    return parts.override("nameserver", get_kv)


@mutant("kv-not-found-has-no-remark", "The remark of QUERY_NOT_FOUND does not say what was not found.")
def kv_not_found_has_no_remark(parts: Parts) -> Parts:
    def get_kv(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        reply = parts.nameserver.get_kv(self, command, connection, now)
        return reply if reply.code == ResponseCode.SUCCESS else Reply(reply.code, ext={})

    return parts.override("nameserver", get_kv)


@mutant("list-has-one-pair", "A list has one pair of the namespace.")
def list_has_one_pair(parts: Parts) -> Parts:
    def pairs(self: KvTable, namespace: str | None) -> dict[str, str] | None:
        found = parts.kv.pairs(self, namespace)
        return found if found is None else dict(list(found.items())[:1])

    return parts.override("kv", pairs)


@mutant("missing-namespace-is-empty", "A list of an unknown namespace is an empty table.")
def missing_namespace_is_empty(parts: Parts) -> Parts:
    def pairs(self: KvTable, namespace: str | None) -> dict[str, str] | None:
        return parts.kv.pairs(self, namespace) or {}

    return parts.override("kv", pairs)


@mutant("emptied-namespace-is-dropped", "A namespace goes with its last key.")
def emptied_namespace_is_dropped(parts: Parts) -> Parts:
    def pairs(self: KvTable, namespace: str | None) -> dict[str, str] | None:
        return parts.kv.pairs(self, namespace) or None

    return parts.override("kv", pairs)


@mutant("kv-is-cached-for-a-second", "What a get has answered is answered for a second.")
def kv_is_cached_for_a_second(parts: Parts) -> Parts:
    def get_kv(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        cache: dict[str, tuple[int, Reply]] = self.__dict__.setdefault("kv_cache", {})
        asked = repr(command.ext)
        if asked not in cache or now - cache[asked][0] > 1000:
            cache[asked] = (now, parts.nameserver.get_kv(self, command, connection, now))
        return cache[asked][1]

    return parts.override("nameserver", get_kv)


# -- deletion ------------------------------------------------------------------------------------------------


@mutant("delete-is-ignored", "A delete is answered with success and deletes nothing.")
def delete_is_ignored(parts: Parts) -> Parts:
    def delete(self: KvTable, namespace: str, key: str) -> None:
        return None

    return parts.override("kv", delete)


@mutant("delete-reaches-every-namespace", "A delete removes the key from every namespace.")
def delete_reaches_every_namespace(parts: Parts) -> Parts:
    def delete(self: KvTable, namespace: str, key: str) -> None:
        for known in self.namespaces:
            parts.kv.delete(self, known, key)

    return parts.override("kv", delete)


@mutant("delete-empties-the-namespace", "A delete of one key deletes all of its namespace.")
def delete_empties_the_namespace(parts: Parts) -> Parts:
    def delete(self: KvTable, namespace: str, key: str) -> None:
        parts.kv.delete(self, namespace, key)
        self.namespaces.get(namespace, {}).clear()

    return parts.override("kv", delete)


@mutant("delete-of-unknown-key-is-not-found", "A delete of an unknown key is answered with QUERY_NOT_FOUND.")
def delete_of_unknown_key_is_not_found(parts: Parts) -> Parts:
    def delete_kv(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        known = self.kv.get(fields.text(command.ext, "namespace"), fields.text(command.ext, "key"))
        reply = parts.nameserver.delete_kv(self, command, connection, now)
        return Reply(ResponseCode.QUERY_NOT_FOUND) if known is None else reply

    return parts.override("nameserver", delete_kv)


@mutant("delete-creates-namespaces", "A delete in an unknown namespace creates it.")
def delete_creates_namespaces(parts: Parts) -> Parts:
    def delete(self: KvTable, namespace: str, key: str) -> None:
        self.namespaces.setdefault(namespace, {}).pop(key, None)

    return parts.override("kv", delete)


# -- the file ------------------------------------------------------------------------------------------------


@mutant("kv-is-not-written", "The table is never written.")
def kv_is_not_written(parts: Parts) -> Parts:
    def kv_changed(self: NameServer) -> None:
        return None

    return parts.override("nameserver", kv_changed)


@mutant("kv-writes-its-first-state-only", "The table is written once and then no more.")
def kv_writes_its_first_state_only(parts: Parts) -> Parts:
    def kv_changed(self: NameServer) -> None:
        self.unwritten = self.kv.revision == 1

    return parts.override("nameserver", kv_changed)


@mutant("kv-deletions-are-not-written", "The table is not written after a delete.")
def kv_deletions_are_not_written(parts: Parts) -> Parts:
    def delete_kv(self: NameServer, command: Command, connection: int, now: int) -> Reply:
        reply = parts.nameserver.delete_kv(self, command, connection, now)
        self.unwritten = False
        return reply

    return parts.override("nameserver", delete_kv)


@mutant("emptied-namespaces-are-not-written", "Namespaces without keys are not written.")
def emptied_namespaces_are_not_written(parts: Parts) -> Parts:
    def dump(self: KvTable) -> bytes:
        filled = {namespace: pairs for namespace, pairs in self.namespaces.items() if pairs}
        return fastjson.dumps({"configTable": filled}, "plain")

    return parts.override("kv", dump)
