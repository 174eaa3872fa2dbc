"""Members of JSON bodies in unusual forms."""

from __future__ import annotations

import json

from harness.catalogue.body_forms import body_forms

BODY = json.dumps(
    {
        "counter": 7,
        "name": "b",
        "isIt": True,
        "none": None,
        "table": {"T-n1": {"perm": 6}, "U-n1": {}},
        "list": [{"t": "x"}, 2],
    }
).encode()


def forms(body: bytes = BODY) -> dict[tuple[str, str], str]:
    return {(path, form): sent.decode() for path, form, sent in body_forms(body, "-n1")}


def test_one_member_is_unusual_and_the_rest_is_as_before() -> None:
    ordinary = json.loads(BODY)
    for (path, form), sent in forms().items():
        top = path.split(".")[1] if "." in path else ""
        rest = {
            name: value
            for name, value in json.loads(sent).items()
            if name not in (top, top.upper(), "unknownMember")
        }
        assert rest == {name: value for name, value in ordinary.items() if name != top}, (path, form)


def test_every_type_has_forms_of_its_own() -> None:
    found = forms()
    assert json.loads(found["body.counter", "9223372036854775808"])["counter"] == 2**63
    assert json.loads(found["body.counter", "its text"])["counter"] == "7"
    assert json.loads(found["body.name", "a number"])["name"] == 7
    assert json.loads(found["body.isIt", "the other"])["isIt"] is False
    assert json.loads(found["body.none", "text"])["none"] == "x"
    assert json.loads(found["body.list", "empty text"])["list"] == ""
    assert "counter" not in json.loads(found["body.counter", "absent"])
    assert json.loads(found["body.counter", "in other letters"])["COUNTER"] == 7


def test_a_member_is_given_twice_in_both_orders() -> None:
    assert '"counter":7,"counter":null' in forms()["body.counter", "again as null"]
    assert '"counter":null,"counter":7' in forms()["body.counter", "null and again"]


def test_the_first_of_a_list_and_of_a_map_stand_for_all() -> None:
    found = forms()
    assert json.loads(found["body.table.*.perm", "null"])["table"] == {"T-n1": {"perm": None}, "U-n1": {}}
    assert json.loads(found["body.list.0.t", "null"])["list"] == [{"t": None}, 2]
    assert not any(path.startswith("body.table.T") for path, _ in found)


def test_objects_get_a_member_that_is_not_known() -> None:
    assert {path for path, form in forms() if form == "with an unknown member"} == {
        "body",
        "body.table.*",
        "body.list.0",
    }


def test_an_ordinary_value_is_no_form() -> None:
    for (path, form), sent in forms().items():
        assert json.dumps(json.loads(sent)) != BODY.decode() or "again" in form, (path, form)


def test_what_is_no_object_has_no_forms() -> None:
    for body in (b"", b"key=value", b"[1]", b'{"a":', b"\xff\xfe"):
        assert not forms(body)
