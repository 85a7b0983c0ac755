"""What tests of models need, without importing it: the processes that share the tests import all files of them."""

from __future__ import annotations

import importlib.util

import pytest

needs_models = pytest.mark.skipif(
    importlib.util.find_spec("pydantic_ai") is None, reason="the libraries of models are not installed"
)
