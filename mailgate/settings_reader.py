"""Where a variable's text comes from: the real environment, then `.env`, then the provider's preset.

The reader collects every problem instead of stopping at the first, and remembers each source for `mailgate config`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from mailgate.policy import Gate
from mailgate.presets import PRESETS
from mailgate.settings_values import has_control
from mailgate.settings_variables import VARIABLES

T = TypeVar("T")
D = TypeVar("D")

MASKED = "set (masked)"
_FILE_MAX = 64 * 1024


class Reader:
    """Reads one set of variables; `problems` stop the start, `warnings` do not. Neither ever holds a value."""

    def __init__(self, environ: Mapping[str, str], dotenv: Mapping[str, str]) -> None:
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self._layers = (("environment", environ), (".env", dotenv))
        self._preset: Mapping[str, str] = {}
        self.provider = self._read_provider()
        if self.provider is not None:
            self._preset = PRESETS[self.provider].variables()
        self._check_characters()

    def _read_provider(self) -> str | None:
        name = self.raw("MAIL_PROVIDER").lower()
        if name and name not in PRESETS:
            self.problems.append(f"MAIL_PROVIDER names no known preset; there are {', '.join(PRESETS)}.")
            return None
        return name or None

    def _check_characters(self) -> None:
        for name in VARIABLES:
            if has_control(self.raw(name)):
                self.problems.append(f"{name} holds control characters or something that is not UTF-8.")

    def _found(self, name: str) -> tuple[str, str]:
        """Source and text. A variable that is there but empty hides `.env`, and otherwise counts as unset."""
        source, written = next(((source, layer[name]) for source, layer in self._layers if name in layer), ("", ""))
        if written:
            return source, written
        if name in self._preset:
            return f"preset:{self.provider}", self._preset[name]
        return "default", ""

    def raw(self, name: str) -> str:
        """The text as it was written, or empty. Blanks around it count only in secrets and gates."""
        found = self._found(name)[1]
        exact = VARIABLES[name].secret or name in GATE_VARIABLES
        return found if exact else found.strip(" \t")

    def given(self, name: str) -> bool:
        """Is the variable set, by whatever source?"""
        return bool(self.raw(name))

    def source(self, name: str) -> str:
        """`environment`, `.env`, `preset:NAME` or `default`."""
        return self._found(name)[0]

    def value(self, name: str, parse: Callable[[str], T], default: D) -> T | D:
        """The parsed value, or the default when it is unset or wrong (which is then a problem)."""
        raw = self.raw(name)
        if not raw or has_control(raw):
            return default
        try:
            return parse(raw)
        except ValueError as problem:
            self.problems.append(f"{name} {problem}.")
            return default

    def gates(self) -> frozenset[Gate]:
        """The open gates: exactly `1` opens, so that no spelling of "no" can ever open one."""
        for name in GATE_VARIABLES:
            if self.raw(name) not in ("", "1"):
                self.warnings.append(f"{name} is set to something other than exactly 1, so this gate stays closed.")
        return frozenset(gate for gate in Gate if self.raw(gate.variable) == "1")

    def password(self, name: str) -> str:
        """A password from its variable or from the file that `NAME_FILE` names; empty when neither is set."""
        file_name = f"{name}_FILE"
        if not self.given(file_name):
            raw = self.raw(name)
            return "" if has_control(raw) else raw
        if self.given(name):
            self.problems.append(f"{name} and {file_name} are both set; keep one.")
            return ""
        # An editor or `echo` ends the file with one line break that is not part of the password.
        secret = self.read_file(file_name).removesuffix("\n").removesuffix("\r")
        if has_control(secret):
            self.problems.append(f"{file_name} names a file with control characters or more than one line.")
            return ""
        return secret

    def read_file(self, name: str) -> str:
        """The text of the file that a variable names; unreadable, empty or oversized files are problems."""
        path = self.raw(name)
        if not path or has_control(path):
            return ""
        try:
            with Path(path).open(encoding="utf-8") as file:
                content = file.read(_FILE_MAX + 1)
        except (OSError, UnicodeDecodeError):
            self.problems.append(f"{name} names a file that cannot be read as text.")
            return ""
        if not content.strip() or len(content) > _FILE_MAX:
            self.problems.append(f"{name} names a file that is empty or too large.")
            return ""
        return content

    def data_directory(self) -> Path | None:
        """mailgate's folder in the user's data directory (XDG Base Directory Specification); None without a home."""
        environ = self._layers[0][1]
        # The specification: a relative path here is invalid and ignored.
        if (base := environ.get("XDG_DATA_HOME", "")) and Path(base).is_absolute():
            return Path(base) / "mailgate"
        home = environ.get("HOME") or environ.get("USERPROFILE")
        return Path(home) / ".local" / "share" / "mailgate" if home else None

    def shown(self, name: str) -> str:
        """What `mailgate config` prints: secrets masked, gates as open or closed, an unset variable as its default."""
        raw = self.raw(name)
        if name in GATE_VARIABLES:
            return "1 (open)" if raw == "1" else "closed"
        if not raw:
            return VARIABLES[name].default or "unset"
        if VARIABLES[name].secret:
            return MASKED
        return re.sub(r"(?<=//)[^/]*@", "***@", raw)

    def unknown(self) -> Iterator[str]:
        """A warning for each `MAIL_` variable that means nothing here, with the name that was probably meant."""
        from difflib import get_close_matches

        names = {name for _, layer in self._layers for name in layer if name.startswith("MAIL_")}
        for name in sorted(names - set(VARIABLES)):
            if not re.fullmatch(r"[A-Z0-9_]{1,64}", name):
                yield "A variable whose name begins with MAIL_ is unknown and ignored."
                continue
            close = get_close_matches(name, VARIABLES, n=1, cutoff=0.8)
            yield f"{name} is unknown and ignored" + (f"; did you mean {close[0]}?" if close else ".")


GATE_VARIABLES = frozenset(gate.variable for gate in Gate)
