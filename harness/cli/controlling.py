"""`serve cluster --control`: the control port, and what is said where the extra is missing."""

from __future__ import annotations

import argparse
from contextlib import nullcontext

from harness.cli.output import say
from harness.cli.parser import Usage
from reference_impl.serve import EXIT_NOT_STARTED, Beside, StartError

LOOPBACK = "127.0.0.1"
EXTRA = ("anyio", "starlette", "uvicorn")


def beside(options: argparse.Namespace, profile: str) -> Beside:
    """What serves the control port beside the cluster. Raises Usage, StartError."""
    if options.control is None:
        if options.control_host or options.control_names:
            name = "--control-host" if options.control_host else "--control-name"
            raise Usage(f"rmq-harness serve cluster: {name} needs --control PORT: the port to listen on")
        return lambda _, __: nullcontext()
    try:
        from harness.control import serving
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in EXTRA:
            raise
        raise StartError(
            f"--control needs {error.name}, which is not installed: pip install 'rmq-harness[control]'",
            EXIT_NOT_STARTED,
        ) from None
    host = options.control_host or LOOPBACK
    try:
        listening = serving.listen(host, options.control)
    except OSError as error:
        raise StartError(
            f"--control: cannot listen on {host}:{options.control}: {error.strerror}; expected an address of "
            "this machine and a free port (0: any)",
            EXIT_NOT_STARTED,
        ) from None
    say(f"control on {serving.url_of(listening)}")
    return serving.control(listening, options.control_names, profile)
