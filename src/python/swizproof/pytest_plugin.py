"""A plugin of pytest: `--swizproof-excess N` fails each test that compiles or launches a kernel with an access of more than N wavefronts above the ideal number."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Iterator

import pytest

from ._errors import InputError
from ._recording import recording


def pytest_addoption(parser: Any) -> None:
    """Adds the options."""
    group = parser.getgroup("swizproof", "bank conflicts of the kernels that a test compiles or launches (Triton, torch.compile, Numba, CuTe DSL)")
    group.addoption(
        "--swizproof-excess", type=int, metavar="N", help="fail tests with a shared-memory access of more than N wavefronts above the ideal number, or with one that is not decided"
    )
    group.addoption("--swizproof-races", action="store_true", help="also fail tests with a race for shared memory, or with one that is not decided; without --swizproof-excess with a budget of 0")
    group.addoption("--swizproof-undecided", choices=("fail", "allow"), default="fail", help="allow: accesses that are not decided fail no test")


def pytest_configure(config: Any) -> None:
    """Describes the marker, and refuses a budget that is none."""
    config.addinivalue_line("markers", "swizproof(excess=N, data='allow', undecided='fail', races=False): the budget of this test, in place of --swizproof-excess")
    excess = config.getoption("--swizproof-excess")
    if excess is not None and excess < 0:
        raise pytest.UsageError("--swizproof-excess is a number of wavefronts from 0 on, such as --swizproof-excess 0")
    config.swizproof_kernels = 0


def _excess(config: Any) -> Any:
    """The budget of all tests, or None if they have none."""
    excess = config.getoption("--swizproof-excess")
    return 0 if excess is None and config.getoption("--swizproof-races") else excess


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: Any) -> Iterator[None]:
    """Runs a test that has a budget within a recording."""
    marker, excess = item.get_closest_marker("swizproof"), _excess(item.config)
    original = getattr(item, "obj", None)
    if original is None or (marker is None and excess is None):
        yield
        return
    options = {"excess": excess or 0, "races": item.config.getoption("--swizproof-races"), "undecided": item.config.getoption("--swizproof-undecided"), **(marker.kwargs if marker else {})}
    item.obj = _checked(original, item.config, options)
    try:
        yield
    finally:
        item.obj = original


def _checked(test: Any, config: Any, options: Any) -> Any:
    """The test within a recording that counts its kernels."""

    def budget() -> recording:
        try:
            return _Counting(config, empty="allow", **options)
        except (InputError, TypeError) as error:
            pytest.fail(f"the marker swizproof: {error}", pytrace=False)

    if inspect.iscoroutinefunction(test):

        @functools.wraps(test)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            with budget():
                return await test(*args, **kwargs)

        return awaited

    @functools.wraps(test)
    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        with budget():
            return test(*args, **kwargs)

    return called


class _Counting(recording):
    def __init__(self, config: Any, **options: Any) -> None:
        super().__init__(**options)
        self._config = config

    def decide(self) -> None:
        super().decide()
        self._config.swizproof_kernels += len(self.claims) + len(self.not_read)


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    """Says how many kernels were checked: a run without one proves nothing."""
    if _excess(config) is None or config.getoption("dist", "no") != "no":
        return
    count = config.swizproof_kernels
    terminalreporter.write_line(f"swizproof: {count} kernels checked" if count else "swizproof: no kernel was compiled or launched by Triton, torch.compile, Numba or CuTe DSL")
