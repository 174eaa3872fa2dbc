"""Chapter json: which almost-JSON texts the engine of each line accepts, and what it writes.

4.9 and 5.3 use fastjson 1, 5.5 uses fastjson2. No peer sends such texts on purpose, and a third party may be
stricter: what Apache accepts is a MAY.
"""

from __future__ import annotations

import json
import re

from harness.conformance import Containing, Including, Reply, Silence, case
from harness.conformance.nameserver.brokers import registered
from harness.conformance.shared.frames import OPAQUE, QUERY, bare_names, json_frame, query_header
from harness.conformance.shared.framing.limits import INT32_MAX, INT32_MIN
from harness.conformance.shared.raw import (
    answered,
    closes,
    closes_headers,
    headers_with_number,
    keeps,
    reads_ext,
    serves,
    serves_headers,
    serves_single_quotes,
)
from harness.session import Broker, NameServerSession
from harness.wire import FLAG_RESPONSE, ResponseCode

SUCCESS = ResponseCode.SUCCESS
SYSTEM_ERROR = ResponseCode.SYSTEM_ERROR
NEWER, OLDER = "json-as-in-5.3", "json-as-in-5.5"
"""The mutants of the newest line and of the others: each reads and writes as the other engine does."""
DEFAULT_PERM = 6
MARKED = b"\xef\xbb\xbf" + query_header().encode()
NO_COMMA = query_header().replace(",", " ")
EXTRA_COMMAS = (query_header().replace("{", "{,"), query_header().replace(",", ",,"))
NOT_NUMBERS = (query_header(flag="NaN"), query_header(flag="undefined"))
EMPTY = (b"[]", b"[ ]", b" ", b"\n")
OWN_TYPE = '"@type":"org.apache.rocketmq.remoting.protocol.RemotingCommand"'
EXT = '{"namespace":"NAMESPACE","key":"KEY","value":"VALUE"}'
"""Ext fields, as `reads_ext` takes them."""
FOREIGN_TYPE = '"@type":"java.lang.Object"'
COMMENTS = (
    query_header().replace(":", ":/* why */"),
    query_header().replace(",", "/* why */,"),
    query_header(flag="false/* why */"),
)


def register_with(broker: Broker, member: str, value: str | int | None) -> None:
    """Registers two topics that have this member, as it is written."""
    topics = {t: {"topicName": t, member: value} for t in (broker.topic("A"), broker.topic("B"))}
    body = json.dumps({"topicConfigSerializeWrapper": {"topicConfigTable": topics}}, separators=(",", ":"))
    broker.register(body=body.encode()) >> Reply(SUCCESS)


def has_perm(ns: NameServerSession, broker: Broker, perm: int) -> None:
    """The route of its topic has this permission, and the default numbers of queues."""
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, Including({broker.name: (16, 16, perm, 0)}))


def unquoted(broker: Broker) -> bytes:
    """A register body whose members have no quotes, except keys of maps."""
    topics = ",".join(f'"{t}":{{topicName:"{t}",perm:6}}' for t in (broker.topic("A"), broker.topic("B")))
    return f"{{topicConfigSerializeWrapper:{{topicConfigTable:{{{topics}}}}}}}".encode()


def with_topics(*keys: str) -> bytes:
    """A register body with a topic of each key of the topic table, the keys as they are written."""
    topics = ",".join(f'{key}:{{"topicName":"{key.strip(chr(34))}"}}' for key in keys)
    return f'{{"topicConfigSerializeWrapper":{{"topicConfigTable":{{{topics}}}}}}}'.encode()


@case(kills=[OLDER])
def test_missing_comma_closes(ns: NameServerSession) -> None:
    closes_headers(ns, NO_COMMA, query_header(extra='[true"a"]'), query_header(extra="[null[1]]"))


@case(kills=[NEWER, "ext-fields-end-without-a-comma"])
def test_missing_comma_is_accepted(ns: NameServerSession) -> None:
    serves_headers(ns, NO_COMMA)
    reads_ext(ns, EXT.replace(",", " "), EXT.replace(",", ""))


@case(kills=["strict-json"])
def test_missing_comma_in_an_array_is_accepted(ns: NameServerSession) -> None:
    keeps(ns, {"[1 2]": "[1,2]", '["a" "b",3]': '["a","b",3]'})


@case(kills=["json-forgives-everywhere"])
def test_missing_comma_behind_an_unknown_member_closes(ns: NameServerSession) -> None:
    closes_headers(ns, '{"extra":1 ' + query_header()[1:])


