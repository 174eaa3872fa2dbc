"""Chapter json: which texts that are almost JSON the engine of each line takes, and what it writes.

fastjson 1 reads and writes for 4.9 and 5.3, fastjson2 for 5.5. No peer sends such texts on purpose, and a
third party may well be stricter: what Apache accepts is a MAY.
"""

from __future__ import annotations

import json

from harness.conformance import Containing, Including, Reply, case
from harness.conformance.frames import OPAQUE, QUERY, json_frame, query_header
from harness.conformance.raw import closes, closes_headers, headers_with_number, keeps, serves, serves_headers
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
NOT_NUMBERS = (query_header('"flag":NaN'), query_header('"flag":undefined'))
COMMENTS = (query_header().replace(":", ":/* why */"), query_header().replace(",", "/* why */,"))


def register_with(broker: Broker, member: str, value: str | int | None) -> None:
    """Registers two topics that have this member, as it is written."""
    topics = {t: {"topicName": t, member: value} for t in (broker.topic("A"), broker.topic("B"))}
    body = json.dumps({"topicConfigSerializeWrapper": {"topicConfigTable": topics}}, separators=(",", ":"))
    broker.register(body=body.encode()) >> Reply(SUCCESS)


def has_perm(ns: NameServerSession, broker: Broker, perm: int) -> None:
    """The route of its topic has this permission, and the default numbers of queues."""
    ns.route(broker.topic("A")).queues >> Reply(SUCCESS, Including({broker.name: (16, 16, perm, 0)}))


def unquoted(broker: Broker) -> bytes:
    """A register body whose members have no quotes, but those that are keys of a map."""
    topics = ",".join(f'"{t}":{{topicName:"{t}",perm:6}}' for t in (broker.topic("A"), broker.topic("B")))
    return f"{{topicConfigSerializeWrapper:{{topicConfigTable:{{{topics}}}}}}}".encode()


@case("wire.json.missing-comma-closes", kills=[OLDER])
def test_missing_comma_closes(ns: NameServerSession) -> None:
    """A comma that is missing closes the connection."""
    closes_headers(ns, NO_COMMA)


@case("wire.json.missing-comma-is-accepted", kills=[NEWER])
def test_missing_comma_is_accepted(ns: NameServerSession) -> None:
    """A comma that is missing does no harm."""
    serves_headers(ns, NO_COMMA)


@case("wire.json.extra-commas-are-accepted", kills=[OLDER])
def test_extra_commas_are_accepted(ns: NameServerSession) -> None:
    """Commas too many do no harm."""
    serves_headers(ns, *EXTRA_COMMAS)


@case("wire.json.extra-commas-close", kills=[NEWER])
def test_extra_commas_close(ns: NameServerSession) -> None:
    """Commas too many close the connection."""
    closes_headers(ns, *EXTRA_COMMAS)


@case("wire.json.comma-behind-header-closes", kills=[OLDER])
def test_comma_behind_header_closes(ns: NameServerSession) -> None:
    """A comma behind the header closes the connection."""
    closes_headers(ns, query_header() + ",")


@case("wire.json.comma-behind-header-is-accepted", kills=[NEWER])
def test_comma_behind_header_is_accepted(ns: NameServerSession) -> None:
    """A comma behind the header does no harm."""
    serves_headers(ns, query_header() + ",")


@case("wire.json.single-quoted-names-are-accepted", kills=["strict-json"])
def test_single_quoted_names_are_accepted(ns: NameServerSession) -> None:
    """Names and texts may be in single quotes."""
    serves_headers(ns, query_header('"remark":"r"').replace('"', "'"))


@case("wire.json.unquoted-names-close", kills=[NEWER])
def test_unquoted_names_close(ns: NameServerSession) -> None:
    """Names without quotes close the connection."""
    closes_headers(ns, query_header().replace('"', ""), query_header('"extFields":{topic:"T"}'))


@case("wire.json.names-are-case-sensitive", kills=[NEWER])
def test_names_are_case_sensitive(ns: NameServerSession) -> None:
    """A known name in another case means nothing."""
    serves_headers(ns, query_header(f'"FLAG":{FLAG_RESPONSE}'))


@case("wire.json.byte-order-mark-is-accepted", kills=[OLDER])
def test_byte_order_mark_is_accepted(ns: NameServerSession) -> None:
    """A byte order mark does no harm."""
    serves(ns, json_frame(MARKED))


@case("wire.json.byte-order-mark-closes", kills=[NEWER])
def test_byte_order_mark_closes(ns: NameServerSession) -> None:
    """A byte order mark closes the connection."""
    closes(ns, json_frame(MARKED))


@case("wire.json.not-a-number-is-null", kills=[OLDER])
def test_not_a_number_is_null(ns: NameServerSession) -> None:
    """NaN and undefined are read as null."""
    serves_headers(ns, *NOT_NUMBERS)


@case("wire.json.not-a-number-closes", kills=[NEWER])
def test_not_a_number_closes(ns: NameServerSession) -> None:
    """NaN and undefined close the connection."""
    closes_headers(ns, *NOT_NUMBERS)


@case("wire.json.array-or-object-for-a-number-closes", kills=[OLDER, "text-for-a-number-is-zero"])
def test_array_or_object_for_a_number_closes(ns: NameServerSession) -> None:
    """An array or an object closes the connection in the place of a number."""
    for value in ("[1]", "{}"):
        closes_headers(ns, *headers_with_number(QUERY, value))


@case("wire.json.one-number-in-brackets-is-accepted", kills=[NEWER])
def test_one_number_in_brackets_is_accepted(ns: NameServerSession) -> None:
    """A number may be in brackets."""
    serves_headers(ns, f'{{"code":[{QUERY:d}],"opaque":[{OPAQUE}]}}')


