"""The messages of the protocol, rendered: the frame, messages by code, bodies, settings, and what differs
between the profiles.

Pure, as `harness.report.docs` is, whose pages it adds to. The examples are made by the codec and taken apart
along the layouts, so they cannot say what it does not do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from harness.catalogue import Catalogue, Layout, Member, Message, Messages, Role, Statement
from harness.report.docs_markup import anchor, code, plain, profiles_text, table, title
from harness.report.layouts import Piece, walk
from harness.wire import Command, Serialization, encode
from harness.wire.bodies import DataVersion, RegisterBody, TopicConfig

__all__ = ["PAGES", "READING_ORDER", "message_links", "message_pages", "reading_order"]

FRAME, MESSAGES, BROKER_MESSAGES, BODIES, SETTINGS, DIFFERENCES = (
    "frame.md",
    "messages.md",
    "broker-messages.md",
    "bodies.md",
    "settings.md",
    "differences.md",
)
PAGES = {
    FRAME: ("The frame", "byte layouts, header members, flags, two examples in hex"),
    MESSAGES: ("Messages of NameServers", "every request by its code: fields, bodies, what it is answered"),
    BROKER_MESSAGES: ("Messages of Brokers", "the same, of what Brokers serve, and send to their clients"),
    BODIES: ("Bodies", "what frames carry, member by member, and the layout of the compressed registration"),
    SETTINGS: ("Times and settings", "leases, limits, and what a NameServer can be told"),
    DIFFERENCES: ("Differences between the profiles", "what one line has and another has not"),
}
"""File name -> (title, what is in it), in the order in which they are read."""

READING_ORDER = (
    "Read [the frame](frame.md) first, then [the messages](messages.md) with [their bodies](bodies.md) "
    "beside them, and then the chapters, from the connection to the tables that it fills. "
    "[Differences between the profiles](differences.md) is for who knows one line and wants another."
)
_NEWEST = "5.5"
_NAMED_CODE = re.compile(r"\b([A-Z][A-Z_]{4,}) \((\d+)\)")


def message_pages(messages: Messages, catalogue: Catalogue) -> dict[str, str]:
    """File name -> Markdown text."""
    profiles = [profile.name for profile in catalogue.profiles]
    pages = {
        FRAME: _frame(messages, profiles),
        MESSAGES: _messages("nameserver", messages, catalogue),
        BROKER_MESSAGES: _messages("broker", messages, catalogue),
        BODIES: _bodies(messages, profiles),
        SETTINGS: _settings(messages, profiles),
        DIFFERENCES: _differences(messages, catalogue, profiles),
    }
    return {name: "\n".join(lines).rstrip("\n") + "\n" for name, lines in pages.items()}


def reading_order() -> list[str]:
    """The part of the index about these pages."""
    rows = [[f"[{name}]({page})", about] for page, (name, about) in PAGES.items()]
    return ["", "## How to read it", "", READING_ORDER, "", *table(["page", "what is in it"], rows)]


def message_links(text: str, messages: Messages) -> str:
    """Rendered text in which each `NAME (code)` of a known request leads to it."""
    known = {(one.name, str(one.code)): _message_link(one) for one in messages.messages}
    return _NAMED_CODE.sub(lambda found: known.get((found[1], found[2]), found[0]), text)


def _message_link(message: Message) -> str:
    page = BROKER_MESSAGES if message.role == "broker" else MESSAGES
    return f"[{message.name} ({message.code})]({page}#{anchor(_message_heading(message))})"


def _message_heading(message: Message) -> str:
    return f"{message.code} {message.name}"


def _head(page: str) -> list[str]:
    return [
        f"# {PAGES[page][0]}",
        "",
        "Rendered from `specs/messages.yaml`; do not edit. [Index](README.md)",
        "",
    ]


def _source(text: str) -> list[str]:
    return ["", f"Source: {', '.join(code(one.strip()) for one in re.split('[;,]', text))}.", ""]


# the frame ------------------------------------------------------------------------------------------


def _frame(messages: Messages, profiles: Sequence[str]) -> list[str]:
    header = messages.header
    layouts = {layout.name: layout for layout in messages.layouts}
    lines = _head(FRAME)
    lines += _layout(layouts["frame"], profiles)
    lines += ["## The members of a header", ""]
    rows = [[code(one.name), one.type, one.json or "", plain(one.text)] for one in header.members]
    lines += table(["member", "type", "in JSON", "meaning"], rows)
    lines += [
        "",
        "A JSON header has its members in alphabetical order and no blanks when Apache writes it; receivers "
        "must not rely on that. What they take beside proper JSON is in the chapter [JSON](json.md).",
        "",
        "| bit of `flag` | name | meaning |",
        "|---:|---|---|",
        *(
            f"| {flag.number} (value {1 << flag.number}) | {flag.name} | {plain(flag.text)} |"
            for flag in header.flags
        ),
        "",
        "| type byte | serialization | meaning |",
        "|---:|---|---|",
        *(f"| {one.number} | {one.name} | {plain(one.text)} |" for one in header.serializations),
        "",
        "Languages, from 0: "
        + ", ".join(f"{name} {number}" for number, name in enumerate(header.languages))
        + ".",
        *_source(header.source),
    ]
    lines += _layout(layouts["rocketmq-header"], profiles)
    lines += _layout(layouts["rocketmq-entry"], profiles)
    lines += ["## Response codes", ""]
    lines += table(
        ["code:", "name", "profiles", "meaning"],
        [
            [str(one.number), code(one.name), profiles_text(one.profiles, profiles), plain(one.text)]
            for one in messages.responses.codes
        ],
    )
    lines += _source(messages.responses.source)
    asked = Command(105, opaque=1, version=479, ext={"topic": "TopicTest"})
    binary = Command(
        105, opaque=1, version=479, ext={"topic": "TopicTest"}, serialization=Serialization.ROCKETMQ
    )
    lines += [
        "## A request in JSON",
        "",
        "The route of topic TopicTest, as a client of 5.3.3 asks for it.",
        "",
    ]
    lines += _example(walk(layouts["frame"], encode(asked), _NEWEST), encode(asked))
    lines += ["", "## The same request in ROCKETMQ", ""]
    lines += _binary_example(layouts, encode(binary))
    return lines


def _layout(layout: Layout, profiles: Sequence[str]) -> list[str]:
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
    return [
        f"## {layout.title}",
        "",
        plain(layout.text),
        "",
        *table(["offset:", "bytes:", "type", "what", "profiles", "meaning"], rows),
        *_source(layout.source),
    ]


def _example(pieces: Iterable[Piece], data: bytes, base: int = 0) -> list[str]:
    rows = [
        [str(base + one.start), _hex(data[one.start : one.end]), one.row.name, _value(one)]
        for one in pieces
        if one.end > one.start
    ]
    return table(["offset:", "bytes", "what", "value"], rows)


def _binary_example(layouts: Mapping[str, Layout], data: bytes) -> list[str]:
    whole = walk(layouts["frame"], data, _NEWEST)
    head = next(one for one in whole if one.row.name == "header")
    header = data[head.start : head.end]
    pieces = walk(layouts["rocketmq-header"], header, _NEWEST)
    entries = next(one for one in pieces if one.row.name == "entries")
    entry = header[entries.start : entries.end]
    return [
        *_example(whole, data),
        "",
        f"Its header, from byte {head.start} on:",
        "",
        *_example(pieces, header, head.start),
        "",
        "And the only entry of that:",
        "",
        *_example(walk(layouts["rocketmq-entry"], entry, _NEWEST), entry, head.start + entries.start),
    ]


_LONGEST_HEX = 24


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


def _messages(role: Role, messages: Messages, catalogue: Catalogue) -> list[str]:
    profiles = [profile.name for profile in catalogue.of(role).profiles]
    lines = _head(BROKER_MESSAGES if role == "broker" else MESSAGES)
    lines += table(
        ["code:", "name", "profiles", "what it does"],
        [
            [
                str(one.code),
                f"[{one.name}](#{anchor(_message_heading(one))})",
                profiles_text(one.profiles, profiles),
                plain(one.text.split(". ")[0].rstrip(".") + "."),
            ]
            for one in messages.of(role)
        ],
    )
    lines += [
        "",
        "A field that is needed is one that Apache declares so. No server checks it as such: what happens "
        "without it is in the statements. Numbers and booleans travel as texts; of booleans only `true`, in "
        "any case, is true.",
        "",
    ]
    for one in messages.of(role):
        lines += _message(one, messages, catalogue, profiles)
    return lines


def _message(one: Message, messages: Messages, catalogue: Catalogue, profiles: Sequence[str]) -> list[str]:
    lines = [f"## {_message_heading(one)}", "", plain(one.text), ""]
    if only := profiles_text(one.profiles, profiles):
        lines += [f"Profiles: {only}.", ""]
    if one.request:
        lines += ["**Request fields**", "", *_fields(one.request, profiles), ""]
    elif not one.sent:
        lines += ["**Request fields:** none.", ""]
    if one.request_body:
        lines += [
            f"**Request body:** {_body_link(one.request_body)}. {plain(one.request_body_text)}".rstrip(),
            "",
        ]
    elif one.request_body_text:
        lines += [f"**Request body:** {plain(one.request_body_text)}", ""]
    if one.response:
        lines += ["**Response fields**", "", *_fields(one.response, profiles), ""]
    if one.response_body:
        lines += [
            f"**Response body:** {_body_link(one.response_body)}. {plain(one.response_body_text)}".rstrip(),
            "",
        ]
    elif one.response_body_text:
        lines += [f"**Response body:** {plain(one.response_body_text)}", ""]
    if one.codes:
        names = {number.number: number.name for number in messages.responses.codes}
        rows = [[str(number), code(names[number]), plain(when)] for number, when in one.codes.items()]
        lines += ["**Answers**", "", *table(["code:", "name", "when"], rows), ""]
    lines += _statements_about(one, catalogue.statements)
    return lines + _source(one.source)[1:]


def _fields(members: Sequence[Member], profiles: Sequence[str]) -> list[str]:
    rows = [
        [
            code(one.name),
            one.type,
            "yes" if one.required else "",
            plain(one.default or ""),
            profiles_text(one.profiles, profiles),
            plain(one.text),
        ]
        for one in members
    ]
    return table(["field", "type", "needed", "default", "profiles", "meaning"], rows)


def _body_link(name: str) -> str:
    return "properties" if name == "properties" else f"[{name}]({BODIES}#{anchor(name)})"


def _statements_about(message: Message, statements: Sequence[Statement]) -> list[str]:
    """The chapter about it, and the others with the number of their statements that name its code."""
    named = f"({message.code})"
    naming = Counter(one.chapter for one in statements if named in one.stimulus or named in one.text)
    links = [
        f"[{title(chapter)}]({chapter}.md) ({number})"
        for chapter, number in naming.items()
        if chapter != message.chapter
    ]
    if message.chapter is not None:
        number = sum(one.chapter == message.chapter for one in statements)
        links.insert(0, f"chapter [{title(message.chapter)}]({message.chapter}.md) ({number})")
    return ["**Statements:** " + ", ".join(links) + ".", ""] if links else []


# bodies ---------------------------------------------------------------------------------------------


def _bodies(messages: Messages, profiles: Sequence[str]) -> list[str]:
    lines = _head(BODIES)
    lines += [
        "Bodies are JSON in UTF-8, members in alphabetical order when Apache writes them; members that are "
        "null are left out. Lists and maps have no order. There are two ways of writing them:",
        "",
        "- *standard* JSON, which every parser reads: routes for clients of version 401 (4.9.4) and later, "
        "and all bodies without maps whose keys are numbers;",
        '- *legacy* JSON, in which such keys have no quotes (`{0:"10.0.0.1:10911"}`): routes for older '
        "clients, zone-filtered routes, cluster information and broker member groups.",
        "",
    ]
    for body in messages.bodies:
        lines += [f"## {body.name}", "", plain(body.text), ""]
        if only := profiles_text(body.profiles, profiles):
            lines += [f"Profiles: {only}.", ""]
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
        lines += table(["member", "type", "may be absent", "default", "profiles", "meaning"], rows)
        lines += _source(body.source)
    layout = next(one for one in messages.layouts if one.name == "compressed-register-body")
    lines += _layout(layout, profiles)
    content = RegisterBody(
        topics={"T1": TopicConfig(topic_name="T1", read_queue_nums=4, write_queue_nums=8)},
        data_version=DataVersion(counter=7, timestamp=1_700_000_000_000, state_version=3),
        filter_servers=[],
    ).layout(True)
    lines += [
        "One topic with four queues to read from and eight to write to, as 5.x writes it; these bytes are "
        "then compressed.",
        "",
        *_example(walk(layout, content, _NEWEST), content),
    ]
    return lines


def _linked_type(text: str, messages: Messages) -> str:
    names = "|".join(body.name for body in messages.bodies)
    return re.sub(rf"\b({names})\b", lambda found: f"[{found[1]}](#{anchor(found[1])})", text)


# times and settings ---------------------------------------------------------------------------------


def _settings(messages: Messages, profiles: Sequence[str]) -> list[str]:
    lines = _head(SETTINGS)
    lines += ["## Times and limits", ""]
    lines += table(
        ["what", "value", "profiles", "meaning", "source"],
        [
            [one.name, one.value, profiles_text(one.profiles, profiles), plain(one.text), code(one.source)]
            for one in messages.times
        ],
    )
    lines += [
        "",
        "## Settings",
        "",
        f"{len(messages.settings.keys)} keys of the file that a NameServer is started with.",
        "",
    ]
    lines += table(
        ["key", "type", "default", "online", "profiles", "meaning"],
        [
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
    )
    return lines + _source(messages.settings.source)


# differences ----------------------------------------------------------------------------------------


def _differences(messages: Messages, catalogue: Catalogue, profiles: Sequence[str]) -> list[str]:
    lines = _head(DIFFERENCES)
    lines += [
        "What is, and what holds, in some profiles only. A statement of one line often has a counterpart in "
        "another: read a chapter's lists side by side.",
        "",
        "## What there is",
        "",
        *table(["what", "profiles"], _differing(messages, profiles)),
        "",
    ]
    chapters = dict.fromkeys(one.chapter for one in catalogue.statements)
    for chapter in chapters:
        differing = [
            one
            for one in catalogue.statements
            if one.chapter == chapter and set(one.profiles) != _profiles_of(one, catalogue)
        ]
        if not differing:
            continue
        lines += [f"## {title(chapter)}", ""]
        for only in dict.fromkeys(one.profiles for one in differing):
            lines += [f"Only in {' and '.join(only)}:", ""]
            lines += [
                f"- [`{one.id}`]({chapter}.md#{anchor(one.id)}) {one.level}: {plain(one.text)}"
                for one in differing
                if one.profiles == only
            ]
            lines.append("")
    return lines


def _profiles_of(statement: Statement, catalogue: Catalogue) -> set[str]:
    """All that it could be in."""
    return {one.name for one in catalogue.profiles if set(one.roles) & set(statement.roles)}


def _differing(messages: Messages, profiles: Sequence[str]) -> list[list[str]]:
    found: list[tuple[str, Sequence[str]]] = []
    for message in messages.messages:
        found.append((_message_link(message), message.profiles))
        for member in (*message.request, *message.response):
            if not message.profiles:
                found.append((f"field {code(member.name)} of {_message_link(message)}", member.profiles))
    for body in messages.bodies:
        found.append((f"body {_body_link(body.name)}", body.profiles))
        for member in body.members:
            if not body.profiles:
                found.append((f"member {code(member.name)} of {_body_link(body.name)}", member.profiles))
    found += [
        (f"response code {code(one.name)} ({one.number})", one.profiles) for one in messages.responses.codes
    ]
    found += [(f"{one.name}: {one.value}", one.profiles) for one in messages.times]
    found += [(f"setting {code(one.name)}", one.profiles) for one in messages.settings.keys]
    return [[what, text] for what, only in found if (text := profiles_text(only, profiles))]
