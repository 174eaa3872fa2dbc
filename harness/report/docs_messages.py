"""The messages of the protocol, rendered: the frame, messages by code, bodies, settings.

Pure, as `harness.report.docs` is, whose pages it adds to. The codec makes the examples and the layouts take
them apart, so they cannot contradict it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from harness.catalogue import (
    Catalogue,
    Layout,
    Member,
    Message,
    Messages,
    Role,
    Statement,
    newest_profile,
    usage,
)
from harness.catalogue.codes import RequestCodes
from harness.catalogue.copies import Copy
from harness.catalogue.examples import Examples
from harness.catalogue.fields import FieldTable
from harness.catalogue.messages import NOT_JSON, Body
from harness.report.docs_codes import codes_page, demanding, naming
from harness.report.docs_copies import copies_page
from harness.report.docs_differences import differences_page
from harness.report.docs_examples import example_text
from harness.report.docs_markup import page, profiles_text, table
from harness.report.docs_quirks import quirk_lines, quirks_of_message
from harness.report.docs_unusual import unusual_page
from harness.report.layouts import Piece, walk
from harness.report.md import anchor, chapter, code, plain
from harness.report.templating import filled
from harness.wire import FLAG_RESPONSE, Command, Serialization, encode
from harness.wire.bodies import DataVersion, RegisterBody, TopicConfig

FRAME, MESSAGES, BROKER_MESSAGES, CODES, BODIES, COPIES, SETTINGS, DIFFERENCES = (
    "frame.md",
    "messages.md",
    "broker-requests.md",
    "request-codes.md",
    "bodies.md",
    "copies.md",
    "settings.md",
    "differences.md",
)
UNUSUAL: Mapping[Role, str] = {"nameserver": "unusual-requests.md", "broker": "broker-unusual-requests.md"}
PAGES = {
    "concepts.md": (
        "Concepts",
        "cluster, broker name, id, lease, data version, acting master, … in half a page each",
    ),
    FRAME: ("The frame", "byte layouts, header members, flags, three examples in hex"),
    MESSAGES: ("Messages of NameServers", "every request by its code: fields, bodies, answers"),
    BROKER_MESSAGES: ("Messages of Brokers", "the same for what Brokers serve and send to their clients"),
    CODES: ("Request codes", "every one of Apache, and whether Brokers and NameServers serve it"),
    BODIES: ("Bodies", "what frames carry, member by member, and the layout of the compressed registration"),
    "algorithms.md": (
        "What a NameServer does, step by step",
        "a registration, a departure, a route, a lease as pseudo-code with links to the statements",
    ),
    "scenes.md": (
        "Who says what to whom",
        "the states of a Broker, and sequences of frames that were recorded from Apache's servers",
    ),
    "broker-algorithms.md": (
        "What a Broker does, step by step",
        "the same of its registrations, of a send and of a pull",
    ),
    COPIES: (
        "Copies of messages",
        "what a Broker keeps, changes and adds when it stores one again",
    ),
    UNUSUAL["nameserver"]: (
        "Unusual requests to NameServers",
        "how Apache answers if one field or member is absent, empty, of another type, …",
    ),
    UNUSUAL["broker"]: ("Unusual requests to Brokers", "the same of Brokers"),
    SETTINGS: (
        "Times and settings",
        "leases, limits, and the settings of a NameServer, TLS among them, and of a Broker",
    ),
    DIFFERENCES: ("Differences between the profiles", "what one release line has and another has not"),
}
"""File name -> (title, what is in it), in the order in which they are read."""

_NAMED_CODE = re.compile(r"\b([A-Z][A-Z_]{4,}) \((\d+)\)")
_LONGEST_HEX = 24


def message_pages(
    messages: Messages,
    catalogue: Catalogue,
    copies: Sequence[Copy],
    codes: RequestCodes,
    unusual: Mapping[Role, FieldTable],
    examples: Mapping[Role, Examples],
) -> dict[str, str]:
    """File name -> Markdown text."""
    profiles = [profile.name for profile in catalogue.profiles]
    layouts = {one.name: one for one in messages.layouts}
    layout = partial(_layout, layouts, profiles)
    return {
        FRAME: _frame(messages, profiles, layouts, layout, catalogue),
        MESSAGES: _messages(
            MESSAGES, "nameserver", messages, catalogue, examples["nameserver"], unusual["nameserver"]
        ),
        BROKER_MESSAGES: _messages(
            BROKER_MESSAGES, "broker", messages, catalogue, examples["broker"], unusual["broker"]
        ),
        CODES: codes_page(codes, messages.messages, catalogue, PAGES, _place_of),
        BODIES: _bodies(messages, profiles, layouts, layout),
        COPIES: copies_page(copies, PAGES),
        **{UNUSUAL[role]: _unusual(role, asked, messages) for role, asked in unusual.items()},
        SETTINGS: _settings(messages, profiles, catalogue),
        DIFFERENCES: differences_page(messages, catalogue, PAGES, _message_link, _body_link),
    }


def _unusual(role: Role, asked: FieldTable, messages: Messages) -> str:
    requests = [one for one in messages.messages if one.role == role]
    return unusual_page(UNUSUAL[role], role, asked, requests, PAGES)


def message_links(text: str, messages: Messages) -> str:
    """Rendered text in which each `NAME (code)` of a known request leads to it."""
    known = {(one.name, str(one.code)): _message_link(one) for one in messages.messages}
    return _NAMED_CODE.sub(lambda found: known.get((found[1], found[2]), found[0]), text)


def page_of(message: Message) -> str:
    """Where a message is described, from the root of the repository."""
    return f"specs/rendered/{_place_of(message)}"


def body_page(name: str) -> str:
    """Where a body is described, from the root of the repository."""
    return f"specs/rendered/{BODIES}#{anchor(name)}"


def _place_of(message: Message) -> str:
    target = BROKER_MESSAGES if message.role == "broker" else MESSAGES
    return f"{target}#{anchor(f'{message.code} {message.name}')}"


def _message_link(message: Message) -> str:
    return f"[{message.name} ({message.code})]({_place_of(message)})"


def _body_link(name: str | None) -> str:
    if not name:
        return ""
    return name if name in NOT_JSON else f"[{name}]({BODIES}#{anchor(name)})"


_ROUTE = (
    '{"brokerDatas":[{"brokerAddrs":{"0":"10.0.0.1:10911"},"brokerName":"broker-a","cluster":"DefaultCluster",'
    '"enableActingMaster":false}],"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":6,'
    '"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}]}'
)
"""A TopicRouteData as 5.x writes it for clients of 4.9.4 and later."""


# the frame ------------------------------------------------------------------------------------------


def _frame(
    messages: Messages,
    profiles: Sequence[str],
    layouts: Mapping[str, Layout],
    layout: Callable[[str], str],
    catalogue: Catalogue,
) -> str:
    asked = Command(105, opaque=1, version=479, ext={"topic": "TopicTest"})
    binary = Command(
        105, opaque=1, version=479, ext={"topic": "TopicTest"}, serialization=Serialization.ROCKETMQ
    )
    told = Command(0, opaque=1, version=479, flag=FLAG_RESPONSE, body=_ROUTE.encode())
    return page(
        "frame",
        pages=PAGES,
        header=messages.header,
        header_members=[
            [code(one.name), one.type, one.json or "", plain(one.text)] for one in messages.header.members
        ],
        layout=layout,
        response_codes=[
            [
                str(one.number),
                code(one.name),
                profiles_text(one.profiles, profiles),
                plain(one.text),
                demanding(one.name, catalogue),
            ]
            for one in messages.responses.codes
        ],
        response_source=messages.responses.source,
        json_example=_example(layouts["frame"], encode(asked)),
        answer_example=_example(layouts["frame"], encode(told)),
        binary_example=_binary_example(layouts, encode(binary)),
    )


def _layout(layouts: Mapping[str, Layout], profiles: Sequence[str], name: str) -> str:
    layout = layouts[name]
    offset: int | None = 0
    rows = []
    for row in layout.rows:
        rows.append(
            [
                "" if offset is None else str(offset),
                str(row.size) if isinstance(row.size, int) or row.size == "what is left" else f"*{row.size}*",
                row.type,
                f"{row.name}" + (f", *{row.repeat}* times" if row.repeat else ""),
                profiles_text(row.profiles, profiles),
                plain(row.text),
            ]
        )
        fixed = offset is not None and isinstance(row.size, int) and row.repeat is None
        offset = offset + row.size if fixed and offset is not None and isinstance(row.size, int) else None
    return filled(
        "report/templates/docs/layout.md.j2",
        layout=layout,
        rows=table(["offset:", "bytes:", "type", "what", "profiles", "meaning"], rows),
    )


def _example(layout: Layout, data: bytes, base: int = 0) -> str:
    """The bytes, taken apart along a layout. ``base`` is the offset of the first."""
    rows = [
        [str(base + one.start), _hex(data[one.start : one.end]), one.row.name, _value(one)]
        for one in walk(layout, data, newest_profile("nameserver").name)
        if one.end > one.start
    ]
    return table(["offset:", "bytes", "what", "value"], rows)


def _binary_example(layouts: Mapping[str, Layout], data: bytes) -> dict[str, object]:
    head = _piece(layouts["frame"], data, "header")
    header = data[head.start : head.end]
    entries = _piece(layouts["rocketmq-header"], header, "entries")
    entry = header[entries.start : entries.end]
    return {
        "frame": _example(layouts["frame"], data),
        "start": head.start,
        "header": _example(layouts["rocketmq-header"], header, head.start),
        "entry": _example(layouts["rocketmq-entry"], entry, head.start + entries.start),
    }


def _piece(layout: Layout, data: bytes, name: str) -> Piece:
    return next(one for one in walk(layout, data, newest_profile("nameserver").name) if one.row.name == name)


def _hex(data: bytes) -> str:
    shown = data[:_LONGEST_HEX].hex(" ")
    return code(shown + (" …" if len(data) > _LONGEST_HEX else ""))


def _value(piece: Piece) -> str:
    if isinstance(piece.value, int):
        return str(piece.value)
    try:
        text = piece.value.decode("ascii")
    except UnicodeDecodeError:
        return ""
    return code(text) if text.isprintable() else ""


# messages -------------------------------------------------------------------------------------------


def _messages(
    name: str,
    role: Role,
    messages: Messages,
    catalogue: Catalogue,
    recorded: Examples,
    unusual: FieldTable,
) -> str:
    profiles = [profile.name for profile in catalogue.of(role).profiles]
    lines = quirk_lines(catalogue)
    names = {one.number: one.name for one in messages.responses.codes}

    def answers(message: Message) -> str:
        rows = [[str(number), code(names[number]), plain(when)] for number, when in message.codes.items()]
        return table(["code:", "name", "when"], rows)

    return page(
        "messages",
        page=name,
        pages=PAGES,
        profiles=profiles,
        listed=messages.of(role),
        overview=[
            [
                str(one.code),
                f"[{one.name}](#{anchor(f'{one.code} {one.name}')})",
                profiles_text(one.profiles, profiles),
                usage().words(role, one.code),
                plain(one.text.split(". ")[0].rstrip(".") + "."),
            ]
            for one in messages.of(role)
        ],
        request_fields=lambda message: _fields(profiles, message.request, partial(_needed, unusual, message)),
        response_fields=lambda message: _fields(profiles, message.response),
        answers=answers,
        body_link=_body_link,
        about=partial(_chapters_about, catalogue.statements),
        example=lambda message: example_text(message.code, recorded),
        quirks=lambda message: quirks_of_message(message, catalogue.statements, lines),
    )


def _needed(unusual: FieldTable, message: Message, member: Member) -> str:
    """Whether a request needs the field: as Apache declares it, and as its servers answered without it."""
    if not member.required:
        return ""
    lines = [line for line in unusual.recorded if not message.profiles or line in message.profiles]
    succeeds = all(
        unusual.is_judged(message.code, member.name, "absent", line)
        and unusual.answer(message.code, member.name, "absent", line) == "code 0"
        for line in lines
    )
    return "declared" if succeeds else "yes"


def _fields(
    profiles: Sequence[str], members: Iterable[Member], needed: Callable[[Member], str] = lambda _: ""
) -> str:
    rows = [
        [
            code(one.name),
            one.type,
            needed(one),
            plain(one.default or ""),
            profiles_text(one.profiles, profiles),
            plain(one.text),
        ]
        for one in members
    ]
    return table(["field", "type", "needed", "default", "profiles", "meaning"], rows)


def _chapters_about(statements: Sequence[Statement], message: Message) -> list[str]:
    """Links to the chapter about a message, and to others that name its code, with their number."""
    named = f"({message.code})"
    naming = Counter(one.chapter for one in statements if named in one.stimulus or named in one.text)
    links = [
        f"[{chapter(name)}]({name}.md) ({number})"
        for name, number in naming.items()
        if name != message.chapter
    ]
    if message.chapter is not None:
        number = sum(one.chapter == message.chapter for one in statements)
        links.insert(0, f"chapter [{chapter(message.chapter)}]({message.chapter}.md) ({number})")
    owner = next((one for one in statements if one.id == message.owner), None)
    if owner is not None:
        links.insert(0, f"first [{owner.id}]({owner.chapter}.md#{anchor(owner.id)})")
    return links


# bodies, times and settings --------------------------------------------------------------------------


def _bodies(
    messages: Messages,
    profiles: Sequence[str],
    layouts: Mapping[str, Layout],
    layout: Callable[[str], str],
) -> str:
    def members(body: Body) -> str:
        rows = [
            [
                code(one.name),
                _linked_type(one.type, messages),
                "yes" if one.optional else "",
                plain(one.default or ""),
                profiles_text(one.profiles, profiles),
                plain(one.text),
            ]
            for one in body.members
        ]
        return table(["member", "type", "may be absent", "default", "profiles", "meaning"], rows)

    content = RegisterBody(
        topics={"T1": TopicConfig(topic_name="T1", read_queue_nums=4, write_queue_nums=8)},
        data_version=DataVersion(counter=7, timestamp=1_700_000_000_000, state_version=3),
        filter_servers=[],
    ).layout(True)
    return page(
        "bodies",
        pages=PAGES,
        profiles=profiles,
        bodies=messages.bodies,
        members=members,
        layout=layout,
        example=_example(layouts["compressed-register-body"], content),
    )


def _linked_type(text: str, messages: Messages) -> str:
    names = "|".join(body.name for body in messages.bodies)
    return re.sub(rf"\b({names})\b", lambda found: f"[{found[1]}](#{anchor(found[1])})", text)


def _property(one: Member, profiles: Sequence[str]) -> list[str]:
    """The row of a setting that is read at the start."""
    return [
        code(one.name),
        one.type,
        plain(one.default or ""),
        profiles_text(one.profiles, profiles),
        plain(one.text),
    ]


def _settings(messages: Messages, profiles: Sequence[str], catalogue: Catalogue) -> str:
    return page(
        "settings",
        pages=PAGES,
        settings=messages.settings,
        times=[
            [one.name, one.value, profiles_text(one.profiles, profiles), plain(one.text), code(one.source)]
            for one in messages.times
        ],
        keys=[
            [
                code(one.name),
                one.type,
                plain(one.default or ""),
                "yes" if one.online else "",
                profiles_text(one.profiles, profiles),
                plain(one.text),
            ]
            for one in messages.settings.keys
        ],
        properties=[_property(one, profiles) for one in messages.settings.properties],
        brokers=[
            [*_property(one, profiles), naming(one.name, ("bk.",), catalogue)]
            for one in messages.settings.brokers
        ],
    )
