"""The reference NameServer: bytes and time in, effects out. `build` makes one.

    endpoint = build("5.3", config=Config(support_acting_master=True))
    endpoint.connected(1, "10.0.0.9:40000", now=0)
    for effect in endpoint.received(1, frame, now=5): ...

Everything about calling it is in `endpoint.py`; everything about changing one decision is in `parts.py`.
"""

from reference_impl.remoting.effects import Close, Effect, Notify, Persist, Send
from reference_impl.remoting.endpoint import Certificates, no_certificate
from reference_impl.remoting.errors import ConfigError
from reference_impl.remoting.parts import Parts
from reference_impl.remoting.profiles import PROFILES
from reference_impl.remoting.tls_settings import TlsSettings

from .config import Config
from .controller import Controller, ControllerConfig, ControllerSettings, StoredReplicasError
from .endpoint import Endpoint
from .kv import KvError
from .parts import PARTS
from .settings import Settings

__all__ = [
    "PARTS",
    "PROFILES",
    "Certificates",
    "Close",
    "Config",
    "ConfigError",
    "ControllerConfig",
    "Effect",
    "Endpoint",
    "KvError",
    "Notify",
    "Parts",
    "Persist",
    "Send",
    "Settings",
    "StoredReplicasError",
    "TlsSettings",
    "build",
]


def build(
    profile: str = "5.5",
    *,
    config: Config | None = None,
    kv: bytes | None = None,
    replicas: bytes | None = None,
    parts: Parts | None = None,
    mutant: str | None = None,
    started: int = 0,
    certificates: Certificates = no_certificate,
) -> Endpoint:
    """A NameServer that has just started.

    `profile` is "4.9", "5.3" or "5.5"; `kv` is the content of the KV file (None: there is none; raises
    KvError if it cannot be read), `replicas` that of the controller's (raises StoredReplicasError), if the
    settings ask for one; `parts` stands in for the profile's own; `mutant` is the name of a
    deliberate fault to apply to them (raises KeyError for an unknown one, ValueError for one that does not
    apply to the profile); `started` is the time, in ms since the epoch; `certificates` is asked once for each
    TLS connection.
    """
    if profile not in PARTS:
        raise ValueError(f"unknown profile {profile!r}; expected one of {', '.join(PARTS)}")
    chosen = PARTS[profile] if parts is None else parts
    if mutant is not None:
        # Mutants are made of these parts, so that module can only be imported when this one is complete.
        from reference_impl.mutants import apply

        chosen = apply(mutant, chosen)
    given = Config() if config is None else config
    settings = chosen["settings"](chosen.profile, given)
    table = chosen["kv"]()
    table.load(kv)
    nameserver = chosen["nameserver"](settings, chosen["routes"](settings), table, started)
    controller = None
    if given.has_controller(chosen.profile.v5):
        controller = _controller(chosen, ControllerConfig.of(given.file, profile), replicas, started)
    endpoint: Endpoint = chosen["endpoint"](nameserver, started, certificates, controller)
    return endpoint


def _controller(parts: Parts, config: ControllerConfig, stored: bytes | None, started: int) -> Controller:
    settings, heartbeats = ControllerSettings(config), parts["heartbeats"]()
    replicas = parts["replicas"]()
    replicas.load(stored)
    election = parts["election"](settings, heartbeats)
    controller: Controller = parts["controller"](
        parts.profile, settings, replicas, heartbeats, election, started
    )
    return controller
