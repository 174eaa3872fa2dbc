"""What a user types."""

from __future__ import annotations

import pytest

from harness.targets import TargetError, parse, spelled_out


@pytest.mark.parametrize(
    ("uri", "line"),
    [
        ("builtin:", "5.5"),
        ("builtin:4.9", "4.9"),
        ("builtin:5.3?mutant=unregistration-is-ignored", "5.3"),
        ("tcp://127.0.0.1:9876", None),
        ("tcp://[::1]:9876", None),
        ("exec:./ns --port {port} --what='a b'", None),
        ("exec:./ns {port} --url http://x/?a=b&c -q", None),
        ("exec:./ns {port}?warp=60", None),
        ("apache:4.9.8?warp=60", "4.9"),
        ("apache:5.5.0", "5.5"),
    ],
)
def test_good_ones(uri: str, line: str | None) -> None:
    target = parse(uri)
    assert (target.uri, target.line) == (uri, line)


@pytest.mark.parametrize(
    ("uri", "starts", "clock", "warp", "is_here"),
    [
        ("builtin:", "at once", "virtual", 0.0, True),
        ("tcp://127.0.0.1:9876", "never", "real", 1.0, True),
        ("tcp://[::1]:9876", "never", "real", 1.0, True),
        ("tcp://192.0.2.1:9876", "never", "real", 1.0, False),
        ("exec:./ns {port}", "soon", "real", 1.0, True),
        ("exec:./ns {port} warp=3", "soon", "real", 1.0, True),
        ("exec:./ns {port}?warp=2.5", "soon", "warped", 2.5, True),
        ("apache:4.9.8?warp=60", "slowly", "warped", 60.0, True),
        ("apache:5.5.0", "slowly", "real", 1.0, True),
        ("docker:apache/rocketmq:5.3.3?warp=20", "slowly", "warped", 20.0, True),
    ],
)
def test_a_target_says_what_it_is(uri: str, starts: str, clock: str, warp: float, is_here: bool) -> None:
    target = parse(uri).capabilities
    assert (target.starts, target.clock, target.warp, target.is_here) == (starts, clock, warp, is_here)
    assert target.scheme == uri.partition(":")[0]
    assert target.is_virtual == (target.scheme == "builtin")
    assert target.is_ours == (target.scheme != "tcp")


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("", "one of builtin:"),
        ("builtin", "one of builtin:"),
        ("builtin:4.8", "builtin:5.3"),
        ("builtin:5.3?mutant=unregistration-is-ignore", "did you mean unregistration-is-ignored"),
        ("builtin:5.3?mutant=zzzzzzz", "there is no mutant 'zzzzzzz' among"),
        ("builtin:5.3?mutants=x", "no option but mutant"),
        ("tcp://127.0.0.1", "tcp://127.0.0.1:9876"),
        ("tcp://127.0.0.1:0", "tcp://127.0.0.1:9876"),
        ("tcp://127.0.0.1:99999", "tcp://127.0.0.1:9876"),
        ("tcp://127.0.0.1:1/x", "tcp://127.0.0.1:9876"),
        ("tcp:127.0.0.1:1", "tcp://127.0.0.1:9876"),
        ("exec:", "a command line"),
        ("exec:./ns", "{port} somewhere"),
        ("exec:./ns '{port}", "close the quotes"),
        ("exec:./ns {port}?warp=0.5", "from 1 to 100"),
        ("apache:", "apache:5.3.3"),
        ("apache:latest", "apache:5.3.3"),
        ("apache:5.3.3?warp=fast", "from 1 to 100"),
        ("apache:5.3.3?warp=nan", "from 1 to 100"),
        ("apache:5.3.3?speed=3", "no option but warp"),
    ],
)
def test_bad_ones_say_what_would_be_right(uri: str, message: str) -> None:
    with pytest.raises(TargetError) as caught:
        parse(uri)
    assert message in str(caught.value)
    assert str(caught.value).startswith("expected  ")
    assert "\ndo        " in str(caught.value)


def test_nothing_listens() -> None:
    with pytest.raises(TargetError, match="Connection refused"):
        parse("tcp://127.0.0.1:1").start()


@pytest.mark.parametrize(
    ("uri", "full"),
    [
        ("builtin:", "builtin:5.5"),
        ("builtin:?mutant=leases-never-end", "builtin:5.5?mutant=leases-never-end"),
        ("builtin:5.3?mutant=leases-never-end", "builtin:5.3?mutant=leases-never-end"),
        ("tcp://127.0.0.1:9876", "tcp://127.0.0.1:9876"),
    ],
)
def test_a_target_spelled_out_is_the_same_target(uri: str, full: str) -> None:
    assert spelled_out(uri) == full
    assert getattr(parse(uri), "line", None) == getattr(parse(full), "line", None)
