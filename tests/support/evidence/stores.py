"""Stores of objects for tests: a real server of S3's protocol, and stores that misbehave as no such server would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

KEYS = {"AWS_ACCESS_KEY_ID": "rank", "AWS_SECRET_ACCESS_KEY": "file", "AWS_DEFAULT_REGION": "us-east-1"}


class Bucket:
    def __init__(self, client: Any, name: str) -> None:
        self.client, self.name = client, name

    def put(self, key: str, content: bytes) -> None:
        self.client.put_object(Bucket=self.name, Key=key, Body=content)

    def upload(self, folder: Path, prefix: str) -> str:
        """The address of what was in the folder."""
        for path in folder.rglob("*"):
            if path.is_file():
                self.put(f"{prefix}/{path.relative_to(folder).as_posix()}", path.read_bytes())
        return f"s3://{self.name}/{prefix}"


@contextmanager
def bucket() -> Iterator[tuple[Bucket, Mapping[str, str]]]:
    """A bucket, and the environment in which it is found."""
    for needed in ("s3fs", "boto3", "moto.server"):
        pytest.importorskip(needed, reason=f"no {needed}: make ray installs it")
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        client = boto3.client(
            "s3",
            endpoint_url=endpoint,
            region_name="us-east-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
        )
        client.create_bucket(Bucket="jobs")
        yield Bucket(client, "jobs"), {**KEYS, "AWS_ENDPOINT_URL": endpoint}
    finally:
        server.stop()


def store(scheme: str, objects: Mapping[str, bytes], endless: bool = False) -> None:
    """Addresses of this scheme lead to these objects, whatever they are called; a listing may never end."""
    fsspec = pytest.importorskip("fsspec", reason="no fsspec: make ray installs it")
    from fsspec.asyn import AsyncFileSystem

    class Objects(AsyncFileSystem):  # type: ignore[misc]
        protocol = scheme
        cachable = False

        async def _find(self, path: str, detail: bool = False, **_: Any) -> dict[str, dict[str, Any]]:
            import asyncio

            found = {
                key: {"name": key, "size": len(content), "type": "file"} for key, content in objects.items()
            }
            while endless:
                found |= {f"{path}/{len(found)}-{n}": {"name": "x" * 1000} for n in range(10_000)}
                await asyncio.sleep(0.01)
            return found

        async def _cat_file(self, path: str, start: int = 0, end: int | None = None, **_: Any) -> bytes:
            # More than was asked for.
            return objects[path][start : (end or 0) + 100] + b"more" * 1000

    fsspec.register_implementation(scheme, Objects, clobber=True)
