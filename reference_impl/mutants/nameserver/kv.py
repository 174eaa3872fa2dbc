"""Faults of the key-value table (codes 100, 101, 102, 219) and of its file."""

import re

from harness.wire import ResponseCode, fastjson
from reference_impl.mutants.registry import after, mutant
from reference_impl.nameserver.core import NameServer
from reference_impl.nameserver.kv import KvTable
from reference_impl.remoting import fields
from reference_impl.remoting.reply import RefusedError, Reply

# -- what is stored ------------------------------------------------------------------------------------------


@mutant(KvTable.pairs, "A list without a namespace is one of the namespace with the empty name.")
def absent_namespace_is_the_empty_one(original, self, namespace):
    return original(self, namespace or "")


@mutant(KvTable.put, "Values are stored in lower case.")
def kv_values_are_lower_case(original, self, namespace, key, value):
    original(self, namespace, key, None if value is None else value.lower())


@mutant(KvTable.put, "A put does not replace an existing value.")
def kv_keeps_the_first_value(original, self, namespace, key, value):
    if value is None or self.get(namespace, key) is None:
        original(self, namespace, key, value)


@mutant(KvTable.put, "A put without value is answered with success and changes nothing.")
def put_without_value_is_ignored(original, self, namespace, key, value):
    if value is not None:
        original(self, namespace, key, value)


@mutant(NameServer.put_kv, "A put without value is refused.")
def put_without_value_is_refused(original, self, command, connection, now):
    self.needed(fields.text(command.ext, "value"), "value")
    return original(self, command, connection, now)


@mutant(NameServer.put_kv, "A put without namespace or key is stored under the empty one.")
def put_takes_absent_names_for_empty(original, self, command, connection, now):
    command.ext = {"namespace": "", "key": "", **(command.ext or {})}
    return original(self, command, connection, now)


@mutant(NameServer.put_kv, "The remark of a refused put is not Apache's.")
def put_refusal_has_another_remark(original, self, command, connection, now):
    self.needed(fields.text(command.ext, "namespace"), "namespace")
    self.needed(fields.text(command.ext, "key"), "key")
    return original(self, command, connection, now)


@mutant(KvTable.put, "Each non-ASCII character is stored as a question mark.")
def kv_values_are_ascii(original, self, namespace, key, value):
    stored = None if value is None else value.encode("ascii", "replace").decode()
    original(self, namespace, key, stored)


@mutant(KvTable.put, "Backslashes are not stored.")
def kv_values_lose_backslashes(original, self, namespace, key, value):
    original(self, namespace, key, None if value is None else value.replace("\\", ""))


@mutant(KvTable.put, "White space at the end of lines is not stored.")
def kv_values_are_stripped(original, self, namespace, key, value):
    stored = None if value is None else re.sub(r"[ \t\r]+\n", "\n", value)
    original(self, namespace, key, stored)


@mutant(NameServer.put_kv, "Namespaces and keys that could not be topics are refused.")
def kv_names_are_topic_names(original, self, command, connection, now):
    for name in ("namespace", "key"):
        if not re.fullmatch(r"[%|a-zA-Z0-9_-]*", fields.text(command.ext, name) or ""):
            raise RefusedError(f"{name} has illegal characters")
    return original(self, command, connection, now)


@mutant(KvTable.get, "An empty value reads as not found.")
def empty_value_is_no_value(original, self, namespace, key):
    return original(self, namespace, key) or None


@mutant(NameServer.put_kv, "A put with an empty key is refused.")
def empty_key_is_no_key(original, self, command, connection, now):
    self.needed(fields.text(command.ext, "key") or None, "key")
    return original(self, command, connection, now)


@mutant(KvTable.put, "A put stores the pair in every namespace.")
def put_reaches_every_namespace(original, self, namespace, key, value):
    for known in {*self.namespaces, namespace}:
        original(self, known, key, value)


# -- answers ------------------------------------------------------------------------------------------------


@mutant(KvTable.get, "A missing key reads as an empty value.")
def missing_key_is_empty(original, self, namespace, key):
    return original(self, namespace, key) or ""


