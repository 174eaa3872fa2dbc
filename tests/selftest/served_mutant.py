"""The reference as a server, with one deliberate fault or none: served_mutant.py PROFILE MUTANT PORT DIR
[SETTINGS].
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

from reference_impl.serve import nameserver

if __name__ == "__main__":
    profile, mutant, port, directory, *settings = sys.argv[1:]
    if mutant != "none":
        nameserver.build = functools.partial(nameserver.build, mutant=mutant)
    # The harness restarts it with the same directory: what must survive a restart stands there.
    kv_file = Path(directory) / "kvConfig.json"
    config_file = settings[0] if settings else None
    sys.exit(
        nameserver.run(
            profile=profile, host="127.0.0.1", port=int(port), kv_file=kv_file, config_file=config_file
        )
    )
