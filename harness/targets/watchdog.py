"""Runs one command and does not let it outlive its owner. A program of its own, standard library
only.

    python watchdog.py '{"NAME": "value"}' GRACE COMMAND ARGUMENT…

- It writes the process id of the command to standard output, and nothing else.
- The command runs in its own session and process group, with the given additions to the environment. Its
  output goes where standard error goes.
- When standard input ends (it was closed, or its owner is dead) the group is asked to end (SIGTERM) and after
  GRACE seconds made to (SIGKILL).
- Its exit status is the command's; 128 + N where that was killed by signal N, 127 where there is no such
  command.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys


def main() -> int:
    """Everything."""
    additions, grace, command = json.loads(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, lambda *_: None)
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr.fileno(),
            stderr=sys.stderr.fileno(),
            env=os.environ | additions,
            start_new_session=True,
        )
    except OSError as problem:
        sys.stderr.write(f"{command[0]}: {problem.strerror}\n")
        return 127
    with contextlib.suppress(BrokenPipeError):  # its owner has gone already: standard input says so
        os.write(sys.stdout.fileno(), f"{child.pid}\n".encode())
    while child.poll() is None:
        ready, _, _ = select.select([sys.stdin.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
        if sys.stdin.fileno() in ready and not os.read(sys.stdin.fileno(), 4096):
            _end(child, grace)
    # What the command has left running in its group ends with it.
    _signal(child.pid, signal.SIGKILL)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _end(child: "subprocess.Popen[bytes]", grace: float) -> None:
    _signal(child.pid, signal.SIGTERM)
    try:
        child.wait(grace)
    except subprocess.TimeoutExpired:
        _signal(child.pid, signal.SIGKILL)
        child.wait()


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


if __name__ == "__main__":
    sys.exit(main())
