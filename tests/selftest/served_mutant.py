"""The reference as a server, with one deliberate fault or none: served_mutant.py PROFILE MUTANT|none PORT."""

from __future__ import annotations

import functools
import sys

from reference_impl.serve import nameserver

if __name__ == "__main__":
    profile, mutant, port = sys.argv[1:]
    if mutant != "none":
        nameserver.build = functools.partial(nameserver.build, mutant=mutant)
    # The harness restarts it in the same directory: what must survive a restart stands there.
    sys.exit(nameserver.run(profile=profile, host="127.0.0.1", port=int(port), kv_file="kvConfig.json"))
