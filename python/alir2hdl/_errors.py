"""Exceptions. Their texts name options as Python has them."""

import json
import os
import re
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["Alir2hdlWarning", "Diagnostic", "Error", "InputError", "InternalError", "MissingToolError", "UndecidedError",
           "UnsupportedError"]


@dataclass(frozen=True)
class Diagnostic:
    """One message: what is wrong, where, and what would be right."""

    #: Stable code, such as `E0503`.
    code: str
    #: `error`, `warning`, `note` or `bug`.
    severity: str
    #: One sentence.
    message: str
    #: Where it is: a file, a path in it, a line and a column, an option. Empty for the whole.
    place: str
    #: What would be right, or None.
    help: str | None


class Error(Exception):
    """Base class of all that alir2hdl raises."""

    def __init__(self, text: str = "", diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(text)
        #: Every problem, the first one first.
        self.diagnostics = tuple(diagnostics)

    @property
    def code(self) -> str | None:
        """Code of the first problem, such as `E0503`."""
        return self.diagnostics[0].code if self.diagnostics else None

    @property
    def place(self) -> str | None:
        """Where the first problem is."""
        return self.diagnostics[0].place if self.diagnostics else None

    @property
    def help(self) -> str | None:
        """What would be right instead of the first problem, if that is known."""
        return self.diagnostics[0].help if self.diagnostics else None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.diagnostics)


class InputError(Error, ValueError):
    """A model, a number or an option is wrong."""


class NotFound(InputError, FileNotFoundError):
    """A file does not exist."""


class UnsupportedError(InputError):
    """A valid request that alir2hdl does not support."""


class MissingToolError(Error, RuntimeError):
    """A tool is missing or failed."""


class UndecidedError(Error, RuntimeError):
    """A proof reached its limits."""


class InternalError(Error, RuntimeError):
    """An internal error of alir2hdl."""


class Alir2hdlWarning(UserWarning):
    """Category of warnings."""


_CLASSES = {one.__name__: one for one in (InputError, UnsupportedError, MissingToolError, UndecidedError, InternalError)}
#: `--clock-period 5`, `--clock-period=5`, `--valid`; the value only where it is a number or a word of capitals.
_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*)(?:(?:[ =])(-?\d[\w.+-]*|[A-Z][A-Z_]*)(?![\w-]))?(=?)")


#: Options with words as values, after `_FLAG`: `reset sync` is `reset="sync"`.
_WORDS = re.compile(r"\b(wrapper|reset|flow|use_dsp|rom_style) (axis|sync|async|vivado|yes|no|block|logic|lut)\b")


def _spoken(text: str) -> str:
    """A message with options as Python has them: `--clock-period 5` is `clock_period=5`."""
    # A command line that a message quotes stays one.
    parts = re.split(r"(`alir2hdl [^`]*`)", text)
    return "".join(part if part.startswith("`alir2hdl ") else _python(part) for part in parts)


def _python(text: str) -> str:
    """A part of a message without quoted command lines, with options as Python has them."""

    def keyword(found: re.Match[str]) -> str:
        name, value = found[1].replace("-", "_"), found[2]
        if value is None:
            return f"{name}{found[3]}"
        return f"{name}={value}{found[3]}"

    text = re.sub(r"(?<![\w-])-O ?([0-2])\b", r"optimise=\1", _FLAG.sub(keyword, text))
    text = re.sub(r"(?<![\w-])-O\b", "optimise", text)
    text = re.sub(r"\binput_type (s\d(?:[\w.\[\],]*[\w\]])?)", r'input_type="\1"', text)
    # `'weight_bits <N>'`: the command line's word for a value.
    text = re.sub(r"'([a-z]\w*)(?: |\[=)<[^<>]*>\]?'", r"'\1'", text)
    return _WORDS.sub(r'\1="\2"', text)


def _place(problem: dict[str, Any]) -> str:
    place = problem["place"]
    parts = [problem.get("file") or ""]
    if "line" in place:
        parts.append(f"line {place['line']}, column {place['column']}")
    elif "byte" in place:
        parts.append(f"byte {place['byte']}")
    elif "flag" in place:
        parts.append(_spoken(place["flag"]))
    else:
        parts.append(place.get("path", ""))
    return ": ".join(filter(None, parts))


def _diagnostic(problem: dict[str, Any]) -> Diagnostic:
    help = problem.get("help")
    return Diagnostic(problem["code"], problem["severity"], _spoken(problem["message"]), _place(problem),
                      None if help is None else _spoken(help))


def _raised(kind: str, text: str, facts: str) -> Error:
    """The exception for problems as JSON; the extension calls this."""
    found = tuple(map(_diagnostic, json.loads(facts)))
    is_missing = kind == "InputError" and any(one.code == "E0001" and "No such file" in one.message for one in found)
    return (NotFound if is_missing else _CLASSES[kind])(_spoken(text), found)


def reworded(error: Error, old: str, new: str) -> Error:
    """The exception with another word in its texts."""

    def word(text: str) -> str:
        return text.replace(old, new)

    found = tuple(replace(one, message=word(one.message), place=word(one.place), help=None if one.help is None else word(one.help))
                  for one in error.diagnostics)
    return type(error)(word(str(error)), found)


def without_folder(error: Error, folder: str) -> Error:
    """The exception for files in a temporary folder, which does not exist when the message is read."""
    return reworded(error, folder + os.sep, "")
