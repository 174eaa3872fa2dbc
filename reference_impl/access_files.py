"""The files of access control below a Broker's home: `conf/plain_acl.yml`, and those of `conf/acl`.

Source: PlainPermissionManager#getAllAclFiles of rocketmq-all-4.9.8.
"""

from __future__ import annotations

from pathlib import Path

_BELOW = "conf/"


def files_of_access(home: str) -> dict[str, bytes]:
    """The files that are there, by their names below the home; none without a home. Raises OSError."""
    if not home:
        return {}
    root = Path(home)
    several = [path for path in (root / "conf" / "acl").rglob("*") if path.suffix in (".yml", ".yaml")]
    default = root / "conf" / "plain_acl.yml"
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in (*several, default) if path.is_file()
    }


def is_of_access(name: str) -> bool:
    """Whether a file that a Broker writes lies below its home, and not in its store."""
    return name.startswith(_BELOW)
