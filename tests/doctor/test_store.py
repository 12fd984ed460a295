"""Broken stores: the right cause is named, and nothing is left behind."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from mailgate.doctor.disk import StoreFile, file_system, look_at
from mailgate.send.sqlite_store import SqliteStore
from tests.doctor.conftest import StartRedis
from tests.doctor.deployment import CANARY, SHORT, Examined, black_hole, closed_port, examined, imap, smtp
from tests.peers.authority import authority
from tests.peers.fault_proxy import FaultProxy
from tests.peers.processes import Account
from tests.peers.redis_rest import TOKEN, RedisRest
from tests.peers.redis_server import RedisServer
from tests.peers.smtp_sink import PASSWORD, USERNAME, SmtpSink

KEY = base64.b64encode(b"k" * 32).decode()
READING = {"EVAL", "INFO", "CONFIG"}


async def examined_store(store: str, **more: str) -> Examined:
    return await examined(imap(closed_port(), MAIL_STORE=store, MAIL_STORE_KEY=KEY, **more), patience=SHORT)


def keys_of(server: RedisServer) -> bytes:
    command = [str(Path("/usr/bin/redis-cli")), "-p", str(server.port), "DBSIZE"]
    return subprocess.run(command, capture_output=True, check=True).stdout.strip()


# --- Redis -----------------------------------------------------------------------------------------------------


async def test_a_redis_that_keeps_its_data_and_evicts_nothing_is_well(start_redis: StartRedis) -> None:
    server = start_redis("--appendonly", "yes", "--maxmemory-policy", "noeviction")
    found = await examined_store(server.url)
    assert [found.verdict(f"store.{check}") for check in ("reach", "eviction", "kept")] == ["ok"] * 3
    assert "clock of the store" in found.cause("clock")
    assert found.verdict("clock") == "ok"


async def test_snapshots_are_enough_to_be_kept(start_redis: StartRedis) -> None:
    found = await examined_store(start_redis("--save", "60 1").url)
    assert found.verdict("store.kept") == "ok"


async def test_eviction_with_a_memory_limit_fails(start_redis: StartRedis) -> None:
    server = start_redis("--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru", "--appendonly", "yes")
    found = await examined_store(server.url)
    assert "store.eviction" in found.failures
    assert "maxmemory-policy is not noeviction" in found.cause("store.eviction")
    assert "maxmemory-policy noeviction" in found.next_step("store.eviction")


async def test_eviction_of_what_expires_is_eviction_of_every_record(start_redis: StartRedis) -> None:
    found = await examined_store(start_redis("--maxmemory", "64mb", "--maxmemory-policy", "volatile-ttl").url)
    assert "store.eviction" in found.failures


async def test_eviction_without_a_limit_is_only_a_warning(start_redis: StartRedis) -> None:
    found = await examined_store(start_redis("--maxmemory", "0", "--maxmemory-policy", "allkeys-lru").url)
    assert found.verdict("store.eviction") == "warn"


async def test_a_redis_without_persistence_is_a_warning(start_redis: StartRedis) -> None:
    found = await examined_store(start_redis().url)
    assert found.verdict("store.kept") == "warn"
    assert "in memory only" in found.cause("store.kept")


async def test_what_a_server_does_not_tell_is_called_not_known(start_redis: StartRedis) -> None:
    server = start_redis("--rename-command", "CONFIG", "", "--rename-command", "INFO", "")
    found = await examined_store(server.url)
    assert [found.verdict(f"store.{check}") for check in ("reach", "eviction", "kept")] == ["ok"] * 3
    assert found.cause("store.eviction").startswith("Not known")
    assert found.cause("store.kept").startswith("Not known")


async def test_a_redis_is_only_read(start_redis: StartRedis) -> None:
    server = start_redis()
    async with FaultProxy(server.port) as proxy:
        await examined_store(f"redis://127.0.0.1:{proxy.port}")
        sent = bytes(proxy.traffic.sent)
    commands = [sent.split(b"\r\n")[place + 2] for place, line in enumerate(sent.split(b"\r\n")) if line[:1] == b"*"]
    assert {command.decode() for command in commands} - {"CLIENT", "SELECT"} == READING
    assert b"SET" not in sent.replace(b"SETINFO", b"").replace(b"SETNAME", b"")
    assert keys_of(server) == b"0"


async def test_a_wrong_password_of_the_store(start_redis: StartRedis) -> None:
    server = start_redis(password="right")
    found = await examined_store(server.url.replace("right", CANARY))
    assert "store.reach" in found.failures
    assert "do not belong together" in found.cause("store.reach")
    assert "MAIL_STORE" in found.next_step("store.reach")


async def test_a_user_of_the_store_who_may_not_run_scripts(start_redis: StartRedis) -> None:
    server = start_redis("--user", "narrow", "on", f">{CANARY}", "~*", "+@all", "-@scripting")
    found = await examined_store(f"redis://narrow:{CANARY}@127.0.0.1:{server.port}")
    assert "store.reach" in found.failures
    assert "not do what is needed" in found.cause("store.reach")


async def test_a_store_that_nobody_serves() -> None:
    port = closed_port()
    found = await examined_store(f"redis://127.0.0.1:{port}")
    assert f"refuses connections on port {port}" in found.cause("store.reach")
    assert found.verdict("store.kept") == "skipped"


async def test_a_store_whose_certificate_nobody_trusts(start_redis: StartRedis) -> None:
    found = await examined_store(start_redis().tls_url, MAIL_TLS_CA_FILE="")
    assert "store.reach" in found.failures
    assert "does not know" in found.cause("store.reach")
    assert "MAIL_TLS_CA_FILE" in found.next_step("store.reach")


async def test_a_store_behind_a_blocked_port() -> None:
    with black_hole() as port:
        found = await examined_store(f"redis://127.0.0.1:{port}")
    assert f"Port {port} of 127.0.0.1 is blocked" in found.cause("store.reach")


async def test_a_store_whose_name_does_not_resolve() -> None:
    found = await examined_store("rediss://store.nowhere.invalid")
    assert "store.nowhere.invalid" in found.cause("store.reach")


async def test_sending_with_a_broken_store_cannot_work() -> None:
    more = {"MAIL_ENABLE_SEND": "1", "MAIL_FROM": "owner@example.org", "MAIL_STORE_KEY": KEY}
    async with SmtpSink() as sink:
        login = {"MAIL_SMTP_USERNAME": USERNAME, "MAIL_SMTP_PASSWORD": PASSWORD}
        store = {"MAIL_STORE": f"redis://127.0.0.1:{closed_port()}"}
        found = await examined(smtp(sink.port, "tls", "localhost", **more, **login, **store))
    assert "gates" in found.failures
    assert "store.reach" in found.next_step("gates")


# --- Upstash ---------------------------------------------------------------------------------------------------


async def test_a_wrong_token_is_told_by_its_variable(start_redis: StartRedis) -> None:
    async with RedisRest(start_redis().port) as rest:
        variables = {"UPSTASH_REDIS_REST_URL": rest.url, "UPSTASH_REDIS_REST_TOKEN": CANARY}
        found = await examined_store("upstash", **variables)
        assert len(rest.commands) == 1
    assert "store.reach" in found.failures
    assert "refuses the token" in found.cause("store.reach")
    assert "UPSTASH_REDIS_REST_TOKEN" in found.next_step("store.reach")


async def test_a_rest_store_is_asked_the_same_questions(start_redis: StartRedis) -> None:
    server = start_redis("--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru")
    async with RedisRest(server.port) as rest:
        variables = {"UPSTASH_REDIS_REST_URL": rest.url, "UPSTASH_REDIS_REST_TOKEN": TOKEN}
        found = await examined_store("upstash", **variables)
        assert {command[0] for command in rest.commands} == READING
    assert "store.eviction" in found.failures
    assert found.verdict("store.kept") == "ok"
    assert keys_of(server) == b"0"


# --- SQLite ----------------------------------------------------------------------------------------------------


async def test_a_file_that_can_be_made_is_well_and_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "store.sqlite3"
    found = await examined_store(f"sqlite:{path}")
    assert found.verdict("store.reach") == "ok"
    assert list(tmp_path.iterdir()) == []


async def test_a_file_in_use_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    store = SqliteStore(path, "tag")
    await store.check()
    await store.aclose()
    before = {each.name: (each.stat().st_mtime_ns, each.read_bytes()) for each in tmp_path.iterdir()}
    found = await examined_store(f"sqlite:{path}")
    assert found.verdict("store.reach") == "ok"
    assert {each.name: (each.stat().st_mtime_ns, each.read_bytes()) for each in tmp_path.iterdir()} == before


async def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("Dear Sir or Madam, this is no database.")
    found = await examined_store(f"sqlite:{tmp_path}/letter")
    assert "no SQLite database" in found.cause("store.reach")


async def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    found = await examined_store(f"sqlite:{tmp_path}")
    assert "cannot be written to" in found.cause("store.reach")


async def test_a_key_file_that_others_can_read(tmp_path: Path) -> None:
    key = tmp_path / "store.sqlite3.key"
    key.write_bytes(b"k" * 32)
    key.chmod(0o644)
    found = await examined(imap(closed_port(), MAIL_STORE=f"sqlite:{tmp_path}/store.sqlite3"))
    assert "Other accounts can read the key file" in found.cause("store.reach")
    key.chmod(0o600)
    found = await examined(imap(closed_port(), MAIL_STORE=f"sqlite:{tmp_path}/store.sqlite3"))
    assert found.verdict("store.reach") == "ok"


@contextmanager
def somebody() -> Iterator[None]:
    """As an account without rights: root may write everywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(Account.unprivileged().uid)
    try:
        yield
    finally:
        os.seteuid(0)


