"""Programs of damaged frames, made by Hypothesis.

- Valid traffic of every request code that the catalogue knows, in both serializations, is what damages begin
  from; half of the programs begin from a program of the corpus instead, and add to it or take from it.
- Most steps have one damage, so that its effect on the server can be told; some have none, or three.
- Nothing here makes a server of Apache's unusable for the programs that follow: settings that are known are
  not changed, and bodies inflate to a few MiB.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, TypeVar

import msgspec
from hypothesis import strategies as st

from harness.catalogue import messages
from harness.program.damages import (
    AnyDamage,
    Bits,
    Body,
    Bomb,
    Bytes,
    Cut,
    Deep,
    Entry,
    HeaderText,
    Length,
    Many,
    Member,
    Number,
    Raw,
)
from harness.program.frames import code_of
from harness.program.nameserver import steps as ns
from harness.program.steps import AnyStep

Program = tuple[AnyStep, ...]

_Item = TypeVar("_Item")

_NUMBERS: Final = (
    0, 1, 2, 3, 4, 7, -1, 127, 128, 255, 256, 412, 413, 475, 477, 32767, 32768, 65535, 65536, 65641,
    999, 1 << 30,
    -(1 << 31), (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 105, 1 << 63, 10**30,
)  # fmt: skip
_INT32: Final = tuple(number for number in _NUMBERS if -(1 << 31) <= number < 1 << 31)
_VALUES: Final = (
    "null", "true", '""', '"x"', '"105"', '" 105"', "-0", "1.5", "1e1", "1e10", "[]", "[1]",
    "[1,2]", "{}", '{"a":1}',
    '"null"', "NaN", "'x'", "0x10", "007", "+1", "-", '"\\u0000"', '"\\ud800"',
    "undefined", '"1.0"', "2147483648",
    "-2147483649", '"go"', '"NODE_JS"', '"COBOL"', "9", "12", "99", "-7", '"ROCKETMQ"',
    "[[]]", '"4294967296"',
)  # fmt: skip
_MEMBERS: Final = (
    "code", "opaque", "flag", "version", "language", "remark", "extFields", "serializeTypeCurrentRPC",
    "x", "CODE", "Opaque", "body", "@type", "", "é",
)  # fmt: skip
_KEYS: Final = (
    "topic", "namespace", "key", "value", "brokerName", "brokerAddr", "brokerId", "clusterName",
    "haServerAddr",
    "compressed", "bodyCrc32", "heartbeatTimeoutMillis", "cluster", "x", "", "@type", "é",
    "acceptStandardJsonOnly",
)  # fmt: skip
_TEXTS: Final = (
    "", "0", "-1", "+5", "05", " 7", "5.0", "x", "true", "TRUE", "yes", "null", "é", "\u2028",
    "../../etc/passwd",
    "9223372036854775808", "a" * 300, '"', "\\", "\0",
)  # fmt: skip
_RAWS: Final = ("1", "-7", "true", "false", "null", "1.5", "[1]", '{"a":1}', '"\\u00e9"', "0", "1e3")
_INSERTS: Final = (
    "", " ", "\n", ",", ":", "{", "}", "[", "]", '"', "'", "\\", "\0", "\xff", "\xc3\x28",
    "\xed\xa0\x80", "/*c*/",
    "//\n", "\xef\xbb\xbf", "a", "0", "null", "\t",
)  # fmt: skip
_RAW_DATA: Final = (
    "GET / HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\n\r\n", "\0\0\0\0", "\0\0\0\3abc", "\0\0\0\4\0\0\0\0",
    "\0\0\0\4\1\0\0\0", "\xff\xff\xff\xff", "\x80\0\0\0", "\0\xff\xff\xfd", "\x7f\xff\xff\xff",
    "\0\xff\xff\xfc\0",
    "\x16\x03\x01\0\5hello", "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n", "\0", "\0\0\0\x19\2\0\0\x15",
    "\0\0\0\x06\0\0\0\2{}", "\0\0\0\x06\0\0\0\2[]", "\0\0\0\x08\0\0\0\4null",
)  # fmt: skip
_CONNECTIONS: Final = ("q", "r")
_SIMPLE: Final[tuple[type[Any], ...]] = (
    ns.Unregister,
    ns.Heartbeat,
    ns.Route,
    ns.ClusterInfo,
    ns.Topics,
    ns.MemberGroup,
    ns.DeleteTopic,
    ns.RegisterTopic,
    ns.TopicsOfCluster,
    ns.SystemTopics,
    ns.Configuration,
)
"""Requests of which nothing but how they are written is varied."""
_PLAIN: Final[tuple[ns.AnyRequest, ...]] = (
    ns.ClusterInfo(),
    ns.SystemTopics(),
    ns.Topics(),
    ns.Route(),
    ns.Unknown(),
)
_WARM: Final = ns.ClusterInfo()
_WRITES: Final[Program] = tuple(ns.Kv(code=100, key=key, value="before") for key in ("x", "y"))
_READS: Final[Program] = tuple(ns.Kv(code=101, key=key) for key in ("x", "y"))


def _weighted(*strategies: st.SearchStrategy[_Item]) -> st.SearchStrategy[_Item]:
    """One of them; `one_of` would count those that are the same as one."""
    return st.integers(0, len(strategies) - 1).flatmap(lambda at: strategies[at])


@cache
def requests() -> st.SearchStrategy[ns.AnyRequest]:
    """A request of any code, as a peer might write it."""
    common = {"binary": st.booleans(), "oneway": st.sampled_from((False, False, False, True))}
    kv = st.builds(
        ns.Kv,
        code=st.sampled_from((100, 100, 101, 101, 102, 219)),
        key=st.sampled_from(("x", "y")),
        value=st.sampled_from(("v", "w", "é", "\u4f60")),
        **common,
    )
    register = st.builds(
        ns.Register,
        topics=st.just({"T0": (4, 4, 6, 0), "T1": (4, 4, 6, 0)}),
        form=st.sampled_from(
            ("json", "json", "compressed-5", "compressed-5", "compressed", "none", "garbage")
        ),
        crc=st.sampled_from(("right", "right", "none", "wrong")),
        **common,
    )
    return _weighted(
        *[kv] * 4,  # what they say comes back
        *[register] * 4,  # they have the most to say
        st.builds(ns.Unknown, code=st.sampled_from((999, -1, 0, 10, 17, 25, 1009, 905, 65641)), **common),
        st.builds(ns.QueryVersion, form=st.sampled_from(("json", "none", "garbage")), **common),
        st.builds(ns.Permission, code=st.sampled_from((205, 327)), **common),
        st.builds(ns.Unit, code=st.sampled_from((311, 312, 313)), **common),
        st.builds(ns.Configure, lines=st.sampled_from(((), ("unknownKey=1",))), **common),
        *(st.builds(kind, **common) for kind in _SIMPLE),
    )


@cache
def damages() -> st.SearchStrategy[AnyDamage]:
    """Something that is wrong with a frame."""
    near = st.sampled_from((-21, -8, -4, -3, -2, -1, 1, 2, 3, 4, 8, 100, 1000))
    anywhere = st.integers(-160, 160)
    how = st.sampled_from(("set", "set", "set", "first", "last", "remove"))
    few = st.sampled_from((0, 0, 1, 1, 2, 5))
    numbers = st.sampled_from(_NUMBERS)
    return _weighted(
        st.builds(Number, name=st.sampled_from(("code", "flag", "opaque", "version")), value=numbers),
        st.builds(Number, name=st.just("flag"), value=st.sampled_from(_INT32)),
        st.builds(Number, name=st.just("language"), value=st.sampled_from((0, 3, 9, 12, 13, 14, 99, 255))),
        st.builds(Number, name=st.just("opaque"), value=st.sampled_from((-1, -(1 << 31), (1 << 31) - 1))),
        st.builds(Member, name=st.sampled_from(_MEMBERS), value=st.sampled_from(_VALUES), how=how),
        st.builds(Member, name=st.sampled_from(_MEMBERS), value=numbers.map(str), how=how),
        st.builds(Member, name=st.sampled_from(_MEMBERS[:8]), how=st.just("remove")),
        st.builds(Entry, key=st.sampled_from(_KEYS), value=st.sampled_from(_TEXTS), how=how),
        st.builds(
            Entry, key=st.sampled_from(_KEYS[:12]), value=st.sampled_from(_RAWS), json=st.just(True), how=how
        ),
        st.builds(Many, count=st.sampled_from((1, 1, 2, 3, 3, 40, 40, 300, 300, 5000))),
        st.builds(
            Deep,
            where=st.sampled_from(("member", "ext", "body")),
            depth=st.sampled_from((1, 5, 100, 2000, 20000)),
            objects=st.booleans(),
        ),
        st.builds(
            Length,
            of=st.sampled_from(("frame", "header", "type", "remark", "ext", "key", "value")),
            value=near,
        ),
        st.builds(
            Length,
            of=st.sampled_from(("frame", "header", "type", "remark", "ext", "key", "value")),
            value=numbers,
            absolute=st.just(True),
        ),
        st.builds(HeaderText, at=anywhere, remove=few, insert=st.sampled_from(_INSERTS)),
        st.builds(HeaderText, at=st.sampled_from((0, 1, -1)), remove=few, insert=st.sampled_from(_INSERTS)),
        st.builds(Body, at=anywhere, remove=few, insert=st.sampled_from(_INSERTS)),
        st.builds(Bomb, kib=st.sampled_from((1, 64, 1024, 20 * 1024))),
        st.builds(Bytes, at=anywhere, remove=few, insert=st.sampled_from(_INSERTS)),
        st.builds(Bits, at=anywhere, mask=st.sampled_from((1, 2, 4, 8, 16, 32, 64, 128, 255))),
        st.builds(Cut, keep=st.integers(0, 60) | st.integers(-60, -1)),
        st.builds(Raw, data=st.sampled_from(_RAW_DATA)),
    )


_ODD: Final = ("", "", "é", "\u4f60", "null", "../../etc/passwd", "\u2028", "a" * 300)
_OF_TYPE: Final = {
    "int32": (
        "x",
        "",
        " 0",
        "0 ",
        "0.0",
        "+0",
        "00",
        "+1",
        "01",
        "-1",
        "2147483648",
        "9223372036854775808",
        "1e0",
    ),
    "boolean": ("TRUE", "True", "yes", "1", " true", "FALSE", "false", "true", ""),
}


@cache
def _field_damages(code: int) -> st.SearchStrategy[AnyDamage]:
    """What may be wrong with the fields that requests of a code have."""
    found: list[st.SearchStrategy[AnyDamage]] = []
    for message in messages().of("nameserver"):
        for field in message.request if message.code == code else ():
            texts = _OF_TYPE.get(field.type.replace("int64", "int32"), _ODD)
            one = st.builds(Entry, key=st.just(field.name), value=st.sampled_from(texts))
            found += [one] * (2 if texts is _ODD else 6)
            found.append(st.just(Entry(key=field.name, how="remove")))
            found.append(
                st.builds(Entry, key=st.just(field.name), value=st.sampled_from(_RAWS), json=st.just(True))
            )
    return _weighted(*found) if found else damages()


_DAMAGED: Final = (0, 1, 1, 1, 1, 1, 2, 3)


@st.composite
def _step(draw: st.DrawFn) -> ns.Damaged:
    """A damaged frame: half of what is wrong is wrong with the fields that its code has."""
    base = draw(requests())
    done = []
    for _ in range(draw(st.sampled_from(_DAMAGED))):
        of_fields = draw(st.booleans())
        done.append(draw(_field_damages(int(code_of(base))) if of_fields else damages()))
    around = st.lists(st.sampled_from(_PLAIN), max_size=2)
    return ns.Damaged(
        conn=draw(st.sampled_from(_CONNECTIONS)),
        base=base,
        damages=tuple(done),
        before=tuple(draw(around)) if draw(st.integers(0, 3)) == 0 else (),
        after=tuple(draw(around)) if draw(st.integers(0, 3)) == 0 else (),
        cuts=tuple(draw(_CUTS)) if draw(st.integers(0, 3)) == 0 else (),
    )


_CUTS: Final = st.lists(st.integers(-30, 60), max_size=3)


def programs(seeds: Sequence[Program] = (), *, longest: int = 4) -> st.SearchStrategy[Program]:
    """A program: a request that begins the connection, damaged frames, and what they left behind."""
    if not seeds:
        return _new(longest)
    grown = st.builds(_grown, st.integers(0, 1 << 30), _step(), st.integers(0, 3))
    return st.one_of(_new(longest), grown.map(lambda grow: (*grow(seeds), *_READS)))


@cache
def _new(longest: int) -> st.SearchStrategy[Program]:
    return st.builds(
        _whole, st.sampled_from((True, True, True, False)), st.lists(_step(), min_size=1, max_size=longest)
    )


def _whole(warm: bool, steps: list[ns.Damaged]) -> Program:
    first: Program = (msgspec.structs.replace(_WARM, conn=steps[0].conn), *_WRITES) if warm else ()
    return (*first, *steps, *_READS)


def _grown(which: int, step: ns.Damaged, how: int) -> Any:
    """From a program of the corpus to another: a step more, damages more, another base, another step."""

    def grow(seeds: Sequence[Program]) -> Program:
        program = seeds[which % len(seeds)]
        places = [at for at, one in enumerate(program) if isinstance(one, ns.Damaged)]
        if not places or how == 0:
            return (*program, step)
        at = places[which // 7 % len(places)]
        old = program[at]
        assert isinstance(old, ns.Damaged)
        if how == 1:
            new = msgspec.structs.replace(old, damages=(*old.damages, *step.damages)[:4])
        elif how == 2:
            new = msgspec.structs.replace(old, base=step.base)
        else:
            new = step
        return (*program[:at], new, *program[at + 1 :])

    return grow
