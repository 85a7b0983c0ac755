"""What tests of models and clients need, without importing it: processes that share tests import all files of them."""

from __future__ import annotations

import importlib.util

import pytest

needs_models = pytest.mark.skipif(
    importlib.util.find_spec("pydantic_ai") is None, reason="the libraries of models are not installed"
)
needs_mcp = pytest.mark.skipif(importlib.util.find_spec("mcp") is None, reason="mcp is not installed")
