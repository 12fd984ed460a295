"""The Dovecot peer: what suites rely on, on 2.3 and on 2.4."""

from __future__ import annotations

import imaplib
import ssl
import time
from datetime import UTC, datetime

import pytest

from tests.conftest import missing_peer
from tests.peers.authority import authority
from tests.peers.dovecot import Dovecot, MailUser, dovecot_binary
from tests.peers.dovecot_config import SPECIAL_FOLDERS, DovecotOptions, Storage

RAW = b"Subject: caf\xe9\r\n\r\n\x80 8-bit, NUL-free\r\n"


def test_a_message_comes_back_octet_for_octet(mail_user: MailUser) -> None:
    uid = mail_user.append(RAW, flags=["\\Flagged"], date=datetime(2024, 2, 3, 4, 5, 6, tzinfo=UTC))
    with mail_user.client("INBOX") as client:
        _, rows = client.uid("FETCH", str(uid), "(FLAGS INTERNALDATE BODY.PEEK[])")
    assert rows[0][1] == RAW
    assert b'INTERNALDATE "03-Feb-2024 04:05:06 +0000"' in rows[0][0]
    assert mail_user.flags(uid) - {"\\Recent"} == {"\\Flagged"}


def test_both_tls_modes_present_a_certificate_of_the_authority(dovecot: Dovecot, mail_user: MailUser) -> None:
    trust = ssl.create_default_context(cafile=str(authority().ca_file))
    with imaplib.IMAP4_SSL("127.0.0.1", dovecot.tls_port, ssl_context=trust) as client:
        client.login(mail_user.name, mail_user.password)
    with imaplib.IMAP4("localhost", dovecot.plain_port) as client:
        client.starttls(trust)
        client.login(mail_user.name, mail_user.password)


def test_a_wrong_password_is_refused_without_a_long_wait(dovecot: Dovecot, mail_user: MailUser) -> None:
    client = imaplib.IMAP4("127.0.0.1", dovecot.plain_port)
    before = time.monotonic()
    with pytest.raises(imaplib.IMAP4.error):
        client.login(mail_user.name, "wrong")
    assert time.monotonic() - before < 3
    client.shutdown()


def test_special_folders_are_advertised(mail_user: MailUser) -> None:
    with mail_user.client() as client:
        rows = b"\n".join(row for row in client.list()[1] if isinstance(row, bytes))
    for name, role in SPECIAL_FOLDERS.items():
        assert f'{role}) "/" {name}'.encode() in rows


def test_the_raw_log_holds_what_this_user_sent_after_login_and_nothing_of_others(
    dovecot: Dovecot, mail_user: MailUser
) -> None:
    with mail_user.client("INBOX") as client:
        client.uid("SEARCH", "CHARSET", "UTF-8", "ALL")
    dovecot.new_user().append(RAW)
    assert [command.name for command in mail_user.commands()] == ["SELECT", "UID SEARCH"]


def test_a_folder_can_be_filled_with_any_uids(mail_user: MailUser) -> None:
    mail_user.fill("Gaps", [3, 5000, 300_000], uid_validity=77)
    with mail_user.client() as client:
        _, status = client.status("Gaps", "(MESSAGES UIDNEXT UIDVALIDITY UNSEEN)")
        assert status[0] == b"Gaps (MESSAGES 3 UIDNEXT 300001 UIDVALIDITY 77 UNSEEN 0)"
        client.select("Gaps", readonly=True)
        _, rows = client.uid("SEARCH", "SUBJECT", '"Message number 2"')
    assert rows == [b"5000"]


def test_doveadm_rebuilds_a_folder_under_a_new_uid_validity(dovecot: Dovecot, mail_user: MailUser) -> None:
    mail_user.append(RAW)
    dovecot.doveadm("mailbox", "update", "--uid-validity", "4242", "-u", mail_user.name, "INBOX")
    with mail_user.client() as client:
        assert client.status("INBOX", "(UIDVALIDITY)")[1] == [b"INBOX (UIDVALIDITY 4242)"]


def test_mdbox_and_a_capability_list_of_ones_own_start_quickly_and_leave_nothing() -> None:
    if dovecot_binary() is None:
        missing_peer("Dovecot")
    options = DovecotOptions(storage=Storage.MDBOX, capability="IMAP4rev1 UIDPLUS IDLE")
    before = time.monotonic()
    certificate = authority().certificate()
    server = Dovecot(certificate.chain, certificate.key, options)
    started = time.monotonic() - before
    try:
        user = server.new_user()
        assert user.append(RAW) == 1
        with user.client() as client:
            assert client.capability()[1][-1] == b"IMAP4rev1 UIDPLUS IDLE"
    finally:
        server.stop()
    assert started < 2
    assert not server.root.exists()
