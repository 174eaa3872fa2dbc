"""Chapter registration: what a body may look like."""

import json
import zlib

from harness.conformance import Including, Reply, case
from harness.conformance.nameserver.registration.bodies import (
    FILTERS,
    compact_json,
    compressed,
    is_unknown,
    is_whole,
    layout_of_49,
    serves,
    unlike_body,
    unlike_broker,
    with_mapping,
)
from harness.conformance.shared.frames import OPAQUE, json_frame, query_header
from harness.session import Broker, NameServerSession
from harness.wire import RequestCode, ResponseCode, body_crc32
from harness.wire.bodies import DataVersion

SUCCESS = ResponseCode.SUCCESS

SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR

BODY_OF_49 = bytes.fromhex(
    "78da63606050af564ace2fcd2b492d52b232d7512ac9cc4d2d2e49cc2d50b232343740805a0606064620160e31543051b0503053"
    "08f6f473f7718d0f7174070a3345c70200d559113d"
)
"""Topic T1 (4 and 8 queues, permission 6) and data version 7 at 1700000000000, as Apache 4.9.8 writes it."""

LAYOUT_OF_53 = bytes.fromhex(
    "000000387b22636f756e746572223a372c22737461746556657273696f6e223a332c2274696d657374616d70223a313730303030"
    "303030303030307d000000010000001654312034203820362053494e474c455f544147207b7d000000025b5d00000000"
)
"""The same with stateVersion 3, as Apache 5.3.3's encoder lays it out before compression."""


MAPPING_MEMBERS = ("mappingDataVersion", "topicQueueMappingInfoMap", "topicQueueMappingDetailMap")
"""Members about static topics, of 5.x."""


@case(kills=["undecodable-body-registers"])
def test_undecodable_body_is_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    bodies = (b"notjson", b'{"topicConfigSerializeWrapper":{', b"null", b"[]", b" \n")
    tables = (b"5", b"[1]", b'"x"')
    wrongs = (b'{"topicConfigSerializeWrapper":{"topicConfigTable":%b}}' % table for table in tables)
    for body in (*bodies, *wrongs):
        broker.register(body=body) >> Reply(SYSTEM_ERROR)
        is_unknown(ns, broker)


@case(kills=["malformed-mapping-members-are-ignored"])
def test_malformed_mapping_members_are_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    whole = json.loads(broker.body().encode())
    for member in MAPPING_MEMBERS:
        for value in (5, ["x"], "x"):
            wrapper = {**whole["topicConfigSerializeWrapper"], member: value}
            body = compact_json({**whole, "topicConfigSerializeWrapper": wrapper})
            broker.register(body=body, announces=479) >> Reply(SYSTEM_ERROR)
            is_unknown(ns, broker)


