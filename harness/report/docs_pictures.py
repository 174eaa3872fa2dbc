"""The pictures of the rendered document. Each is a template; numbers in it come from a profile."""

from __future__ import annotations

from harness.catalogue import Profile
from harness.report.templating import filled

FOLDER = "pictures"
"""Where they lie, below the rendered catalogue."""

NAMES = ("acting-master", "cluster", "lease", "states")


def pictures(profile: Profile) -> dict[str, str]:
    """File name -> SVG."""
    return {
        f"{name}.svg": str(
            filled(
                f"report/templates/docs/pictures/{name}.svg.j2",
                lease=int(profile.lease),
                scan=int(profile.scan_interval),
            )
        ).lstrip()
        for name in NAMES
    }
