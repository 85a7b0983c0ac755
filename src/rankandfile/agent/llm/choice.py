"""Which model is meant, where it is asked, and with which key: `anthropic:NAME`, `http://host/v1#NAME`, ..."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

_SPEC = re.compile(r"(anthropic|openai|google|ollama):(\S+)")
#: Whose key is for whom: one maker's is never sent to another's address.
_KEYS = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "ollama": ("OLLAMA_API_KEY",),
    "url": ("RAF_MODEL_KEY",),
}
_NEEDED = {"anthropic", "openai", "google"}
_BASES = {
    "anthropic": ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
    "openai": ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    "google": ("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com"),
    "ollama": ("OLLAMA_BASE_URL", "http://localhost:11434/v1"),
}
_LOCAL = {"localhost", "127.0.0.1", "::1"}


class NoSuchModel(ValueError):
    """What was named is no model that can be asked; the text says what to write."""


@dataclass(frozen=True)
class Choice:
    spec: str
    kind: str
    name: str
    base: str
    key: str | None

    @property
    def host(self) -> str:
        return urlsplit(self.base).netloc.rpartition("@")[2]

    @property
    def local(self) -> bool:
        return urlsplit(self.base).hostname in _LOCAL

    @property
    def in_clear(self) -> bool:
        return not self.local and urlsplit(self.base).scheme == "http"


def chosen(spec: str, env: Mapping[str, str] = os.environ, *, need_key: bool = True) -> Choice:
    """Raises `NoSuchModel`."""
    url, _, name = spec.partition("#")
    if spec.startswith(("http://", "https://")):
        if not name or not urlsplit(url).hostname:
            raise NoSuchModel(f"'{spec}': name the model behind a #, as in http://host:8000/v1#my-model")
        return Choice(spec, "url", name, url.rstrip("/"), _key("url", env))
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise NoSuchModel(
            f"'{spec}' is no model: write anthropic:NAME, openai:NAME, google:NAME, ollama:NAME, or the address of "
            "an OpenAI-compatible server with #NAME"
        )
    kind = match[1]
    variable, usual = _BASES[kind]
    base, key = env.get(variable) or usual, _key(kind, env)
    if key is None and kind in _NEEDED and need_key:
        raise NoSuchModel(f"{spec} needs a key: set {' or '.join(_KEYS[kind])}")
    return Choice(spec, kind, match[2], base.rstrip("/"), key)


def _key(kind: str, env: Mapping[str, str]) -> str | None:
    return next((env[name] for name in _KEYS[kind] if env.get(name)), None)
