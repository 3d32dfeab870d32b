"""Waits after failed logins, and the end of sessions."""

from __future__ import annotations

from triplestore.server.access.failures import Failures, network_of
from triplestore.server.access.sessions import Sessions


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_failures__each_wait_is_twice_as_long_up_to_the_longest() -> None:
    clock = Clock()
    failures = Failures(free=3, longest=10.0, clock=clock)
    waits = []
    for _ in range(9):
        clock.now += wait if (wait := failures.begin(["a"])) else 0.0
        waits.append(wait)
    assert waits == [0.0, 0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 4.0, 0.0]
    for _ in range(8):
        clock.now += failures.begin(["a"])
    assert failures.begin(["a"]) <= 10.0


def test_failures__attempts_at_once_count_before_they_have_failed() -> None:
    failures = Failures(free=3, clock=Clock())
    assert [failures.begin(["a"]) > 0 for _ in range(5)] == [False, False, False, True, True]
    assert failures.begin(["b"]) == 0.0


def test_failures__success_and_time_forget_them() -> None:
    clock = Clock()
    failures = Failures(free=1, forgotten=900.0, clock=clock)
    failures.begin(["a"])
    assert failures.begin(["a"]) > 0
    failures.succeeded(["a"])
    assert failures.begin(["a"]) == 0.0
    clock.now += 901
    assert failures.begin(["a"]) == 0.0


def test_failures__many_addresses_take_bounded_memory() -> None:
    failures = Failures(clock=Clock())
    for number in range(10_050):
        failures.begin([str(number)])
    assert len(failures._found) == 10_000


def test_network__of_addresses() -> None:
    assert network_of("2001:db8:1:2:3::1") == network_of("2001:db8:1:2:ffff::9")
    assert network_of("2001:db8:1:2::1") != network_of("2001:db8:1:3::1")
    assert network_of("::ffff:192.0.2.7") == network_of("192.0.2.7") == "192.0.2.7"
    assert network_of("fe80::1%eth0") == "fe80::/64"
    assert network_of("a name") == "a name"


def test_sessions__end_by_time() -> None:
    clock = Clock()
    sessions = Sessions(60.0, clock)
    key = sessions.begin("ada", "x")
    clock.now += 59
    assert sessions.holder_of(key) == ("ada", "x")
    clock.now += 1
    assert sessions.holder_of(key) is None
    assert sessions.holder_of("guess") is None


def test_sessions__have_keys_of_their_own_and_no_end_of_memory() -> None:
    sessions = Sessions(60.0, Clock())
    first = sessions.begin("ada", "x")
    assert first != sessions.begin("ada", "x")
    for _ in range(10_000):
        sessions.begin("bob", None)
    assert sessions.holder_of(first) is None
