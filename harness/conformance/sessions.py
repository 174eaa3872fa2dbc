"""The session for the cases of a role."""

from __future__ import annotations

from typing import cast

from harness.catalogue import Role
from harness.session import (
    BrokerInstance,
    BrokerSession,
    Instance,
    NameServerInstance,
    NameServerSession,
    Session,
)
from harness.session.futile import FutileWaits


def session_of(
    role: Role,
    instance: Instance,
    profile: str,
    *,
    case: str = "",
    target: str = "",
    suite: str = "",
    deadline: float = 60.0,
    futile: FutileWaits | None = None,
    seed: str | None = None,
) -> Session:
    """A session with the target; ``instance`` is one of the role. ``seed`` makes the names, which are new
    each time without one.
    """
    line = profile
    if role == "broker":
        return BrokerSession(
            cast(BrokerInstance, instance),
            line,
            case=case,
            target=target,
            suite=suite,
            deadline=deadline,
            futile=futile,
            seed=seed,
        )
    return NameServerSession(
        cast(NameServerInstance, instance),
        line,
        case=case,
        target=target,
        suite=suite,
        deadline=deadline,
        futile=futile,
        seed=seed,
    )
