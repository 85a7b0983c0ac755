"""``raf tower``: what watchers tell of running jobs, kept for a while and shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from rankandfile.cli.console import err
from rankandfile.cli.errors import UserError, told_as
from rankandfile.cli.extras import brought_by
from rankandfile.cli.panels import LIVE
from rankandfile.cli.tokens import not_guessed

if TYPE_CHECKING:
    from rankandfile.tower.tower import Beside

PANEL = LIVE
ORDER = 45
EXAMPLES = (
    "raf tower",
    "raf tower 0.0.0.0:8770 --token-file token --allow-host tower.example.com",
    "raf tower --store postgresql://raf@db/raf --trust-header X-Forwarded-User",
    "raf tower --redis redis://queue.example.com",
)


def tower(
    address: Annotated[
        str,
        Argument(
            help="Where to listen. Without HOST: for this machine only; elsewhere it needs --token-file.",
            metavar="[[HOST:]PORT]",
        ),
    ] = "8770",
    store: Annotated[
        str,
        Option(
            "--store",
            metavar="FILE|URL",
            help="The SQLite file that it keeps everything in, or a postgresql:// address, which towers may share.",
        ),
    ] = "raf-tower.db",
    redis: Annotated[
        str | None,
        Option(
            "--redis",
            metavar="URL",
            help="Take in what jobs leave in a Redis, too: raf run --tower redis://HOST. Several towers may share it.",
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        Option("--token-file", metavar="FILE", help="Holds what programs send, and people sign in with."),
    ] = None,
    trust_header: Annotated[
        str | None,
        Option(
            "--trust-header",
            metavar="NAME",
            help="A proxy in front says in this header who comes: whoever it names is let in.",
        ),
    ] = None,
    trust_from: Annotated[
        list[str] | None,
        Option(
            "--trust-from",
            metavar="ADDRESS",
            help="The proxy's address; may be given several times. Default: this machine.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        Option(
            "--allow-host",
            metavar="NAME",
            help="A name under which browsers reach it; may be given several times. With a token, default: any.",
        ),
    ] = None,
    keep_days: Annotated[
        float, Option("--keep-days", min=0.01, help="A job goes so long after its last sign.")
    ] = 14.0,
    store_mb: Annotated[
        int, Option("--store-mb", min=16, help="Where more is kept, the oldest history goes first.")
    ] = 4096,
    case_mb: Annotated[
        int, Option("--case-mb", min=1, max=1024, help="The largest archive of a case that is taken.")
    ] = 64,
) -> None:
    """Watch every job: ranks as a heat map, groups, who comes last, findings, cases, and a history to go back in.

    Jobs tell it: raf run --tower http://HOST:PORT -- torchrun train.py. It serves pages, a JSON API (/openapi.json),
    /metrics for Prometheus, and /healthz. Needs: pip install 'rankandfile[tower]'.
    """
    with brought_by("tower", "raf tower needs more", "prometheus_client", "starlette", "uvicorn"):
        from rankandfile.tower import serve
        from rankandfile.tower.door import elsewhere
        from rankandfile.tower.settings import MIB, Settings
        from rankandfile.tower.store.engine import StoreFull, StoreUnreachable
        from rankandfile.tower.store.store import engine_at
    settings = Settings(
        token=_token(token_file),
        trust_header=trust_header,
        trust_from=tuple(trust_from or Settings.trust_from),
        hosts=tuple(name.lower() for name in allow_host or ()),
        keep_s=keep_days * 86400,
        store_bytes=store_mb * MIB,
        case_bytes=case_mb * MIB,
    )
    try:
        host, port = serve.host_and_port(address)
        why_not = elsewhere(host, settings)
        if why_not is not None:
            raise UserError(why_not)
        place = serve.listen(host, port)
        with brought_by("tower-postgres", "a store in Postgres needs psycopg", "psycopg"):
            engine = engine_at(store, settings)
        beside = [_from_redis(redis)] if redis is not None else []
    except serve.CannotListen as error:
        raise UserError(f"{address}: {error}") from error
    except (StoreFull, StoreUnreachable) as error:
        raise UserError(f"--store {_without_password(store)}: {error}") from error
    err.print(f"tower    {place.url}", soft_wrap=True)
    if settings.token is None and trust_header is None:
        err.print("Everybody on this machine can read it and write to it: --token-file asks for a token.")
    if host not in ("127.0.0.1", "localhost", "::1"):
        err.print("The connection is not encrypted: beyond this machine, put a proxy with TLS before it.")
    serve.serve(place, settings, lambda: engine, beside)


def _from_redis(url: str) -> Beside:
    with brought_by("redis", "--redis needs its client", "redis"):
        from rankandfile.tower.from_redis import FromRedis
    try:
        return FromRedis(url).take_all
    except ValueError as error:
        raise UserError(f"--redis {_without_password(url)}: {error}") from error


def _token(path: Path | None) -> str | None:
    if path is None:
        return None
    with told_as(f"--token-file {path}"):
        token = path.read_text(encoding="utf-8", errors="replace").strip()
    return not_guessed(token)


def _without_password(store: str) -> str:
    scheme, apart, rest = store.partition("://")
    return f"{scheme}://…@{rest.rpartition('@')[2]}" if apart and "@" in rest else store