@mutant(NameServer.get_kv, "A get from an unknown namespace is answered with SYSTEM_ERROR.")
def missing_namespace_is_a_failure(original, self, command, connection, now):
    self.needed(self.kv.pairs(fields.text(command.ext, "namespace")), "namespace")
    return original(self, command, connection, now)


@after(NameServer.get_kv, "The remark of QUERY_NOT_FOUND does not say what was not found.")
def kv_not_found_has_no_remark(reply):
    return reply if reply.code == ResponseCode.SUCCESS else Reply(reply.code, ext={})


@mutant(KvTable.pairs, "A list has one pair of the namespace.")
def list_has_one_pair(original, self, namespace):
    found = original(self, namespace)
    return found if found is None else dict(list(found.items())[:1])


@mutant(KvTable.pairs, "A list of an unknown namespace is an empty table.")
def missing_namespace_is_empty(original, self, namespace):
    return original(self, namespace) or {}


@mutant(KvTable.pairs, "A namespace disappears with its last key.")
def emptied_namespace_is_dropped(original, self, namespace):
    return original(self, namespace) or None


@mutant(NameServer.get_kv, "A get is answered from a cache for a second.")
def kv_is_cached_for_a_second(original, self, command, connection, now):
    cache: dict[str, tuple[int, Reply]] = self.__dict__.setdefault("kv_cache", {})
    asked = repr(command.ext)
    if asked not in cache or now - cache[asked][0] > 1000:
        cache[asked] = (now, original(self, command, connection, now))
    return cache[asked][1]


# -- deletion ------------------------------------------------------------------------------------------------


@mutant(KvTable.delete, "A delete is answered with success and deletes nothing.")
def delete_is_ignored(original, self, namespace, key):
    return None


@mutant(KvTable.delete, "A delete removes the key from every namespace.")
def delete_reaches_every_namespace(original, self, namespace, key):
    for known in self.namespaces:
        original(self, known, key)


@mutant(KvTable.delete, "Deleting one key deletes its whole namespace.")
def delete_empties_the_namespace(original, self, namespace, key):
    original(self, namespace, key)
    self.namespaces.get(namespace, {}).clear()


@mutant(NameServer.delete_kv, "A delete of an unknown key is answered with QUERY_NOT_FOUND.")
def delete_of_unknown_key_is_not_found(original, self, command, connection, now):
    known = self.kv.get(fields.text(command.ext, "namespace"), fields.text(command.ext, "key"))
    reply = original(self, command, connection, now)
    return Reply(ResponseCode.QUERY_NOT_FOUND) if known is None else reply


@mutant(KvTable.delete, "A delete in an unknown namespace creates it.")
def delete_creates_namespaces(original, self, namespace, key):
    self.namespaces.setdefault(namespace, {}).pop(key, None)


# -- the file ------------------------------------------------------------------------------------------------


@mutant(NameServer.kv_changed, "The table is never written.")
def kv_is_not_written(original, self):
    return None


@mutant(NameServer.kv_changed, "The table is written only once.")
def kv_writes_its_first_state_only(original, self):
    self.unwritten = self.kv.revision == 1


@mutant(NameServer.put_kv, "The table is not written after a put of a key that is there.")
def kv_overwriting_is_not_written(original, self, command, connection, now):
    ext = command.ext or {}
    known = self.kv.get(ext.get("namespace"), ext.get("key"))
    reply = original(self, command, connection, now)
    self.unwritten &= known is None
    return reply


@after(NameServer.delete_kv, "The table is not written after a delete.")
def kv_deletions_are_not_written(reply, self):
    self.unwritten = False


@mutant(KvTable.dump, "The table is written in ASCII, with question marks for other characters.")
def kv_is_written_in_ascii(original, self):
    return original(self).decode().encode("ascii", "replace")


@mutant(KvTable.dump, "Namespaces without keys are not written.")
def emptied_namespaces_are_not_written(original, self):
    filled = {namespace: pairs for namespace, pairs in self.namespaces.items() if pairs}
    return fastjson.dumps({"configTable": filled}, "plain")
