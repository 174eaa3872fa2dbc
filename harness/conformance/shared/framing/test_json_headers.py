"""Chapter framing: what JSON headers may look like."""

from __future__ import annotations

import json

from harness.conformance import Reply, Silence, case
from harness.conformance.shared.frames import (
    OPAQUE,
    VERSION,
    bare_names,
    binary_frame,
    binary_header,
    json_frame,
    query_header,
)
from harness.conformance.shared.framing.limits import INT32_MAX, INT32_MIN
from harness.conformance.shared.raw import (
    answered,
    closes_headers,
    keeps,
    serves,
    serves_headers,
    serves_single_quotes,
)
from harness.session import NameServerSession, Session
from harness.wire import (
    RequestCode,
    ResponseCode,
    Serialization,
    body_crc32,
)

SUCCESS, SYSTEM_ERROR = ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR


@case(kills=["flag-required", "version-required"])
def test_optional_members_may_be_absent(peer: Session) -> None:
    optional = ("flag", "language", "serializeTypeCurrentRPC", "version")
    serves_headers(peer, *(query_header(peer.query, **{name: None}) for name in optional))
    serves_headers(peer, query_header(peer.query, **dict.fromkeys(optional)))


@case(kills=["nulls-refused"])
def test_null_members_are_absent(peer: Session) -> None:
    names = ("flag", "language", "remark", "version")
    serves_headers(peer, query_header(peer.query, **dict.fromkeys(names, "null")))
    header = query_header(peer.bare_query, extFields="null")
    peer.connect().send_raw(json_frame(header), opaque=OPAQUE) >> Reply(SUCCESS)


@case(kills=["opaque-required"])
def test_missing_opaque_is_served(peer: Session) -> None:
    peer.connect().send_raw(json_frame(query_header(peer.query, opaque=None))) >> answered(peer)


@case(kills=["unknown-members-refused"])
def test_unknown_members_are_ignored(peer: Session) -> None:
    serves_headers(peer, query_header(peer.query, extra="1", more='{"a":[1,2,{"b":null}]}', most='["x"]'))


@case(kills=["header-length-of-23-bits"])
def test_header_length_has_24_bits(peer: Session) -> None:
    long = query_header(peer.query, more=f'"{"x" * (1 << 23)}"')
    serves_headers(peer, long, long.replace('"', "'"))
    serves(peer, binary_frame(binary_header(peer.query, remark=b"x" * (1 << 23))))


@case(kills=["header-names-its-serialization"])
def test_header_serialization_name_is_ignored(peer: Session) -> None:
    connection = peer.connect()
    for name in ("ROCKETMQ", "XML"):
        frame = json_frame(query_header(peer.query, serializeTypeCurrentRPC=f'"{name}"'))
        connection.send_raw(frame, opaque=OPAQUE) >> answered(peer, serialization=Serialization.JSON)


@case(kills=["empty-remark-refused"])
def test_empty_remark_is_accepted(peer: Session) -> None:
    serves_headers(peer, query_header(peer.query, remark='""'))


@case(kills=["language-checked"])
def test_any_language_name_is_served(peer: Session) -> None:
    names = ("GO", "go", "KLINGON", "", "3", "14", "99", "0000000099")
    serves_headers(peer, *(query_header(peer.query, language=f'"{name}"') for name in names))


@case(kills=["language-number-refused"])
def test_language_ordinal_is_served(peer: Session) -> None:
    serves_headers(peer, *(query_header(peer.query, language=f"{number}") for number in (0, 3, 9)))


@case(kills=["version-checked"])
def test_any_version_is_served(peer: Session) -> None:
    for version in (-1, 0, 1, 32767, INT32_MAX):
        peer.call(*peer.query, version=version) >> answered(peer)


@case(kills=["ext-numbers-refused", "ext-booleans-capitalised"])
def test_scalar_ext_values_are_texts(ns: NameServerSession) -> None:
    keeps(ns, {text: text for text in ("5", "-5", "1.5", "true", "false")})


@case(kills=["structured-ext-values-refused"])
def test_structured_ext_values_are_texts(ns: NameServerSession) -> None:
    keeps(ns, {text: text for text in ('{"a":1}', "[1,2]", '{"a":["b",null]}')})


@case(kills=["null-ext-value-is-text"])
def test_null_ext_value_is_absent(ns: NameServerSession) -> None:
    for namespace, code in ((f'"{ns.name("KV")}"', SUCCESS), ("null", SYSTEM_ERROR)):
        ext = f'{{"namespace":{namespace},"key":"{ns.name("k")}","value":"v"}}'
        frame = json_frame(query_header(RequestCode.PUT_KV_CONFIG, extFields=ext))
        ns.connect().send_raw(frame, opaque=OPAQUE) >> Reply(code)


@case(kills=["unknown-ext-fields-refused"])
def test_unknown_ext_fields_are_ignored(peer: Session) -> None:
    code, ext = peer.query
    more = {"AccessKey": "a", "Signature": "b", "OnsChannel": "", "invented": "c"}
    peer.call(code, ext | more) >> answered(peer)


@case(kills=["compact-headers-only"])
def test_white_space_in_header_is_skipped(peer: Session) -> None:
    spread = query_header(peer.query).replace(",", " ,\r\n\t").replace(":", " : ").replace("{", " {\n ")
    serves_headers(peer, spread, query_header(peer.query) + "\n")