@case("wire.json.quoted-fraction-closes", kills=[OLDER])
def test_quoted_fraction_closes(ns: NameServerSession) -> None:
    """A text with a fraction or an exponent is no number."""
    closes_headers(ns, query_header('"flag":"0.5"'), query_header('"flag":"0e1"'))


@case("wire.json.quoted-fraction-is-cut", kills=[NEWER])
def test_quoted_fraction_is_cut(ns: NameServerSession) -> None:
    """A text with a fraction or an exponent is a number without its fraction."""
    query = query_header().replace(f"{QUERY:d}", "{}")
    serves_headers(ns, query.replace("{}", f'"{QUERY:d}.9"'), query.replace("{}", f'"{QUERY / 100}e2"'))


@case("wire.json.foreign-type-closes", kills=[OLDER])
def test_foreign_type_closes(ns: NameServerSession) -> None:
    """A header that names another class closes the connection."""
    closes_headers(ns, query_header('"@type":"java.lang.Object"'))


@case("wire.json.type-member-is-ignored", kills=[NEWER])
def test_type_member_is_ignored(ns: NameServerSession) -> None:
    """A header may name any class, and it means nothing."""
    serves_headers(ns, query_header('"@type":"java.lang.Object"'), query_header('"@type":5'))


@case("wire.json.null-opaque-is-zero", kills=["null-opaque-is-counted"])
def test_null_opaque_is_zero(ns: NameServerSession) -> None:
    """An opaque that is null is 0."""
    ns.connect().send_raw(json_frame(f'{{"code":{QUERY:d},"opaque":null}}'), opaque=0) >> Reply(SUCCESS)


@case("wire.json.comment-elsewhere-closes", kills=[NEWER])
def test_comment_elsewhere_closes(ns: NameServerSession) -> None:
    """A comment that is not before a name closes the connection."""
    closes_headers(ns, *COMMENTS)


@case("wire.json.comment-behind-a-colon-is-accepted", kills=[OLDER])
def test_comment_behind_a_colon_is_accepted(ns: NameServerSession) -> None:
    """A comment does no harm behind a colon or before a comma."""
    serves_headers(ns, *COMMENTS)


@case("wire.json.ext-numbers-keep-their-digits", kills=[OLDER])
def test_ext_numbers_keep_their_digits(ns: NameServerSession) -> None:
    """Numbers among the ext fields keep their digits."""
    keeps(ns, {"007": "007", "-0": "-0"})


@case("wire.json.ext-numbers-are-rewritten", kills=[NEWER])
def test_ext_numbers_are_rewritten(ns: NameServerSession) -> None:
    """Numbers among the ext fields are the text that Java writes for them."""
    keeps(ns, {"007": "7", "-0": "0", "1e3": "1000.0"})


@case("wire.json.body-names-in-any-case-are-accepted", kills=[OLDER])
def test_body_names_in_any_case_are_accepted(ns: NameServerSession) -> None:
    """Names in a body may be in any case."""
    broker = ns.broker()
    register_with(broker, "PERM", 4)
    has_perm(ns, broker, 4)


@case("wire.json.body-names-are-case-sensitive", kills=[NEWER])
def test_body_names_are_case_sensitive(ns: NameServerSession) -> None:
    """A known name in another case means nothing in a body."""
    broker = ns.broker()
    register_with(broker, "PERM", 4)
    has_perm(ns, broker, DEFAULT_PERM)


@case("wire.json.unquoted-body-names-are-accepted", kills=[OLDER])
def test_unquoted_body_names_are_accepted(ns: NameServerSession) -> None:
    """Names in a body may be without quotes."""
    broker = ns.broker()
    broker.register(body=unquoted(broker)) >> Reply(SUCCESS)
    has_perm(ns, broker, DEFAULT_PERM)


@case("wire.json.unquoted-body-names-are-refused", kills=[NEWER])
def test_unquoted_body_names_are_refused(ns: NameServerSession) -> None:
    """Names in a body without quotes are refused, and nothing is registered."""
    broker = ns.broker()
    broker.register(body=unquoted(broker)) >> Reply(SYSTEM_ERROR)
    ns.cluster().addresses(broker.name) >> Reply(SUCCESS, None)


@case("wire.json.null-number-keeps-the-default", kills=[OLDER])
def test_null_number_keeps_the_default(ns: NameServerSession) -> None:
    """A number in a body that is null is the default."""
    broker = ns.broker()
    register_with(broker, "perm", None)
    has_perm(ns, broker, DEFAULT_PERM)


@case("wire.json.null-number-is-zero", kills=[NEWER])
def test_null_number_is_zero(ns: NameServerSession) -> None:
    """A number in a body that is null is 0."""
    broker = ns.broker()
    register_with(broker, "perm", None)
    has_perm(ns, broker, 0)


@case("wire.json.standard-routes-escape-all-but-ascii", kills=[OLDER])
def test_standard_routes_escape_all_but_ascii(ns: NameServerSession) -> None:
    """A route for new clients is all ASCII."""
    broker = ns.broker(name=f"{ns.name('b')}/é中")
    broker.register() >> Reply(SUCCESS)
    ns.route(broker.topic("A")).text >> Reply(SUCCESS, Containing(rb"\/\u00E9\u4E2D"))


@case("wire.json.standard-routes-escape-no-more-than-needed", kills=[NEWER])
def test_standard_routes_escape_no_more_than_needed(ns: NameServerSession) -> None:
    """A route for new clients has characters as they are."""
    broker = ns.broker(name=f"{ns.name('b')}/é中")
    broker.register() >> Reply(SUCCESS)
    ns.route(broker.topic("A")).text >> Reply(SUCCESS, Containing("/é中"))
