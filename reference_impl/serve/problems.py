"""What is said to the person who started a server, and how it ends when it cannot go on.

Rule: a person's mistake (configuration, occupied port, unreadable file) ends in one clear line and an exit
status, never in a stack trace. The statuses are those of the project (3: usage or configuration, 4: cannot be
started), which tell more than Apache's 1 and 255.
"""

import sys

EXIT_CONFIGURATION = 3
"""Exit status for a configuration that cannot be used."""
EXIT_NOT_STARTED = 4
"""Exit status for a server that cannot be started, or cannot go on: port, file, store."""


class StartError(Exception):
    """The server cannot start, or cannot go on. The text is for people; `status` is the exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def say(text: str) -> None:
    """A line on standard output."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def complain(text: str) -> None:
    """A line on standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
