"""`pytest --raf`: distributed tests that hang are stopped, and fail with the reason.

Every pytest of an environment with this package loads this file: without the option it does nothing more.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("raf", "hangs of distributed tests (Rank & File)")
    group.addoption(
        "--raf",
        action="store_true",
        help="Record the calls of distributed tests; stop one that hangs, and let it fail with the reason.",
    )
    group.addoption(
        "--raf-stall",
        type=float,
        metavar="SECONDS",
        help="Look why when nothing has moved for so long. Default: 10 s, or five times the longest pause so far.",
    )
    group.addoption(
        "--raf-out", default="raf-cases", metavar="DIR", help="Folder for the cases. Default: raf-cases."
    )


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--raf") or config.getoption("--collect-only"):
        return
    from rankandfile.capture.testing.hooks import begin

    if (watched := begin(config)) is None:
        return
    import sys

    # From here on every process that a test starts records, and this one as well.
    if (c10d := sys.modules.get("torch.distributed.distributed_c10d")) is not None:
        from rankandfile.runtime.injected import before_first_group

        before_first_group(c10d)
    else:
        from importlib import import_module

        import_module("rankandfile.runtime.inject.sitecustomize")
    config.pluginmanager.register(watched, "raf-watched")