@case(kills=[OLDER, "exponents-of-100-close"])
def test_number_with_a_huge_exponent_closes(ns: NameServerSession) -> None:
    serves_headers(ns, *(query_header(flag=number) for number in ("1e100", "1e-100", "12e100", "12e-100")))
    closes_headers(ns, *(query_header(flag=number) for number in ("1e400", "1e-400", "-2e101", "1.5e-100")))


@case(kills=[OLDER])
def test_unquoted_number_as_a_topic_is_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    for name in ("5", "null"):
        broker.register(body=with_topics(name, f'"{broker.topic("A")}"')) >> Reply(SYSTEM_ERROR)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)


@case(kills=[NEWER])
def test_unquoted_number_as_a_topic_is_accepted(ns: NameServerSession) -> None:
    broker = ns.broker()
    topic = str(int.from_bytes(ns.name("t").encode()))
    broker.register(body=with_topics(topic, f'"{broker.topic("A")}"')) >> Reply(SUCCESS)
    ns.route(topic).addresses >> Reply(SUCCESS, {broker.name: {0: broker.address}})


@case(kills=[OLDER])
def test_extra_commas_are_accepted(ns: NameServerSession) -> None:
    serves_headers(ns, *EXTRA_COMMAS)


@case(kills=[NEWER])
def test_extra_commas_close(ns: NameServerSession) -> None:
    closes_headers(ns, *EXTRA_COMMAS)


@case(kills=[OLDER])
def test_comma_behind_header_closes(ns: NameServerSession) -> None:
    closes_headers(ns, query_header() + ",")


@case(kills=[NEWER])
def test_comma_behind_header_is_accepted(ns: NameServerSession) -> None:
    serves_headers(ns, query_header() + ",", query_header() + " , ")


@case(kills=["text-behind-a-comma-is-ignored"])
def test_text_behind_a_comma_closes(ns: NameServerSession) -> None:
    serves_headers(ns, query_header() + ",")
    closes_headers(ns, query_header() + ",x", query_header() + ",,", query_header() + ", {}")


@case(kills=["strict-json"])
def test_single_quoted_names_are_accepted(ns: NameServerSession) -> None:
    loose = query_header(remark='"r"').replace('"', "'")
    serves_headers(ns, loose, f" \n\t{loose}\r\n ")
    serves_single_quotes(ns)


@case(kills=["unquoted-ext-fields-are-lost", "single-quoted-ext-fields-are-lost", "ext-fields-end-at-a-null"])
def test_loose_ext_fields_are_read(ns: NameServerSession) -> None:
    reads_ext(
        ns,
        bare_names(EXT),
        EXT.replace('"', "'"),
        EXT.replace('"key"', 'null:"x","key"'),
        EXT.replace(",", ",,"),
        EXT.replace(":", ":/* why */"),
    )


@case(kills=[NEWER])
def test_unquoted_names_close(ns: NameServerSession) -> None:
    closes_headers(ns, bare_names(query_header()), query_header(extFields='{topic:"T"}'))


@case(kills=[NEWER])
def test_names_are_case_sensitive(ns: NameServerSession) -> None:
    serves_headers(ns, query_header(flag=None, FLAG=f"{FLAG_RESPONSE}"))


@case(kills=[OLDER])
def test_byte_order_mark_is_accepted(ns: NameServerSession) -> None:
    serves(ns, json_frame(MARKED))


@case(kills=[NEWER])
def test_byte_order_mark_closes(ns: NameServerSession) -> None:
    closes(ns, json_frame(MARKED))


@case(kills=[OLDER])
def test_not_a_number_is_null(ns: NameServerSession) -> None:
    serves_headers(ns, *NOT_NUMBERS)


@case(kills=[NEWER])
def test_not_a_number_closes(ns: NameServerSession) -> None:
    closes_headers(ns, *NOT_NUMBERS)


@case(kills=[OLDER, "text-for-a-number-is-zero"])
def test_array_or_object_for_a_number_closes(ns: NameServerSession) -> None:
    for value in ("[1]", "{}"):
        closes_headers(ns, *headers_with_number(QUERY, value))


@case(kills=[NEWER, "ext-fields-in-brackets-are-lost"])
def test_one_number_in_brackets_is_accepted(ns: NameServerSession) -> None:
    serves_headers(
        ns,
        query_header(code=f"[{QUERY.code}]"),
        query_header(opaque=f"[{OPAQUE}]"),
        query_header(flag='["0"]'),
        query_header(extFields=f"[{json.dumps(QUERY.ext)}]"),
    )
    reads_ext(ns, f"[{EXT}]")
    closes_headers(ns, *(query_header(flag=value) for value in ("[true]", "[null]", "[[0]]", "[0,0]", "[]")))


