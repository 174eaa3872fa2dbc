"""The command line on a machine that lacks what only POSIX has: `python no_posix.py ARGUMENT…`.

It hides the modules and functions that Python has on Linux and macOS alone. What remains is what Python has
on Windows, except that paths, sockets and processes are still those of this machine.
"""

from __future__ import annotations

import importlib.abc
import os
import select
import signal
import sys
from importlib.machinery import ModuleSpec
from typing import NoReturn

MODULES = """
_curses crypt curses fcntl grp nis ossaudiodev pty pwd readline resource spwd syslog termios tty uvloop
"""
# Without `os.uname`: NumPy asks for it where `sys.platform` says Linux.
OF_OS = """
O_CLOEXEC O_NONBLOCK chown fchmod fork forkpty getegid geteuid getgid getgroups getloadavg getpgid getpgrp
getuid killpg mkfifo nice pread preadv pwrite pwritev register_at_fork sched_getaffinity sched_yield sendfile
setpgid setsid statvfs sysconf wait wait3 wait4
"""
OF_SIGNAL = """
SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGQUIT SIGTSTP SIGUSR1 SIGUSR2 SIGXCPU SIGXFSZ alarm getitimer
pthread_kill pthread_sigmask setitimer siginterrupt sigpending sigwait
"""
OF_SELECT = "epoll poll"
HIDDEN_MODULES = frozenset(MODULES.split())


class _Hidden(importlib.abc.MetaPathFinder):
    """Says of those modules that there is no such module."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name.partition(".")[0] in HIDDEN_MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def _not_here(*_: object) -> NoReturn:
    raise NotImplementedError  # as a loop of Windows


def hide() -> None:
    """Hides them from what is imported or called from now on."""
    for name in [name for name in sys.modules if name.partition(".")[0] in HIDDEN_MODULES]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Hidden())
    for module, names in ((os, OF_OS), (signal, OF_SIGNAL), (select, OF_SELECT)):
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    import asyncio  # behind: it takes what there is

    for added in ("add_signal_handler", "remove_signal_handler"):
        setattr(asyncio.SelectorEventLoop, added, _not_here)


if __name__ == "__main__":
    hide()
    from harness.cli import main

    sys.exit(main())
