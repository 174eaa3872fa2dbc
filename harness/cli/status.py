"""Exit statuses of the command line. Those of a run are computed in `harness.report.verdicts`."""

from typing import Final

OK: Final = 0
FAILED: Final = 1
INCONCLUSIVE: Final = 2
USAGE: Final = 3
HARNESS_FAILED: Final = 4
INTERRUPTED: Final = 130