@case(kills=[NEWER])
def test_object_or_word_for_a_number_is_accepted(ns: NameServerSession) -> None:
    serves_headers(ns, query_header(flag="{}"), query_header(flag='"false"', version='"true"'))
    connection = ns.connect()
    connection.send_raw(json_frame(query_header(flag='"true"'))) >> Silence()
    connection.call(*QUERY) >> answered(ns)


@case(kills=[OLDER])
def test_quoted_fraction_closes(ns: NameServerSession) -> None:
    closes_headers(ns, *(query_header(flag=f'"{text}"') for text in ("0.5", "0e1", "-", "0_0")))


@case(kills=[NEWER])
def test_quoted_fraction_is_cut(ns: NameServerSession) -> None:
    serves_headers(ns, query_header(code=f'"{QUERY.code}.9"'), query_header(code=f'"{QUERY.code / 100}e2"'))


@case(kills=["fractions-out-of-range-refused", "fractions-out-of-range-are-bounded"])
def test_fraction_out_of_range_wraps(ns: NameServerSession) -> None:
    numbers = {2**32 + 5: 5, -(2**32) - 5: -5, 2**31: INT32_MIN, -(2**31) - 1: INT32_MAX}
    for number, opaque in numbers.items():
        frame = json_frame(query_header(opaque=f"{number}.5"))
        ns.connect().send_raw(frame, opaque=opaque) >> answered(ns)


@case(kills=[OLDER])
def test_commas_in_a_number_are_skipped(ns: NameServerSession) -> None:
    serves_headers(ns, *(query_header(flag=f'"{text}"') for text in ("0,000", "0,0", ",0", "0,")))


@case(kills=[NEWER, "numbers-with-commas-are-zero"])
def test_only_thousands_have_commas(ns: NameServerSession) -> None:
    numbered = json_frame(query_header(opaque='"-7,654,321"'))
    ns.connect().send_raw(numbered, opaque=-7_654_321) >> answered(ns)
    serves_headers(ns, *(query_header(flag=f'"{text}"') for text in ("0,000", "-0,000,000")))
    closing = ("0,0", ",0", "0,", "0,0000", "0,.50", "0,000.5")
    closes_headers(ns, *(query_header(flag=f'"{text}"') for text in closing))


@case(kills=[OLDER])
def test_null_in_capitals_is_absent(ns: NameServerSession) -> None:
    serves_headers(ns, query_header(flag='"NULL"', version='"NULL"'))


@case(kills=[NEWER])
def test_null_in_capitals_closes(ns: NameServerSession) -> None:
    closes_headers(ns, query_header(flag='"NULL"'), query_header(version='"NULL"'))


@case(kills=[OLDER])
def test_fraction_for_a_language_closes(ns: NameServerSession) -> None:
    closes_headers(ns, *(query_header(language=value) for value in ("1.5", "1e0", "NaN", "undefined")))


@case(kills=[NEWER])
def test_fraction_for_a_language_is_cut(ns: NameServerSession) -> None:
    served = ("1.5", "1e0", "4294967297.5", '"2147483647"', '"-2147483648"')
    serves_headers(ns, *(query_header(language=value) for value in served))
    closes = ('"2147483648"', '"-2147483649"', "2147483649.5")
    closes_headers(ns, *(query_header(language=value) for value in closes))


@case(kills=[OLDER, "types-close"])
def test_foreign_type_closes(ns: NameServerSession) -> None:
    serves_headers(ns, query_header(QUERY, OWN_TYPE))
    closes_headers(ns, query_header(QUERY, FOREIGN_TYPE))


@case(kills=[NEWER])
def test_type_member_is_ignored(ns: NameServerSession) -> None:
    serves_headers(ns, query_header(QUERY, FOREIGN_TYPE), query_header(QUERY, '"@type":5'))


@case(kills=[OLDER])
def test_text_as_body_member_is_accepted(ns: NameServerSession) -> None:
    served = ('"AQI="', '"x!"', '[null,"1",127,-128,1.5]')
    serves_headers(ns, *(query_header(body=value) for value in served))
    closing = ("[1,128]", "[-129]", '["x"]', "[{}]", "[[1]]")
    closes_headers(ns, *(query_header(body=value) for value in closing))


@case(kills=[NEWER])
def test_text_as_body_member_closes(ns: NameServerSession) -> None:
    serves_headers(ns, query_header(body='[null,"300",128,-129,1.5,{},[1],true]'))
    closes_headers(ns, *(query_header(body=value) for value in ('"AQI="', '["x"]', "[1,2147483648]")))


