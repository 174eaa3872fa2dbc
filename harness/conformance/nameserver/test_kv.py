"""Chapter kv: the key-value table (codes 100, 101, 102, 219).

Each case uses namespaces of its own. A namespace cannot be removed, so no case can restore one.
"""

from harness.conformance import ABSENT, Reply, case
from harness.session import NameServerSession
from harness.wire import RequestCode, ResponseCode

SUCCESS = ResponseCode.SUCCESS
SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR
QUERY_NOT_FOUND = ResponseCode.QUERY_NOT_FOUND

TEXTS = ('v é/"中', "back\\slash", '{"a":[1]}', "two\r\nlines\t;=", "\U0001f600", "null")


@case(kills=["kv-values-are-lower-case"])
def test_get_returns_what_was_put(ns: NameServerSession) -> None:
    namespace = ns.name("space")
    ns.put_kv(namespace, "key", "Value 1") >> Reply(SUCCESS)
    ns.get_kv(namespace, "key").value >> Reply(SUCCESS, "Value 1")


@case(kills=["kv-keeps-the-first-value"])
def test_put_overwrites(ns: NameServerSession) -> None:
    namespace = ns.name("space")
    ns.put_kv(namespace, "key", "old") >> Reply(SUCCESS)
    ns.put_kv(namespace, "key", "new") >> Reply(SUCCESS)
    ns.get_kv(namespace, "key").value >> Reply(SUCCESS, "new")
    ns.list_kv(namespace).table >> Reply(SUCCESS, {"key": "new"})


@case(kills=["missing-key-is-empty"])
def test_missing_key_is_not_found(ns: NameServerSession) -> None:
    namespace = ns.name("space")
    ns.put_kv(namespace, "key", "value") >> Reply(SUCCESS)
    ns.get_kv(namespace, "other").value >> Reply(QUERY_NOT_FOUND, ABSENT)


@case(kills=["missing-key-is-empty", "missing-namespace-is-a-failure"])
def test_missing_namespace_is_not_found(ns: NameServerSession) -> None:
    ns.get_kv(ns.name("space"), "key").value >> Reply(QUERY_NOT_FOUND, ABSENT)


@case(kills=["kv-not-found-has-no-remark"])
def test_not_found_remark(ns: NameServerSession) -> None:
    namespace = ns.name("space")
    told = f"No config item, Namespace: {namespace}"
    ns.get_kv(namespace, "key") >> Reply(QUERY_NOT_FOUND, remark=f"{told} Key: key")
    ns.list_kv(namespace) >> Reply(QUERY_NOT_FOUND, remark=told)


@case(kills=["put-takes-absent-names-for-empty", "historical-2935-put-takes-absent-names-for-null"])
def test_put_needs_namespace_and_key(ns: NameServerSession) -> None:
    namespace = ns.name("space")
    ns.put_kv(None, "key", "value") >> Reply(SYSTEM_ERROR)
    ns.put_kv(namespace, None, "value") >> Reply(SYSTEM_ERROR)
    ns.list_kv(namespace) >> Reply(QUERY_NOT_FOUND)


@case(kills=["put-refusal-has-another-remark"])
def test_put_refusal_remark(ns: NameServerSession) -> None:
    ns.put_kv(None, "key", "value") >> Reply(SYSTEM_ERROR, remark="namespace or key is null")
    ns.put_kv(ns.name("space"), None, "value") >> Reply(SYSTEM_ERROR, remark="namespace or key is null")


@case(kills=["put-without-value-is-ignored", "put-without-value-is-refused"])
def test_put_without_value_is_not_found(ns: NameServerSession) -> None:
    namespace = ns.name("space")
    ns.put_kv(namespace, "key", "value") >> Reply(SUCCESS)
    ns.put_kv(namespace, "key", None) >> Reply(SUCCESS)
    ns.get_kv(namespace, "key").value >> Reply(QUERY_NOT_FOUND, ABSENT)


