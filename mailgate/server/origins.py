"""Which Host and which Origin a request may carry: the defence against DNS rebinding and foreign pages."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?", re.ASCII)
_ORIGIN: Final = re.compile(r"(https?)://([^/?#@\s]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class AllowedOrigins:
    """Hosts this server answers for, and browser origins it answers to.

    `public_url`: its host is ours and its origin allowed. `origins`: exact further ones.
    """

    public_url: str | None = None
    origins: tuple[str, ...] = ()
    _host: str | None = field(init=False, repr=False)
    _exact: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        public = urlsplit(self.public_url) if self.public_url else None
        own = (f"{public.scheme}://{public.netloc}",) if public else ()
        object.__setattr__(self, "_host", public.hostname if public else None)
        object.__setattr__(self, "_exact", frozenset(_canonical(origin) for origin in (*self.origins, *own)))

    def allows_host(self, fields: Iterable[bytes]) -> bool:
        """Whether the request's one Host field is the public host or loopback. The port is the proxy's affair."""
        host = _only(fields)
        name = None if host is None else _host_name(host)
        return name is not None and (name == self._host or _is_loopback(name))

    def allows_origin(self, fields: Iterable[bytes], host_fields: Iterable[bytes]) -> bool:
        """Whether a request that carries an Origin may go on.

        A page from this machine may talk to a server that was addressed as this machine; it needs a token all the same.
        """
        origin = _only(fields)
        if origin is None:
            return False
        if _canonical(origin) in self._exact:
            return True
        match = _ORIGIN.fullmatch(origin)
        local_page = match is not None and _is_loopback(_host_name(match[2]) or "")
        host = _only(host_fields)
        return local_page and host is not None and _is_loopback(_host_name(host) or "")


def _only(fields: Iterable[bytes]) -> str | None:
    """The value of a field that must occur once; two values would be read differently by two readers."""
    values = list(fields)
    return values[0].decode("latin-1").strip().lower() if len(values) == 1 else None


def _host_name(host: str) -> str | None:
    match = _HOST.fullmatch(host.lower())
    return match[1].strip("[]") if match else None


def _is_loopback(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _canonical(origin: str) -> str:
    """An origin as browsers send it: lower case, without the scheme's own port (RFC 6454, 6.2)."""
    scheme, _, rest = origin.lower().rstrip("/").partition("://")
    default = {"http": ":80", "https": ":443"}.get(scheme, ":")
    return f"{scheme}://{rest.removesuffix(default)}"
