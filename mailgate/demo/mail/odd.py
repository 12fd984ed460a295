"""Odd mail: broken, mislabelled, bare or hostile in form, as every old mailbox holds some."""

from __future__ import annotations

from datetime import datetime

from mailgate.demo.mail.compose import (
    OWNER,
    Entity,
    Letter,
    Sample,
    ago,
    attachment,
    encode,
    encoded_word,
    forwarded,
    html,
    multipart,
    png,
    text,
)


def samples(now: datetime) -> list[Sample]:
    """One oddity a mail; its subject mostly says which."""
    letters = [*dates_and_senders(), *charsets(), *structures(), *names(), *html_oddities()]
    return [*(letter.at(now) for letter in letters), *raw_ones(now)]


def dates_and_senders() -> list[Letter]:
    """Missing and broken Date, no From, no Subject, several of what should be one."""
    note = text("Nothing is wrong with the text of this one.\n")
    sender = "Old Gateway <gateway@example.org>"
    return [
        Letter(ago(22), sender, "No date at all", note, flags=("\\Seen",), name="odd-1", date=""),
        Letter(ago(22, 1), sender, "A date of its own kind", note, name="odd-2", date="17 Brumaire , year 9999999999"),
        Letter(ago(22, 2), "", "Nobody sent this", note, flags=("\\Seen",), name="odd-3"),
        Letter(ago(22, 3), sender, "", note, flags=("\\Seen",), name="odd-4"),
        Letter(
            ago(22, 4),
            "First <first@example.org>, Second <second@example.org>",
            "Two authors",
            note,
            flags=("\\Seen",),
            name="odd-5",
            extra=(("Sender", "Second <second@example.org>"), ("Subject", "Another subject")),
        ),
        Letter(ago(22, 5), sender, "To a group", note, "undisclosed-recipients:;", name="odd-6"),
    ]


def charsets() -> list[Letter]:
    """Labels that lie, labels nobody knows, and characters cut in two."""
    lying = encode("It’s “quoted” — and costs 5 €.\r\n".encode("cp1252"), "text/plain; charset=iso-8859-1", "8bit")
    unknown = encode("Grüße".encode() + b"\r\n", 'text/plain; charset="x-unknown-8"', "quoted-printable")
    wide = encode("Sixteen bits for each letter: Ωmega\r\n".encode("utf-16"), "text/plain; charset=utf-16", "base64")
    unlabelled = encode("Déjà vu without a label\r\n".encode(), "text/plain", "8bit")
    octets = "Ein Zeichen in zwei Hälften: Übergröße".encode()
    cut = octets.index("Ü".encode()) + 1
    split = f"{encoded_word(octets[:cut], 'utf-8')} {encoded_word(octets[cut:], 'utf-8')}"
    sender = "Charset Museum <museum@example.net>"
    return [
        Letter(ago(23), sender, "windows-1252 that calls itself Latin-1", lying, name="charset-1"),
        Letter(ago(23, 1), sender, "A charset nobody knows", unknown, flags=("\\Seen",), name="charset-2"),
        Letter(ago(23, 2), sender, "UTF-16", wide, flags=("\\Seen",), name="charset-3"),
        Letter(ago(23, 3), sender, "8-bit text without a charset", unlabelled, name="charset-4"),
        Letter(ago(23, 4), sender, split, text("The subject is cut inside a letter.\n"), name="charset-5"),
    ]


