from collections.abc import Callable
from typing import Any

__all__ = ["register"]

def register(register_backend: Callable[..., Any], register_writer: Callable[..., Any]) -> None: ...