@case(kills=["white-space-behind-header-begins-the-body"])
def test_white_space_behind_header_is_no_body(ns: NameServerSession) -> None:
    for behind in ("\n", " " * 16, "\t\r\n" * 50):
        broker = ns.broker()
        body = broker.body().encode()
        sent = {"brokerName": broker.name, "brokerAddr": broker.address, "clusterName": broker.cluster}
        sent |= {"haServerAddr": broker.ha, "brokerId": "0", "bodyCrc32": str(body_crc32(body))}
        header = query_header(RequestCode.REGISTER_BROKER, extFields=json.dumps(sent))
        broker.connection.send_raw(json_frame(header + behind, body), opaque=OPAQUE) >> Reply(SUCCESS)
        ns.cluster().addresses(broker.name) >> Reply(SUCCESS, {0: broker.address})


@case(kills=["numeric-strings-refused", "long-numeric-strings-refused"])
def test_numeric_strings_are_numbers(peer: Session) -> None:
    numbers = {"code": f"{peer.query.code}", "opaque": f"{OPAQUE}", "flag": "0", "version": f"{VERSION}"}
    texts = {name: f'"{number}"' for name, number in numbers.items()}
    padded = {name: f'"{number.zfill(60)}"' for name, number in numbers.items()}
    serves_headers(peer, query_header(peer.query, **texts), query_header(peer.query, **padded))
    for opaque in (INT32_MIN, INT32_MAX):
        frame = json_frame(query_header(peer.query, opaque=f'"{opaque}"'))
        peer.connect().send_raw(frame, opaque=opaque) >> answered(peer)


@case(kills=["numeric-strings-refused"])
def test_empty_text_for_a_number_is_absent(peer: Session) -> None:
    for text in ('""', '"null"'):
        serves_headers(peer, query_header(peer.query, flag=text, version=text))


@case(kills=["fractions-refused", "fractions-are-rounded"])
def test_fractions_are_cut(peer: Session) -> None:
    code = peer.query.code
    serves_headers(
        peer,
        query_header(peer.query, code=f"{code}.9", opaque=f"{OPAQUE}.5", flag="0.75", version="-1.5"),
        query_header(peer.query, code=f"{code}0e-1", opaque=f"{OPAQUE / 10}E+1"),
    )
    for opaque in (2_000_000_000, -2_000_000_000):
        frame = json_frame(query_header(peer.query, opaque=f"{opaque}.5"))
        peer.connect().send_raw(frame, opaque=opaque) >> answered(peer)


@case(kills=["boolean-numbers-refused", "boolean-numbers-are-zero"])
def test_booleans_are_numbers(peer: Session) -> None:
    serves_headers(peer, query_header(peer.query, flag="false", version="true"))
    connection = peer.connect()
    connection.send_raw(json_frame(query_header(peer.query, flag="true"))) >> Silence()
    connection.call(*peer.query) >> answered(peer)


@case(kills=["body-members-refused", "body-members-unread"])
def test_body_member_is_ignored(peer: Session) -> None:
    serves_headers(peer, *(query_header(peer.query, body=value) for value in ("null", '""', "[]", "[1,2]")))
    closes_headers(peer, *(query_header(peer.query, body=value) for value in ("{}", "5", "true")))


@case(kills=["first-ext-field-wins"])
def test_repeated_ext_field_last_wins(ns: NameServerSession) -> None:
    namespace = ns.name("KV")
    for number, quote in enumerate(('"', "'")):
        ext = f'{{"namespace":"{namespace}","key":"k{number}","value":"one{number}","value":"two{number}"}}'
        header = query_header(RequestCode.PUT_KV_CONFIG, extFields=ext).replace('"', quote)
        ns.connect().send_raw(json_frame(header), opaque=OPAQUE) >> Reply(SUCCESS)
        ns.get_kv(namespace, f"k{number}").value >> Reply(SUCCESS, f"two{number}")


@case(kills=["repeated-members-refused"])
def test_repeated_members_do_not_close(peer: Session) -> None:
    serves_headers(
        peer,
        query_header(peer.query, '"flag":0'),
        query_header(peer.query, "'flag':0"),
        query_header(peer.query, '"remark":"a"', remark='"a"'),
    )


@case(kills=["strict-json"])
def test_loose_names_are_accepted(peer: Session) -> None:
    with_null = json.dumps({**peer.query.ext, "x": "y"}).replace('"x"', "null")
    serves_headers(
        peer,
        bare_names(query_header(peer.query)),
        query_header(peer.query, extFields=with_null),
    )
    serves_single_quotes(peer)


@case(kills=["strict-json"])
def test_loose_punctuation_is_accepted(peer: Session) -> None:
    serves_headers(
        peer,
        query_header(peer.query).replace("{", "{/* why */"),
        query_header(peer.query).replace("}", ",}"),
    )


@case(kills=["names-case-sensitive"])
def test_names_in_any_case_are_accepted(peer: Session) -> None:
    serves_headers(
        peer,
        query_header(peer.query).replace("code", "CODE").replace("opaque", "Opaque"),
        query_header(peer.query, '"FLAG":0'),
        query_header(peer.query, '"OPAQUE":9,"Code":-1'),
        query_header(peer.query, '"LANGUAGE":99'),
        f'{{"Opaque":{OPAQUE},{query_header(peer.query, opaque="9")[1:]}',
    )