def structures() -> list[Letter]:
    """Trees that are broken, empty, deep or upside down."""
    whole = multipart(
        "mixed",
        "cut-1",
        text("The end of this mail got lost on the way.\n"),
        attachment(png(90, 90, 90, 32), "image/png", 'filename="grey.png"'),
    )
    cut = Entity(whole.fields, whole.body[:-120])
    no_parts = Entity((("Content-Type", 'multipart/mixed; boundary="never-seen"'),), b"There is no boundary here.\r\n")
    deep = text("At the bottom.\n")
    for level in range(6):
        deep = multipart("mixed", f"deep-{level}", deep)
    nested = forwarded(
        Letter(ago(25), "Inner <inner@example.org>", "The inner one", text("Inside.\n"), date="").at(_ANY).raw
    )
    mixed_bodies = multipart(
        "mixed",
        "two-1",
        text("Before the picture.\n"),
        encode(png(0, 160, 60), 'image/png; name="green.png"', "base64", (("Content-Disposition", "inline"),)),
        text("After the picture.\n"),
    )
    only_file = attachment(b"%PDF-1.4 not really\n", "application/pdf", 'filename="scan.pdf"')
    sender = "Structure Test <shapes@example.net>"
    return [
        Letter(ago(24), sender, "Cut off", cut, name="shape-1"),
        Letter(ago(24, 1), sender, "A multipart without parts", no_parts, flags=("\\Seen",), name="shape-2"),
        Letter(ago(24, 2), sender, "Six levels down", deep, flags=("\\Seen",), name="shape-3"),
        Letter(ago(24, 3), sender, "A message as the only part", nested, name="shape-4"),
        Letter(ago(24, 4), sender, "Text, picture, text", mixed_bodies, flags=("\\Seen",), name="shape-5"),
        Letter(ago(24, 5), sender, "Only a file", only_file, flags=("\\Seen",), name="shape-6"),
        Letter(ago(24, 6), sender, "Nothing inside", text(""), flags=("\\Seen",), name="shape-7"),
    ]


def names() -> list[Letter]:
    """Attachment names that must not be believed."""
    body = multipart(
        "mixed",
        "names-2",
        text("Five files, five strange names.\n"),
        attachment(b"root\n", "text/plain", 'filename="../../etc/passwd"'),
        attachment(b"MZ not a program\n", "application/octet-stream", "filename*=UTF-8''invoice%E2%80%AEfdp.exe"),
        attachment(b"x\n", "application/octet-stream", f'filename="{"long" * 60}.bin"'),
        attachment(b"y\n", "application/octet-stream", "filename=my report.txt"),
        attachment(
            b"z\n", 'application/octet-stream; name="=?utf-8?B?w5xiZXIudHh0?="', 'filename="=?utf-8?B?w5xiZXIudHh0?="'
        ),
    )
    return [Letter(ago(24, 8), "File Names <files@example.net>", "Strange file names", body, name="names-2")]


_ANY = datetime.fromisoformat("2024-02-01T12:00:00+00:00")
"""For a message whose Date field is left out."""


def raw_ones(now: datetime) -> list[Sample]:
    """Mail that no builder would write: unencoded headers, no header at all, control characters in encoded words."""
    eight_bit = (
        "From: J\u00f6rg K\u00f6nig <joerg@example.org>\r\nTo: robin@example.com\r\n"
        "Subject: Umlaute pur: \u00e4\u00f6\u00fc\r\n"
        "\r\nKopfzeilen ohne Kodierung.\r\n"
    ).encode()
    latin = "From: Ren\u00e9 <rene@example.org>\r\nSubject: d\u00e9j\u00e0 vu\r\n\r\nLatin-1 in the header.\r\n".encode(
        "iso-8859-1"
    )
    control = (
        b"From: Trick <trick@example.org>\r\nTo: robin@example.com\r\n"
        b"Subject: =?utf-8?Q?Hello=0D=0ABcc:_victim@example.net?= =?utf-8?Q?=E2=80=AEdesrever?=\r\n"
        b"Message-ID: <[odd@example.org]>\r\n\r\nThe subject hides a line break and a direction override.\r\n"
    )
    headless = b"\r\nNo header, just this line.\r\n"
    folded = (
        b"From: Long Winded <long@example.org>\r\nTo: " + OWNER.encode() + b"\r\nSubject: This subject is folded\r\n"
        b" over three lines and\r\n\tkeeps going\r\nMessage-ID: <folded-1@example.org>\r\n\r\nFolded.\r\n"
    )
    rows = [(eight_bit, 1.0), (latin, 2.0), (control, 3.0), (headless, 4.0), (folded, 5.0)]
    return [Sample("INBOX", raw, now - ago(25, hours), ("\\Seen",) if hours > 3 else ()) for raw, hours in rows]


def html_oddities() -> list[Letter]:
    """HTML that is not quite HTML."""
    return [
        Letter(
            ago(24, 9),
            "Tags <tags@example.net>",
            "Unclosed tags",
            html("<p>One<p>Two <b>bold <i>both</b> it</i><br>&nbsp;&amp;"),
        )
    ]
