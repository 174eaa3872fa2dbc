"""`python -m bench [NAME…]`: benchmarks, one after the other; they send to loopback only.

Some need Java and Maven.
"""

import argparse
import subprocess
import sys

NAMES = (
    *(
        "codec",
        "store",
        "server",
        "broker",
        "restart",
        "memory",
        "catalogue",
        "flood",
        "testing",
        "advance",
        "machines",
        "campaign",
    ),
)

parser = argparse.ArgumentParser(prog="python -m bench", description="Run benchmarks one after the other.")
parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these (all): {', '.join(NAMES)}")
names = parser.parse_args().names or NAMES
if unknown := [name for name in names if name not in NAMES]:
    parser.error(f"no benchmark {unknown[0]}: expected {', '.join(NAMES)}")
statuses = []
for name in names:
    print(f"{name}", flush=True)
    statuses.append(subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode)
sys.exit(max(statuses))
