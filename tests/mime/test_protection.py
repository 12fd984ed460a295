"""Containers, encryption and signatures are named for what they are."""

from __future__ import annotations

import base64

import pytest

from tests.mime.messages import attachment, codes, html, multipart, part, read, text

SIGNED = bytes.fromhex("308006092a864886f70d010702a080308002010131")
ENVELOPED = bytes.fromhex("308006092a864886f70d010703a080308002010031")


def smime(kind: str, body: bytes, parameters: str = "") -> bytes:
    return part(
        base64.encodebytes(body),
        f'Content-Type: {kind}; name="smime.p7m"{parameters}',
        "Content-Transfer-Encoding: base64",
    )


@pytest.mark.parametrize("kind", ["application/pkcs7-mime", "application/x-pkcs7-mime", "application/octet-stream"])
@pytest.mark.parametrize(("body", "code"), [(SIGNED, "signed_not_opened"), (ENVELOPED, "encrypted_not_decoded")])
def test_smime_without_a_type_is_told_apart_by_what_it_is(kind: str, body: bytes, code: str) -> None:
    message = read(smime(kind, body))
    assert codes(message) == {code, "no_text"}
    assert [info.filename for info in message.attachments] == ["smime.p7m"]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("signed-data", "signed_not_opened"),
        ("certs-only", "signed_not_opened"),
        ("enveloped-data", "encrypted_not_decoded"),
        ("authEnveloped-data", "encrypted_not_decoded"),
    ],
)
def test_smime_is_named_by_its_type(kind: str, code: str) -> None:
    assert code in codes(read(smime("application/pkcs7-mime", b"?", f"; smime-type={kind}")))


def test_a_pgp_mime_message_is_encrypted_and_lists_its_parts() -> None:
    control = part(b"Version: 1", "Content-Type: application/pgp-encrypted")
    data = part(b"-----BEGIN PGP MESSAGE-----", 'Content-Type: application/octet-stream; name="encrypted.asc"')
    message = read(multipart("encrypted", [control, data], "X: y"))
    assert codes(message) == {"encrypted_not_decoded", "no_text"}
    assert [info.content_type for info in message.attachments] == [
        "application/pgp-encrypted",
        "application/octet-stream",
    ]


def test_a_message_encrypted_in_its_text_says_so() -> None:
    armour = "-----BEGIN PGP MESSAGE-----\n\nhQEMA0\n=abcd\n-----END PGP MESSAGE-----"
    message = read(text(armour))
    assert message.text.text == armour
    assert codes(message) == {"encrypted_not_decoded"}


def test_a_message_that_only_speaks_of_pgp_is_not_encrypted() -> None:
    assert codes(read(text("It begins with -----BEGIN PGP MESSAGE----- and so on."))) == set()


def test_a_signature_is_said_to_be_unchecked() -> None:
    signed = multipart(
        "signed", [text("body"), part(b"sig", "Content-Type: application/pkcs7-signature; name=smime.p7s")]
    )
    message = read(signed)
    assert (message.text.text, codes(message)) == ("body", {"signature_not_checked"})
    inline = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nhi\n-----BEGIN PGP SIGNATURE-----\nx\n"
    assert codes(read(text(inline))) == {"signature_not_checked"}


@pytest.mark.parametrize(
    "container",
    [
        attachment(b"x", "application/ms-tnef", "x.dat"),
        attachment(b"x", "application/vnd.ms-tnef", "x.dat"),
        attachment(b"x", "application/octet-stream", "winmail.dat"),
        part(
            base64.b64encode(b"\x78\x9f\x3e\x22rest"),
            "Content-Type: application/octet-stream",
            "Content-Transfer-Encoding: base64",
        ),
    ],
    ids=["type", "other type", "name", "octets"],
)
def test_a_tnef_container_is_known_by_type_name_or_octets(container: bytes) -> None:
    message = read(multipart("mixed", [text("x"), container]))
    assert codes(message) == {"tnef_not_decoded"}
    assert len(message.attachments) == 1


def test_an_encrypted_part_within_html_mail_is_no_text() -> None:
    message = read(multipart("mixed", [html("<p>outer</p>"), smime("application/pkcs7-mime", ENVELOPED)]))
    assert message.text.text == "outer"
    assert codes(message) == {"encrypted_not_decoded"}