@case(kills=["delete-is-ignored", "delete-empties-the-namespace"])
def test_delete_removes(ns: NameServerSession) -> None:
    namespace = ns.name("space")
    ns.put_kv(namespace, "gone", "1") >> Reply(SUCCESS)
    ns.put_kv(namespace, "kept", "2") >> Reply(SUCCESS)
    ns.delete_kv(namespace, "gone") >> Reply(SUCCESS)
    ns.get_kv(namespace, "gone") >> Reply(QUERY_NOT_FOUND)
    ns.list_kv(namespace).table >> Reply(SUCCESS, {"kept": "2"})


@case(kills=["delete-of-unknown-key-is-not-found"])
def test_delete_is_idempotent(ns: NameServerSession) -> None:
    namespace = ns.name("space")
    ns.delete_kv(namespace, "key") >> Reply(SUCCESS)
    ns.put_kv(namespace, "key", "value") >> Reply(SUCCESS)
    ns.get_kv(namespace, "key").value >> Reply(SUCCESS, "value")
    ns.delete_kv(namespace, "key") >> Reply(SUCCESS)
    ns.delete_kv(namespace, "key") >> Reply(SUCCESS)


@case(kills=["delete-creates-namespaces"])
def test_delete_creates_nothing(ns: NameServerSession) -> None:
    namespace = ns.name("space")
    ns.delete_kv(namespace, "key") >> Reply(SUCCESS)
    ns.list_kv(namespace) >> Reply(QUERY_NOT_FOUND)


@case(kills=["list-has-one-pair", "put-reaches-every-namespace"])
def test_list_has_every_pair(ns: NameServerSession) -> None:
    namespace, other = ns.name("space"), ns.name("space")
    pairs = {"a": "1", "b": "2", "c": "3"}
    for key, value in pairs.items():
        ns.put_kv(namespace, key, value) >> Reply(SUCCESS)
    ns.put_kv(other, "d", "4") >> Reply(SUCCESS)
    ns.list_kv(namespace).table >> Reply(SUCCESS, pairs)


@case(kills=["missing-namespace-is-empty"])
def test_list_of_missing_namespace(ns: NameServerSession) -> None:
    ns.list_kv(ns.name("space")).text >> Reply(QUERY_NOT_FOUND, b"")


@case(kills=["emptied-namespace-is-dropped"])
def test_list_of_emptied_namespace(ns: NameServerSession) -> None:
    namespace = ns.name("space")
    ns.put_kv(namespace, "key", "value") >> Reply(SUCCESS)
    ns.delete_kv(namespace, "key") >> Reply(SUCCESS)
    ns.list_kv(namespace).table >> Reply(SUCCESS, {})


@case(kills=["delete-reaches-every-namespace", "put-reaches-every-namespace"])
def test_namespaces_are_apart(ns: NameServerSession) -> None:
    one, other = ns.name("space"), ns.name("space")
    ns.put_kv(one, "key", "1") >> Reply(SUCCESS)
    ns.put_kv(other, "key", "2") >> Reply(SUCCESS)
    ns.get_kv(one, "key").value >> Reply(SUCCESS, "1")
    ns.delete_kv(one, "key") >> Reply(SUCCESS)
    ns.get_kv(one, "key") >> Reply(QUERY_NOT_FOUND)
    ns.get_kv(other, "key").value >> Reply(SUCCESS, "2")


@case(kills=["kv-values-are-ascii", "kv-values-lose-backslashes", "kv-values-are-stripped"])
def test_text_survives(ns: NameServerSession) -> None:
    namespace = ns.name("space")
    pairs = {f"key-{number}": text for number, text in enumerate(TEXTS)}
    for key, value in pairs.items():
        ns.put_kv(namespace, key, value) >> Reply(SUCCESS)
        ns.get_kv(namespace, key).value >> Reply(SUCCESS, value)
    ns.list_kv(namespace).table >> Reply(SUCCESS, pairs)


@case(kills=["kv-names-are-topic-names"])
def test_any_name_is_a_name(ns: NameServerSession) -> None:
    namespace, key = f'{ns.name("space")} é"/中', 'ké y/"\\'
    ns.put_kv(namespace, key, "value") >> Reply(SUCCESS)
    ns.get_kv(namespace, key).value >> Reply(SUCCESS, "value")
    ns.list_kv(namespace).table >> Reply(SUCCESS, {key: "value"})


