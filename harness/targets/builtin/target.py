"""The reference NameServer as a target (``in_process``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from harness.catalogue import Role, did_you_mean, nearest_line
from harness.session import DEFAULT_SETUP, Setup, TargetDied, Transport
from harness.targets.capabilities import Capabilities
from harness.targets.in_process import InProcess
from harness.targets.settings import with_controller
from reference_impl.broker import PARTS as BROKER
from reference_impl.certificates import certificates_for
from reference_impl.mutants import MUTANTS, mutants_of, problem_with
from reference_impl.nameserver import PROFILES, Config, Endpoint, build

_PORT = 9876
_EPOCH = 1_800_000_000_000
"""The NameServer's time when its clock begins: later than the data versions of programs and cases, so that
none of them equals one that it makes of its own time.
"""

Made: TypeAlias = Callable[[str, str | None, Setup], InProcess]
"""(profile, mutant, setup) -> a reference that has just started."""


def reference_line(role: Role, profile: str) -> str:
    """The line that the reference of a role serves where this profile is asked for: it knows no other."""
    return nearest_line(profile, PROFILES if role == "nameserver" else BROKER)


def problem_with_mutant(name: str, role: Role, profile: str) -> str | None:
    """Why the reference of a role has no such mutant, or None."""
    found = MUTANTS.get(name)
    if found is not None and role in found.roles:
        return problem_with(found, reference_line(role, profile))
    known = mutants_of(role)
    hint = did_you_mean(name, known)
    return f"there is no mutant {name!r} among {len(known)}{hint and f'; {hint}'}"


def mutant_names(role: Role) -> tuple[str, ...]:
    """The names of all deliberate faults of the reference of a role."""
    return tuple(mutants_of(role))


class BuiltinTarget:
    """``builtin:[PROFILE][?mutant=NAME]``. ``made``: the reference of a role, as an instance."""

    server = None
    waits_alone = False
    capabilities = Capabilities(scheme="builtin", starts="at once", warp=0.0)

    def __init__(self, uri: str, line: str, mutant: str | None, made: Made) -> None:
        self.uri = uri
        self.line: str = line
        self._mutant = mutant
        self._made = made

    def start(self) -> InProcess:
        return self.another()

    def another(self, setup: Setup = DEFAULT_SETUP) -> InProcess:
        return self._made(self.line, self._mutant, setup)


class BuiltinInstance(InProcess):
    """A reference NameServer."""

    title = "NameServer"
    server = f"127.0.0.1:{_PORT}"

    def __init__(self, profile: str, mutant: str | None, setup: Setup = DEFAULT_SETUP) -> None:
        placed = with_controller(dict(setup), _PORT)
        super().__init__(profile, mutant, tuple(placed.items()), _EPOCH)

    def open_controller(self) -> Transport:
        endpoint = self._endpoint
        assert isinstance(endpoint, Endpoint)
        if endpoint.controller is None:
            raise TargetDied("the built-in target has no controller")
        return self._opened(endpoint.connected_to_controller)

    def _build(self) -> Endpoint:
        stored = self._stored()
        written = stored.get("configStorePath")
        line = reference_line("nameserver", self._profile)
        return build(
            line,
            config=Config.of(self._setup, line) if written is None else Config.from_properties(written, line),
            kv=stored.get("kvConfigPath"),
            replicas=stored.get("controllerStorePath"),
            mutant=self._mutant,
            started=self._time,
            certificates=certificates_for(self._setup, lambda _: None),
        )
