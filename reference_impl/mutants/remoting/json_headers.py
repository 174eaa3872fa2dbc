"""Faults of what headers in JSON may look like."""

import json

from harness.wire import RequestCode
from harness.wire.codes import LANGUAGES
from reference_impl.mutants.headers import NUMBERS, refusing, refusing_text, rewriting

_KNOWN = {*NUMBERS, "extFields", "language", "remark", "serializeTypeCurrentRPC"}


@refusing("A JSON header without a flag closes the connection.")
def flag_required(members):
    return "flag" not in members


@refusing("A JSON header without a version closes the connection.")
def version_required(members):
    return "version" not in members


@refusing("A JSON header without an opaque closes the connection.")
def opaque_required(members):
    return "opaque" not in members


@refusing("A member of a JSON header that is null closes the connection.")
def nulls_refused(members):
    return None in members.values()


@refusing("An unknown member of a JSON header closes the connection.")
def unknown_members_refused(members):
    return not _KNOWN.issuperset(members)


@refusing("A JSON header that names another serialization is refused.")
def header_names_its_serialization(members):
    return members.get("serializeTypeCurrentRPC", "JSON") != "JSON"


@refusing("An empty remark closes the connection.")
def empty_remark_refused(members):
    return members.get("remark") == ""


@refusing("An unknown language name closes the connection.")
def language_checked(members):
    language = members.get("language")
    return isinstance(language, str) and language not in LANGUAGES


@rewriting("A language that is neither text nor a number of Apache's list counts as none.")
def strange_language_is_none(members):
    language = members.get("language")
    is_ordinal = type(language) is int and 0 <= language < len(LANGUAGES)
    if not isinstance(language, str) and not is_ordinal:
        members["language"] = None


@refusing("A language that is a number closes the connection.")
def language_number_refused(members):
    return isinstance(members.get("language"), int)


@refusing("A version without a release closes the connection.")
def version_checked(members):
    return not 0 <= int(members.get("version") or 0) <= 612


@refusing("Ext fields that a query does not have close the connection.")
def unknown_ext_fields_refused(members):
    known = {RequestCode.GET_ROUTEINFO_BY_TOPIC: {"topic"}, RequestCode.GET_ALL_CONSUMER_OFFSET: set()}
    fields = known.get(members.get("code"))
    return fields is not None and not fields.issuperset(members.get("extFields") or ())


@refusing_text("A line break in a JSON header closes the connection.")
def compact_headers_only(header):
    return b"\n" in header


@refusing("A number that is sent as a string closes the connection.")
def numeric_strings_refused(members):
    return any(isinstance(members.get(name), str) for name in NUMBERS)


@refusing("A number in text that has more than 40 digits closes the connection.")
def long_numeric_strings_refused(members):
    return any(isinstance(members.get(name), str) and len(members[name]) > 40 for name in NUMBERS)


@refusing("A number with a fraction or an exponent closes the connection.")
def fractions_refused(members):
    return any(isinstance(members.get(name), float) for name in NUMBERS)


@rewriting("A number with a fraction or an exponent is rounded.")
def fractions_are_rounded(members):
    for name in NUMBERS:
        if isinstance(members.get(name), float):
            members[name] = round(members[name])


@refusing("A boolean instead of a number closes the connection.")
def boolean_numbers_refused(members):
    return any(isinstance(members.get(name), bool) for name in NUMBERS)


@rewriting("A boolean instead of a number counts as 0.")
def boolean_numbers_are_zero(members):
    for name in NUMBERS:
        if isinstance(members.get(name), bool):
            members[name] = 0


@refusing("A member body of a JSON header closes the connection.")
def body_members_refused(members):
    return "body" in members


@rewriting("A member body of a JSON header is not looked at.")
def body_members_unread(members):
    members.pop("body", None)


@refusing_text("A repeated member of a JSON header closes the connection.")
def repeated_members_refused(header):
    found: list[str] = []
    try:
        json.loads(header, object_pairs_hook=lambda pairs: found.extend(name for name, _ in pairs))
    except ValueError:
        return False
    return len(found) != len(set(found))


@refusing_text("A header that is not strict JSON closes the connection.")
def strict_json(header):
    try:
        json.loads(header.decode("utf-8", "replace"))
    except ValueError:
        return True
    return False


@rewriting("A member of a JSON header in another case is ignored.")
def names_case_sensitive(members):
    for name in set(members) - _KNOWN:
        del members[name]