async def test_a_folder_that_may_only_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def look(path: Path) -> StoreFile:
        with somebody():
            return look_at(path)

    monkeypatch.setattr("mailgate.doctor.store.look_at", look)
    # Not pytest's own folder, which an account without rights cannot enter.
    with TemporaryDirectory(prefix="mailgate-store-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o555)
        found = await examined_store(f"sqlite:{folder}/store.sqlite3")
        assert "store.reach" in found.failures
        assert "cannot be written to by this account" in found.cause("store.reach")
        assert "MAIL_STORE=sqlite:PATH" in found.next_step("store.reach")
        folder.chmod(0o777)
        found = await examined_store(f"sqlite:{folder}/store.sqlite3")
        assert found.verdict("store.reach") == "ok"
        assert list(folder.iterdir()) == []


TABLE = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:30 / /tmp rw - tmpfs tmpfs rw
31 22 0:31 / /mnt/shared\\040disk rw - nfs4 server:/export rw
32 22 0:32 / /var/lib/docker/merged rw - overlay overlay rw
33 22 0:33 / /data rw - ext4 /dev/vdb rw
34 22 0:34 / /data rw - cifs //nas/data rw
a line that is none
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/owner/store.sqlite3", "ext4"),
        ("/tmp/store.sqlite3", "tmpfs"),
        ("/mnt/shared disk/a/b/store.sqlite3", "nfs4"),
        ("/var/lib/docker/merged/store.sqlite3", "overlay"),
        ("/data/store.sqlite3", "cifs"),
        ("/database/store.sqlite3", "ext4"),
    ],
)
def test_the_file_system_is_that_of_the_deepest_and_last_mount(tmp_path: Path, path: str, kind: str) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(TABLE)
    assert file_system(Path(path), table) == kind


KINDS = {
    "nfs4": ("store.reach", "fail", "network file system"),
    "fuse.sshfs": ("store.reach", "fail", "network file system"),
    "tmpfs": ("store.kept", "warn", "gone after a restart"),
    "overlay": ("store.kept", "warn", "goes with it"),
    "ext4": ("store.kept", "ok", ""),
    "apfs": ("store.kept", "ok", ""),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_disk_that_is_not_local_or_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(f"22 1 254:0 / / rw - {kind} source rw\n")
    monkeypatch.setattr("mailgate.doctor.store.look_at", lambda path: look_at(path, mounts=table))
    found = await examined_store(f"sqlite:{tmp_path}/store.sqlite3")
    check, verdict, cause = KINDS[kind]
    assert found.verdict(check) == verdict
    assert cause in found.cause(check)


async def test_no_store_is_looked_at_where_none_is_needed() -> None:
    found = await examined(imap(closed_port(), MAIL_TLS_CA_FILE=str(authority().ca_file)))
    assert [found.verdict(f"store.{check}") for check in ("reach", "eviction", "kept")] == ["skipped"] * 3
