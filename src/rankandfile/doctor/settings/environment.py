"""An environment as settings: this process's own, ``env`` output, ``/proc/PID/environ``, an env file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rankandfile.model.settings import Launcher, Place, Setting, Settings

from .plain import NAME, never_expanded, short

_MOST = 20_000


def read_dump(text: str, file: str) -> Settings:
    """``NAME=value`` lines, or records ended by zero bytes; other lines go on with the value above."""
    records = text.split("\0") if "\0" in text else text.split("\n")
    lined = "\0" not in text
    return _settings(
        (
            (name, value, line if lined else None)
            for line, record in enumerate(records, start=1)
            for name, equals, value in [record.partition("=")]
            if equals and NAME.match(name)
        ),
        file,
    )


def read_mapping(environment: Mapping[str, str], file: str) -> Settings:
    """An environment that is at hand, such as this process's."""
    return _settings(((name, value, None) for name, value in sorted(environment.items())), file)


def _settings(records: Iterable[tuple[str, str, int | None]], file: str) -> Settings:
    settings = [
        Setting(
            name=name,
            value=_unquoted(short(value)),
            place=Place(file=file, line=line),
            unexpanded=never_expanded(_unquoted(value)),
        )
        for (name, value, line), _ in zip(records, range(_MOST), strict=False)
    ]
    by_name = {setting.name: setting.value or "" for setting in settings}
    prefixes = (by_name.get("VIRTUAL_ENV"), by_name.get("CONDA_PREFIX"))
    return Settings(
        place=Place(file=file),
        launcher=_launcher(by_name),
        settings=tuple(settings),
        environment_only=True,
        prefixes=tuple(prefix for prefix in prefixes if prefix),
    )


def _launcher(names: Mapping[str, str]) -> Launcher:
    if "KUBERNETES_SERVICE_HOST" in names:
        return "kubernetes"
    return "slurm" if "SLURM_JOB_ID" in names else "shell"


def _unquoted(value: str) -> str:
    """Env files may quote; a real environment hardly ever holds a value that begins and ends with one quote."""
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value
