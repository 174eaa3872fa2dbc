"""Types of members: what is written for people means one thing to programs, and anything else is refused."""

from __future__ import annotations

import pytest

from harness.catalogue import messages
from harness.catalogue.types import (
    Anything,
    Boolean,
    Integer,
    ListOf,
    MapOf,
    Named,
    Number,
    Text,
    Type,
    Words,
    type_of,
)

BODIES = {body.name for body in messages().bodies}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("text", Text()),
        ("text, ip:port", Text("ip:port")),
        ("address", Text("address")),
        ("int32", Integer(32)),
        ("int64 or its text", Integer(64, or_text=True)),
        ("double", Number()),
        ("boolean", Boolean()),
        ("map", Anything()),
        ("DataVersion", Named("DataVersion")),
        ("SINGLE_TAG or MULTI_TAG", Words(("SINGLE_TAG", "MULTI_TAG"))),
        ("PULL, POP or PUSH", Words(("PULL", "POP", "PUSH"))),
        ("list of text", ListOf(Text())),
        ("map of cluster to list of broker names", MapOf(Text("cluster"), ListOf(Text("broker name")))),
        ("map of text to map of int32 to int64", MapOf(Text(), MapOf(Integer(32), Integer(64)))),
        ("list of map of group to DataVersion", ListOf(MapOf(Text("group"), Named("DataVersion")))),
    ],
)
def test_what_is_written_has_a_meaning(said: str, meant: Type) -> None:
    assert type_of(said, BODIES) == meant


@pytest.mark.parametrize(
    "said",
    ["", "number", "Version", "list", "list of", "map of text", "text or its text", "map to text", "WORD"],
)
def test_anything_else_is_refused(said: str) -> None:
    with pytest.raises(ValueError, match="no type"):
        type_of(said, BODIES)


def test_edges_of_integers() -> None:
    assert (Integer(8).least, Integer(8).most) == (-128, 127)
    assert (Integer(64).least, Integer(64).most) == (-(2**63), 2**63 - 1)