@case(kills=["null-opaque-is-counted"])
def test_null_opaque_is_zero(ns: NameServerSession) -> None:
    ns.connect().send_raw(json_frame(query_header(opaque="null")), opaque=0) >> answered(ns)


@case(kills=[NEWER])
def test_comment_elsewhere_closes(ns: NameServerSession) -> None:
    closes_headers(
        ns, *COMMENTS, query_header().replace("}", "/* why */}", 1), query_header()[:-1] + "/* why */}"
    )


@case(kills=[OLDER])
def test_comment_behind_a_colon_is_accepted(ns: NameServerSession) -> None:
    serves_headers(ns, *COMMENTS)


@case(kills=[OLDER])
def test_ext_numbers_keep_their_digits(ns: NameServerSession) -> None:
    keeps(ns, {"007": "007", "-0": "-0", "-0.0": "0.0", "1.50": "1.50", "1e3": "1E+3"})


@case(kills=[NEWER, "ten-millions-have-no-exponent"])
def test_ext_numbers_are_rewritten(ns: NameServerSession) -> None:
    keeps(ns, {"9e6": "9000000.0", "1e7": "1.0E7", "9e-4": "9.0E-4"})
    keeps(ns, {"007": "7", "-0": "0", "1e3": "1000.0", "-1.25e-7": "-1.25E-7", "3e10": "3.0E10"})
    keeps(
        ns,
        {"-1e400": "-Infinity", "-0.0": "0.0", "-0e5": "0.0", "0e0": "0", "1.50e00": "1.50", "1e-3": "0.001"},
    )


@case(kills=[OLDER])
def test_body_names_in_any_case_are_accepted(ns: NameServerSession) -> None:
    broker = ns.broker()
    register_with(broker, "PERM", 4)
    has_perm(ns, broker, 4)


@case(kills=[NEWER])
def test_body_names_are_case_sensitive(ns: NameServerSession) -> None:
    broker = ns.broker()
    register_with(broker, "PERM", 4)
    has_perm(ns, broker, DEFAULT_PERM)


@case(kills=[OLDER])
def test_unquoted_body_names_are_accepted(ns: NameServerSession) -> None:
    broker = ns.broker()
    broker.register(body=unquoted(broker)) >> Reply(SUCCESS)
    has_perm(ns, broker, DEFAULT_PERM)


@case(kills=[NEWER])
def test_unquoted_body_names_are_refused(ns: NameServerSession) -> None:
    broker = ns.broker()
    number = unquoted(broker).replace(b"topicName", b"5")
    for body in (unquoted(broker), re.sub(rb"(\w+):([{\d])", rb'"\1":\2', number)):
        broker.register(body=body) >> Reply(SYSTEM_ERROR)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)


@case(kills=[OLDER])
def test_null_number_keeps_the_default(ns: NameServerSession) -> None:
    broker = ns.broker()
    register_with(broker, "perm", None)
    has_perm(ns, broker, DEFAULT_PERM)


@case(kills=[NEWER])
def test_null_number_is_zero(ns: NameServerSession) -> None:
    broker = ns.broker()
    register_with(broker, "perm", None)
    has_perm(ns, broker, 0)


@case(kills=[OLDER])
def test_standard_routes_escape_all_but_ascii(ns: NameServerSession) -> None:
    broker = ns.broker(name=f"{ns.name('b')}/é中")
    broker.register() >> Reply(SUCCESS)
    ns.route(broker.topic("A")).text >> Reply(SUCCESS, Containing(rb"\/\u00E9\u4E2D"))


@case(kills=[NEWER])
def test_standard_routes_escape_no_more_than_needed(ns: NameServerSession) -> None:
    broker = ns.broker(name=f"{ns.name('b')}/é中")
    broker.register() >> Reply(SUCCESS)
    ns.route(broker.topic("A")).text >> Reply(SUCCESS, Containing("/é中"))


@case(kills=[OLDER])
def test_blank_or_empty_array_is_a_null_body(ns: NameServerSession) -> None:
    broker = registered(ns)
    for body in EMPTY:
        broker.query_version(body=body).changed >> Reply(SUCCESS, True)
    broker.query_version(body=b"[1]") >> Reply(SYSTEM_ERROR)


@case(kills=[NEWER])
def test_blank_or_empty_array_is_no_body(ns: NameServerSession) -> None:
    broker = registered(ns)
    for body in EMPTY:
        broker.query_version(body=body) >> Reply(SYSTEM_ERROR)
    broker.query_version().changed >> Reply(SUCCESS, False)
