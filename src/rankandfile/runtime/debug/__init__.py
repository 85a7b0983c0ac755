"""The debug page of a running job, and what plugs into torch's own one. `start` on every rank; see docs/debug.md."""

from rankandfile.runtime.debug.start import handlers, start, stop

__all__ = ["handlers", "start", "stop"]