@case(kills=["empty-value-is-no-value", "empty-key-is-no-key"])
def test_empty_strings_are_legal(ns: NameServerSession) -> None:
    namespace = ns.name("space")
    ns.put_kv(namespace, "key", "") >> Reply(SUCCESS)
    ns.get_kv(namespace, "key").value >> Reply(SUCCESS, "")
    ns.put_kv(namespace, "", "value") >> Reply(SUCCESS)
    ns.get_kv(namespace, "").value >> Reply(SUCCESS, "value")
    ns.list_kv(namespace).table >> Reply(SUCCESS, {"key": "", "": "value"})


@case(kills=["absent-namespace-is-the-empty-one"])
def test_absent_namespace_is_not_the_empty_one(ns: NameServerSession) -> None:
    key = ns.name("key")
    ns.put_kv("", key, "value") >> Reply(SUCCESS)
    ns.get_kv("", key).value >> Reply(SUCCESS, "value")
    ns.call(RequestCode.GET_KV_CONFIG, {"key": key}) >> Reply(QUERY_NOT_FOUND)
    ns.call(RequestCode.GET_KVLIST_BY_NAMESPACE, {}) >> Reply(QUERY_NOT_FOUND)
    ns.delete_kv("", key) >> Reply(SUCCESS)


@case(kills=["kv-is-cached-for-a-second"])
def test_visible_on_every_connection(ns: NameServerSession) -> None:
    namespace, one, other = ns.name("space"), ns.connect(), ns.connect()
    ns.get_kv(namespace, "key", on=other) >> Reply(QUERY_NOT_FOUND)
    ns.put_kv(namespace, "key", "value", on=one) >> Reply(SUCCESS)
    ns.get_kv(namespace, "key", on=other).value >> Reply(SUCCESS, "value")
    ns.delete_kv(namespace, "key", on=one) >> Reply(SUCCESS)
    ns.get_kv(namespace, "key", on=other) >> Reply(QUERY_NOT_FOUND)


@case(kills=["kv-is-written-in-ascii"], own_server=True)
def test_text_survives_a_restart(ns: NameServerSession) -> None:
    namespace = f"{ns.name('space')}-é中"
    pairs = {f"{text}-{number}": text for number, text in enumerate(TEXTS)}
    for key, value in pairs.items():
        ns.put_kv(namespace, key, value) >> Reply(SUCCESS)
    ns.restart()
    ns.list_kv(namespace).table >> Reply(SUCCESS, pairs)


@case(
    "ns.kv.survives-a-restart",
    "ns.kv.deletion-survives-a-restart",
    kills=[
        "kv-is-not-written",
        "kv-writes-its-first-state-only",
        "kv-overwriting-is-not-written",
        "kv-deletions-are-not-written",
        "emptied-namespaces-are-not-written",
    ],
    own_server=True,
)
def test_survives_a_restart(ns: NameServerSession) -> None:
    """After a restart, pairs have their latest values, and deleted pairs stay deleted."""
    namespace, emptied = ns.name("space"), ns.name("space")
    ns.put_kv(emptied, "key", "value") >> Reply(SUCCESS)
    ns.put_kv(namespace, "b", '"2"') >> Reply(SUCCESS)
    ns.put_kv(namespace, "a", "old") >> Reply(SUCCESS)
    ns.put_kv(namespace, "a", "new") >> Reply(SUCCESS)
    ns.restart()
    ns.list_kv(namespace).table >> Reply(SUCCESS, {"a": "new", "b": '"2"'})
    ns.list_kv(emptied).table >> Reply(SUCCESS, {"key": "value"})
    ns.delete_kv(emptied, "key") >> Reply(SUCCESS)
    ns.restart()
    ns.list_kv(namespace).table >> Reply(SUCCESS, {"a": "new", "b": '"2"'})
    ns.get_kv(emptied, "key") >> Reply(QUERY_NOT_FOUND)
    ns.list_kv(emptied).table >> Reply(SUCCESS, {})
