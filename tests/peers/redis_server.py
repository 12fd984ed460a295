"""A redis-server of the test session: loopback only, nothing on disk, plain and TLS ports."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.peers.authority import Certificate
from tests.peers.processes import Child, free_ports, wait_until

START_SECONDS = 10.0


def redis_binary() -> str | None:
    """Where redis-server is, or None."""
    return shutil.which("redis-server", path="/usr/bin:/usr/local/bin:/usr/sbin:/bin")


class RedisServer:
    """A running server. `stop` ends it; whatever it held is gone then. `arguments` come last and win."""

    def __init__(self, certificate: Certificate, *, password: str = "", arguments: Sequence[str] = ()) -> None:
        self.password = password
        self._arguments = arguments
        self._folder = Path(tempfile.mkdtemp(prefix="mailgate-redis-"))
        self._certificate = certificate
        for _ in range(5):
            # A free port may be taken by somebody else in between.
            if self._start():
                return
        self.stop()
        raise RuntimeError("redis-server did not start")

    @property
    def url(self) -> str:
        """redis:// on loopback."""
        return f"redis://{self._login}127.0.0.1:{self.port}"

    @property
    def tls_url(self) -> str:
        """rediss:// on loopback."""
        return f"rediss://{self._login}localhost:{self.tls_port}"

    def stop(self) -> None:
        """End the process and remove its folder."""
        self._child.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _login(self) -> str:
        return f":{self.password}@" if self.password else ""

    def _start(self) -> bool:
        binary = redis_binary()
        assert binary is not None
        self.port, self.tls_port = free_ports(2)
        tls = self._certificate
        command = [binary, "--bind", "127.0.0.1", "--port", str(self.port), "--tls-port", str(self.tls_port)]
        command += ["--tls-cert-file", str(tls.chain_file), "--tls-key-file", str(tls.key_file)]
        command += ["--tls-ca-cert-file", str(tls.chain_file), "--tls-auth-clients", "no"]
        command += ["--save", "", "--appendonly", "no", "--dir", str(self._folder), "--daemonize", "no"]
        if self.password:
            command += ["--requirepass", self.password]
        command += self._arguments
        self._child = Child(command, output=self._folder / "log")
        if wait_until(self._answers, seconds=START_SECONDS, alive=lambda: self._child.running):
            return True
        self._child.kill()
        return False

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1.0) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith((b"+PONG", b"-NOAUTH"))
        except OSError:
            return False