@case(kills=["mapping-members-are-read-in-4.9"])
def test_mapping_members_are_not_known(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    whole = json.loads(unlike_body(broker).encode())
    known = whole["topicConfigSerializeWrapper"]
    nameless = {"topicQueueMappingInfoMap": {"T": {"topic": "T"}}}
    lists = {member: ["x"] for member in MAPPING_MEMBERS}
    for odd in (dict.fromkeys(MAPPING_MEMBERS, 5), lists, nameless):
        whole["topicConfigSerializeWrapper"] = {**known, **odd}
        broker.register(body=compact_json(whole)) >> Reply(SUCCESS)
        is_whole(ns, broker)


@case(kills=["bodies-are-never-inflated"])
def test_compressed_body_is_accepted(ns: NameServerSession) -> None:
    broker = ns.broker(topics=())
    broker.register() >> Reply(SUCCESS)
    broker.register(body=BODY_OF_49, ext={"compressed": True}, announces=409) >> Reply(SUCCESS)
    ns.route("T1").queues >> Reply(SUCCESS, Including({broker.name: (4, 8, 6, 0)}))
    sent = DataVersion(7, 1_700_000_000_000, ns.first_state_version)
    broker.query_version(sent).changed >> Reply(SUCCESS, False)


@case(kills=["bodies-are-never-inflated", "six-words-are-refused", "mapping-section-of-413-is-not-read"])
def test_compressed_body_of_five_line_is_accepted(ns: NameServerSession) -> None:
    broker = ns.broker(topics=())
    broker.register() >> Reply(SUCCESS)
    body = zlib.compress(LAYOUT_OF_53, 9)
    broker.register(body=body, ext={"compressed": True}, announces=479) >> Reply(SUCCESS)
    ns.route("T1").queues >> Reply(SUCCESS, Including({broker.name: (4, 8, 6, 0)}))
    broker.query_version(DataVersion(7, 1_700_000_000_000, 3)).changed >> Reply(SUCCESS, False)
    first = ns.broker()
    body = with_mapping(first).encode_compressed(v5=True)
    first.register(body=body, ext={"compressed": True}, announces=413) >> Reply(SUCCESS)
    mapped = {first.name: Including({"epoch": 5, "totalQueues": 2})}
    ns.route(first.topic("A")).mappings >> Reply(SUCCESS, mapped)


@case(kills=["historical-5536-mapping-section-is-always-read"])
def test_mapping_section_is_not_needed_below_413(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    body = unlike_body(broker).encode_compressed(v5=False)
    broker.register(body=body, ext={"compressed": True}, announces=412) >> Reply(SUCCESS)
    is_whole(ns, broker, flags=False)


@case(kills=["mapping-section-is-never-read"])
def test_mapping_section_is_needed_from_413(ns: NameServerSession) -> None:
    broker = ns.broker()
    body = broker.body().encode_compressed(v5=False)
    broker.register(body=body, ext={"compressed": True}, announces=413) >> Reply(SYSTEM_ERROR)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)


@case(kills=["mapping-without-topic-is-left-out"])
def test_mapping_without_a_topic_is_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    for mapping in (b"\0\0\0\2{}", b"\0\0\0\4null"):
        layout = broker.body().layout(v5=True).removesuffix(bytes(4)) + b"\0\0\0\1" + mapping
        compressed = zlib.compress(layout)
        broker.register(body=compressed, ext={"compressed": True}, announces=479) >> Reply(SYSTEM_ERROR)
        is_unknown(ns, broker)


@case(kills=["six-words-are-refused", "seven-words-are-refused"])
def test_six_word_topics_are_accepted(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    compressed(broker, unlike_body(broker).layout(v5=True)) >> Reply(SUCCESS)
    is_whole(ns, broker, flags=False)
    for number, word in enumerate(('{"+a":"中é"}', '{"+a":"b c d"}', "{a:", "[1]"), 1):
        lines = [f"{broker.topic(hint)} {number} 8 6 SINGLE_TAG {word}" for hint in ("A", "B")]
        broker.version = broker.newer(number)
        compressed(broker, layout_of_49(broker, *lines)) >> Reply(SUCCESS)
        serves(ns, broker, "A", number, 8, 6, 0)
        serves(ns, broker, "B", number, 8, 6, 0)


@case(kills=["six-words-are-accepted"])
def test_six_word_topics_are_refused(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    for sent in (
        unlike_body(broker).layout(v5=True),
        layout_of_49(broker, f"{broker.topic('A')} 4 8 6 SINGLE_TAG x"),
    ):
        compressed(broker, sent) >> Reply(SYSTEM_ERROR)
        is_unknown(ns, broker)
    compressed(broker, unlike_body(broker).layout(v5=False)) >> Reply(SUCCESS)
    is_whole(ns, broker, flags=False)


@case(kills=["topic-lines-are-strict"])
def test_loose_topic_line_is_accepted(ns: NameServerSession) -> None:
    broker = ns.broker()
    zeros = "0" * 12
    lines = f"{broker.topic('A')} +4 08 6 SINGLE_TAG  ", f"{broker.topic('B')} {zeros}3 -{zeros}1 4 MULTI_TAG"
    compressed(broker, layout_of_49(broker, *lines)) >> Reply(SUCCESS)
    serves(ns, broker, "A", 4, 8, 6, 0)
    serves(ns, broker, "B", 3, -1, 4, 0)


@case(kills=["unreadable-filter-list-is-refused", "unreadable-filter-list-is-null"])
def test_unreadable_filter_list_is_empty(ns: NameServerSession) -> None:
    broker = ns.broker()
    for filters in ("x", 'ï»¿["f:1"]'):
        broker.register(filters=FILTERS) >> Reply(SUCCESS)
        _has_filters(ns, broker, {broker.address: FILTERS})
        compressed(broker, layout_of_49(broker, filters=filters.encode())) >> Reply(SUCCESS)
        _has_filters(ns, broker, {})


def _with_empty_filters(broker: Broker) -> bytes:
    """A body whose filter servers are an empty text."""
    broker.version = broker.newer()
    return broker.body().encode().replace(b'"filterServerList":[]', b'"filterServerList":""')


@case(kills=["empty-text-for-filters-clears", "null-for-filters-in-loose-bodies-is-one"])
def test_empty_text_for_filters_keeps_them(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(filters=FILTERS) >> Reply(SUCCESS)
    broker.register(body=_with_empty_filters(broker)) >> Reply(SUCCESS)
    _has_filters(ns, broker, {broker.address: FILTERS})
    broker.query_version().changed >> Reply(SUCCESS, False)
    loose = broker.body().encode().replace(b'"filterServerList":[]', b"'filterServerList':null")
    broker.register(body=loose) >> Reply(SUCCESS)
    _has_filters(ns, broker, {broker.address: FILTERS})
    compressed(broker, layout_of_49(broker, filters=b'""')) >> Reply(SUCCESS)
    _has_filters(ns, broker, {})


@case(kills=["empty-text-for-filters-keeps-them"])
def test_empty_text_for_filters_is_none(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(filters=FILTERS) >> Reply(SUCCESS)
    broker.register(body=_with_empty_filters(broker)) >> Reply(SUCCESS)
    _has_filters(ns, broker, {})
    broker.query_version().changed >> Reply(SUCCESS, False)
    broker.register(filters=FILTERS) >> Reply(SUCCESS)
    compressed(broker, layout_of_49(broker, filters=b'""')) >> Reply(SUCCESS)
    _has_filters(ns, broker, {})


@case(kills=["blank-filter-list-clears"])
def test_blank_filter_list_keeps_the_list(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(filters=FILTERS) >> Reply(SUCCESS)
    for filters in (b"", b" "):
        compressed(broker, layout_of_49(broker, filters=filters)) >> Reply(SUCCESS)
        _has_filters(ns, broker, {broker.address: FILTERS})


@case(kills=["blank-filter-list-clears"])
def test_empty_filter_list_keeps_the_list(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(filters=FILTERS) >> Reply(SUCCESS)
    compressed(broker, layout_of_49(broker, filters=b"")) >> Reply(SUCCESS)
    _has_filters(ns, broker, {broker.address: FILTERS})
    compressed(broker, layout_of_49(broker, filters=b" ")) >> Reply(SUCCESS)
    _has_filters(ns, broker, {})


@case(kills=["json-as-in-5.5"])
def test_byte_order_mark_before_filter_list_is_accepted(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    compressed(broker, layout_of_49(broker, filters=b'\xef\xbb\xbf["f:1"]')) >> Reply(SUCCESS)
    _has_filters(ns, broker, {broker.address: ["f:1"]})


@case(kills=["null-versions-are-refused"])
def test_null_version_in_a_compressed_body_is_accepted(ns: NameServerSession) -> None:
    broker = ns.broker()
    lines = [f"{broker.topic(hint)} 4 8 6 SINGLE_TAG" for hint in ("A", "B")]
    compressed(broker, layout_of_49(broker, *lines, version=b"null")) >> Reply(SUCCESS)
    serves(ns, broker, "A", 4, 8, 6, 0)
    serves(ns, broker, "B", 4, 8, 6, 0)


@case(kills=["null-versions-are-refused"])
def test_null_wrapper_is_empty(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(body=b'{"topicConfigSerializeWrapper":null}') >> Reply(SUCCESS)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


@case(kills=["null-topic-table-is-refused"])
def test_null_topic_table_of_a_known_broker_is_empty(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    wrapper = {"dataVersion": broker.newer().document(), "topicConfigTable": None}
    broker.register(body=compact_json({"topicConfigSerializeWrapper": wrapper})) >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)
    broker.query_version(broker.newer()).changed >> Reply(SUCCESS, False)


@case(kills=["odd-booleans-are-refused", "odd-booleans-are-true"])
def test_booleans_in_a_body_may_be_numbers_or_words(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    for true, false in (("true", "false"), ("1", "0"), ('"true"', '"false"'), ("true", "0"), ("1", "false")):
        _register_booleans(ns, broker, true, false)


@case(kills=["odd-booleans-are-refused", "odd-booleans-are-true"])
def test_booleans_in_a_body_may_be_letters(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    for true, false in (('"Y"', '"N"'), ("1.5", "null"), ('"1"', '"0"'), ('"y"', '"f"'), ('"T"', '"F"')):
        _register_booleans(ns, broker, true, false)


@case(kills=["json-as-in-5.3", "odd-booleans-are-refused"])
def test_booleans_in_a_body_may_be_two_letters(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    for value in (b'"y"', b'"T"', b'"f"', b'"F"'):
        body = broker.body().encode().replace(b'"order":false', b'"order":' + value)
        broker.register(body=body) >> Reply(SYSTEM_ERROR)
        is_unknown(ns, broker)
    for true, false in (('"Y"', '"N"'), ('"1"', '"0"'), ("1", "1.0"), ('"TRUE"', "1.5")):
        _register_booleans(ns, broker, true, false)


@case(kills=["every-text-is-a-boolean"])
def test_text_for_a_boolean_is_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    for value in (b'"x"', b'"yes"', b"[]"):
        broker.register(body=broker.body().encode().replace(b'"order":false', b'"order":' + value)) >> Reply(
            SYSTEM_ERROR
        )
        is_unknown(ns, broker)


def _register_booleans(ns: NameServerSession, broker: Broker, true: str, false: str) -> None:
    """Registers static-topic mappings whose member dirty has these texts, and is shown them as booleans."""
    broker.version = broker.newer()
    body = with_mapping(broker)
    first, second = broker.topic("A"), broker.topic("B")
    infos = [
        f'"{topic}":{{"topic":"{topic}","bname":"{broker.name}","totalQueues":3,"dirty":{text}}}'
        for topic, text in ((first, true), (second, false))
    ]
    body.mappings = None
    text = body.encode().decode()
    member = f'"topicQueueMappingInfoMap":{{{",".join(infos)}}}'
    text = text.replace('"topicConfigSerializeWrapper":{', f'"topicConfigSerializeWrapper":{{{member},')
    broker.register(body=text.encode(), announces=479) >> Reply(SUCCESS)
    for topic, dirty in ((first, True), (second, False)):
        ns.route(topic).mappings >> Reply(
            SUCCESS, {broker.name: Including({"dirty": dirty, "totalQueues": 3})}
        )


@case(kills=["undecodable-body-registers"])
def test_short_topic_line_is_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    sent = layout_of_49(broker, f"{broker.topic('A')} 4 8 6 SINGLE_TAG", f"{broker.topic('B')} 4 8 6")
    compressed(broker, sent) >> Reply(SYSTEM_ERROR)
    is_unknown(ns, broker)


@case(kills=["undecodable-body-registers"])
def test_malformed_topic_line_is_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    for words in (
        "x 8 6 SINGLE_TAG",
        "4 8 6 NO_TAG",
        "4 2147483648 6 SINGLE_TAG",
        "4 8 -2147483649 MULTI_TAG",
    ):
        sent = layout_of_49(broker, f"{broker.topic('A')} 4 8 6 SINGLE_TAG", f"{broker.topic('B')} {words}")
        compressed(broker, sent) >> Reply(SYSTEM_ERROR)
        is_unknown(ns, broker)


@case(kills=["raw-deflate-is-accepted", "undecodable-body-registers"])
def test_not_zlib_is_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    whole = broker.body().encode_compressed(v5=False)
    raw = zlib.compress(broker.body().layout(v5=False), wbits=-zlib.MAX_WBITS)
    for body in (broker.body().encode(), raw, whole[:-9]):
        broker.register(body=body, ext={"compressed": True}, announces=409) >> Reply(SYSTEM_ERROR)
        is_unknown(ns, broker)


@case(kills=["trailing-bytes-are-refused"])
def test_trailing_inflated_bytes_are_ignored(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    compressed(broker, unlike_body(broker).layout(v5=False) + bytes(4)) >> Reply(SUCCESS)
    is_whole(ns, broker, flags=False)


@case(kills=["compressed-is-case-sensitive", "any-compressed-field-inflates"])
def test_compressed_flag_ignores_case(ns: NameServerSession) -> None:
    broker, other = ns.broker(), ns.broker(topics=("C", "D"))
    compressed(broker, broker.body().layout(v5=False), word="TRUE") >> Reply(SUCCESS)
    serves(ns, broker, "A", 8, 8, 6, 0)
    other.register(ext={"compressed": "yes"}) >> Reply(SUCCESS)
    serves(ns, other, "C", 8, 8, 6, 0)


@case(kills=["old-bodies-are-not-known"])
def test_old_version_sends_bare_wrapper(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    broker.register(body=broker.body().encode_bare(), announces=36) >> Reply(SUCCESS)
    is_whole(ns, broker, filters=False)


@case(kills=["old-bodies-are-expected-too-long"])
def test_version_37_sends_register_body(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    broker.register(body=unlike_body(broker).encode(), announces=37) >> Reply(SUCCESS)
    is_whole(ns, broker)


@case(kills=["historical-rocketmq-140-newer-versions-are-refused"])
def test_unknown_newer_version_is_accepted(ns: NameServerSession) -> None:
    for version in (32767, 2**31 - 1):
        broker = unlike_broker(ns)
        broker.register(body=unlike_body(broker).encode(), announces=version) >> Reply(SUCCESS)
        is_whole(ns, broker)


@case(kills=["negative-version-is-zero"])
def test_negative_version_is_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    for version in (-1, -(2**31)):
        broker.register(announces=version) >> Reply(SYSTEM_ERROR)
        is_unknown(ns, broker)


@case(kills=["unknown-body-members-are-refused"])
def test_unknown_body_members_are_ignored(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    document = json.loads(unlike_body(broker).encode())
    wrapper = document["topicConfigSerializeWrapper"]
    for part in (document, wrapper, wrapper["topicConfigTable"][broker.topic("A")]):
        part["unheardOf"] = {"x": [1, None]}
    broker.register(body=compact_json(document)) >> Reply(SUCCESS)
    is_whole(ns, broker)


@case(kills=["permission-that-comes-first-is-lost"])
def test_members_have_no_order(ns: NameServerSession) -> None:
    for member in ("perm", "readQueueNums", "writeQueueNums", "topicSysFlag"):
        broker = unlike_broker(ns)
        document = json.loads(unlike_body(broker).encode())
        wrapper = document["topicConfigSerializeWrapper"]
        table = wrapper["topicConfigTable"]
        for topic, config in table.items():
            table[topic] = {member: config[member], **dict(reversed(config.items())), "unheardOf": 0}
        wrapper["dataVersion"] = dict(reversed(wrapper["dataVersion"].items()))
        document["topicConfigSerializeWrapper"] = dict(reversed(wrapper.items()))
        broker.register(body=compact_json(dict(reversed(document.items())))) >> Reply(SUCCESS)
        is_whole(ns, broker)


@case(kills=["strange-headers-lose-a-byte-of-the-body"])
def test_unknown_header_members_leave_the_body_whole(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    body = unlike_body(broker).encode()
    sent = {"brokerName": broker.name, "brokerAddr": broker.address, "clusterName": broker.cluster}
    ext = json.dumps({**sent, "haServerAddr": broker.ha, "brokerId": "0", "bodyCrc32": str(body_crc32(body))})
    header = query_header(RequestCode.REGISTER_BROKER, '"unheardOf":{"x":[1,null]}', extFields=ext)
    broker.connection.send_raw(json_frame(header, body), opaque=OPAQUE) >> Reply(SUCCESS)
    is_whole(ns, broker)


@case(kills=["former-table-is-taken"])
def test_table_in_another_place_is_ignored(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register() >> Reply(SUCCESS)
    former = json.loads(broker.body().encode())["topicConfigSerializeWrapper"]
    broker.version = broker.newer()
    now = json.loads(broker.body({"A": (9, 1, 2), "B": (1, 9, 4)}).encode())
    broker.register(body=compact_json({"unheardOf": former, **now})) >> Reply(SUCCESS)
    serves(ns, broker, "A", 9, 1, 2, 0)
    serves(ns, broker, "B", 1, 9, 4, 0)


@case(kills=["unknown-body-members-are-refused"])
def test_body_of_five_line_is_accepted(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    for topic in broker.topics.values():
        topic.attributes = {}
    body = unlike_body(broker)
    body.data_version = DataVersion(7, 1_700_000_000_001, 3)
    body.mapping_data_version = DataVersion(0, 1_700_000_000_001, 0)
    body.mapping_details, body.mappings = {}, {}
    broker.register(body=body.encode(), announces=479) >> Reply(SUCCESS)
    broker.version = DataVersion(7, 1_700_000_000_001, 3 if ns.first_state_version is not None else None)
    is_whole(ns, broker)


@case(kills=["unquoted-keys-are-refused", "loose-bodies-lose-flags", "loose-bodies-lose-filters"])
def test_unquoted_numeric_keys_are_accepted(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    body = with_mapping(broker)
    body.filter_servers = FILTERS
    broker.register(body=body.encode(), announces=479) >> Reply(SUCCESS)
    is_whole(ns, broker)


@case(kills=["unquoted-keys-are-refused", "loose-bodies-lose-counters"])
def test_single_quotes_are_accepted(ns: NameServerSession) -> None:
    broker = unlike_broker(ns)
    body = with_mapping(broker)
    body.mapping_details = {broker.topic("A"): {"topic": broker.topic("A"), "unheardOf": [1, [2]]}}
    body.filter_servers = FILTERS
    text = body.encode().replace(b'"', b"'").replace(b"f:2", b"f:\\u0032")
    text = text.replace(b"'SINGLE_TAG'", b'"SINGLE_TAG"')  # 5.5.0 refuses an enumeration in single quotes
    broker.register(body=text) >> Reply(SUCCESS)
    is_whole(ns, broker)


def _has_filters(ns: NameServerSession, broker: Broker, table: dict[str, list[str | None]]) -> None:
    ns.route(broker.topic("A")).json >> Reply(SUCCESS, Including({"filterServerTable": table}))
