"""Work: a thread about a launch, reports with attachments, invitations, and one very long mail."""

from __future__ import annotations

from datetime import datetime, timedelta

from mailgate.demo.mail.compose import (
    Entity,
    Letter,
    Sample,
    ago,
    attachment,
    encode,
    forwarded,
    html,
    multipart,
    pdf,
    png,
    text,
)

MIRA = "Mira Okafor <mira.okafor@example.com>"
JONAS = "Jonas Weber <jonas@example.org>"
PRIYA = '"Raman, Priya" <priya@example.net>'
TEAM = "Robin Hale <robin@example.com>, Jonas Weber <jonas@example.org>"
AURORA = "Projects/Aurora"


def samples(now: datetime) -> list[Sample]:
    """The work mail, oldest first within each group."""
    letters = [*thread(), *reports(), *invitations(now), long_log(), review(now)]
    return [letter.at(now) for letter in letters]


def _references(*names: str) -> tuple[tuple[str, str], ...]:
    marks = [f"<{name}@example.org>" for name in names]
    return (("In-Reply-To", marks[-1]), ("References", " ".join(marks)))


def thread() -> list[Letter]:
    """Four mails that answer each other, quoted in different styles."""
    first = text(
        "Hi both,\n\nThe Aurora launch moves to the 14th. Three things are open:\n\n"
        "  1. The venue wants the deposit by Friday.\n  2. We have no name for the demo account.\n"
        "  3. Who speaks first?\n\nMira\n"
    )
    second = text(
        "Hello Mira,\n\nMira Okafor wrote:\n> 1. The venue wants the deposit by Friday.\n\nPaid this morning, "
        "receipt follows.\n\n> 3. Who speaks first?\n\nI would rather not. Robin?\n\n-- \nJonas Weber\n"
    )
    third = html(
        "<p>Then <b>I</b> speak first. Jonas, could you send me the numbers?</p>"
        '<div class="gmail_quote">On Tuesday Jonas wrote:<blockquote style="border-left:1px solid #ccc">'
        "<p>I would rather not. Robin?</p></blockquote></div>"
    )
    fourth = multipart(
        "alternative",
        "aurora-4",
        text(
            "Numbers attached to the wiki page. See you on the 14th!\n\n"
            "On Wednesday Robin wrote:\n> send me the numbers\n"
        ),
        html("<p>Numbers attached to the wiki page. See you on the <strong>14th</strong>!</p>"),
    )
    seen = ("\\Seen",)
    return [
        Letter(ago(12, 5), MIRA, "Aurora launch: open points", first, TEAM, AURORA, seen, name="aurora-1"),
        Letter(
            ago(12, 2),
            JONAS,
            "Re: Aurora launch: open points",
            second,
            f"{MIRA}, Robin Hale <robin@example.com>",
            AURORA,
            ("\\Seen", "\\Answered"),
            1,
            "aurora-2",
            _references("aurora-1"),
        ),
        Letter(
            ago(11, 20),
            "Robin Hale <robin@example.com>",
            "Re: Aurora launch: open points",
            third,
            JONAS,
            "Sent",
            seen,
            name="aurora-3",
            extra=_references("aurora-1", "aurora-2"),
        ),
        Letter(
            ago(11, 3),
            JONAS,
            "Re: Aurora launch: open points",
            fourth,
            folder=AURORA,
            zone=1,
            name="aurora-4",
            extra=_references("aurora-1", "aurora-2", "aurora-3"),
        ),
    ]


def reports() -> list[Letter]:
    """Mail with attached files of several kinds."""
    table = "month,visitors,orders\r\nMay,1204,87\r\nJune,1377,102\r\nJuly,1519,96\r\n"
    budget = multipart(
        "mixed",
        "report-1",
        text("Robin,\n\nplease find the quarterly budget attached. Page 1 is all you need.\n\nPriya\n"),
        attachment(pdf("Budget, third quarter: 42,000"), "application/pdf", 'filename="budget-q3.pdf"'),
        attachment(table.encode(), 'text/csv; charset=utf-8; name="visitors.csv"', 'filename="visitors.csv"'),
    )
    picture = multipart(
        "related",
        "logo-1",
        html('<p>The new logo, in place:</p><p><img src="cid:logo@example.org" alt="Aurora logo"></p><p>Mira</p>'),
        encode(
            png(20, 90, 160),
            'image/png; name="logo.png"',
            "base64",
            (("Content-ID", "<logo@example.org>"), ("Content-Disposition", 'inline; filename="logo.png"')),
        ),
    )
    names = multipart(
        "mixed",
        "names-1",
        text("Minutes and photo as promised.\n"),
        attachment(
            b"Protokoll der Sitzung\r\n",
            "text/plain; charset=utf-8",
            "filename*0*=UTF-8''Protokoll%20Gr%C3%BC; filename*1*=nh%C3%A4nger.txt",
        ),
        attachment(png(200, 30, 30), "image/png", "filename*=UTF-8''%E5%86%99%E7%9C%9F.png"),
    )
    return [
        Letter(
            ago(9, 6), PRIYA, "Budget for the third quarter", budget, flags=("\\Seen", "\\Flagged"), name="report-1"
        ),
        Letter(ago(8, 7), MIRA, "New logo", picture, folder=AURORA, name="logo-1"),
        Letter(ago(8, 1), JONAS, "Protokoll & Foto", names, folder="Réunions & Budget", zone=2, name="names-1"),
    ]


def _calendar(method: str, now: datetime) -> str:
    start = (now + timedelta(days=3)).replace(hour=9, minute=0, second=0, microsecond=0)
    return (
        f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//example.com//demo//EN\nMETHOD:{method}\nBEGIN:VEVENT\n"
        f"UID:standup-7@example.com\nDTSTAMP:{now:%Y%m%dT%H%M%SZ}\nDTSTART:{start:%Y%m%dT%H%M%SZ}\n"
        f"DTEND:{start + timedelta(minutes=30):%Y%m%dT%H%M%SZ}\nSUMMARY:Aurora stand-up\n"
        "ORGANIZER;CN=Mira Okafor:mailto:mira.okafor@example.com\n"
        "ATTENDEE;RSVP=TRUE:mailto:robin@example.com\nEND:VEVENT\nEND:VCALENDAR\n"
    )


def invitations(now: datetime) -> list[Letter]:
    """A meeting request and its cancellation."""
    request = multipart(
        "mixed",
        "invite-1",
        multipart(
            "alternative",
            "invite-1-alt",
            text("Stand-up for Aurora, thirty minutes. Please answer.\n"),
            html("<p>Stand-up for Aurora, thirty minutes. Please answer.</p>"),
            encode(_crlf(_calendar("REQUEST", now)), 'text/calendar; charset=utf-8; method="REQUEST"', "7bit"),
        ),
        attachment(_crlf(_calendar("REQUEST", now)), "application/ics", 'filename="invite.ics"'),
    )
    cancelled = encode(_crlf(_calendar("CANCEL", now)), "text/calendar; charset=utf-8; method=CANCEL", "7bit")
    return [
        Letter(ago(2, 4), MIRA, "Invitation: Aurora stand-up", request, name="invite-1"),
        Letter(
            ago(1, 22),
            MIRA,
            "Cancelled: Aurora stand-up",
            cancelled,
            folder="Trash",
            flags=("\\Seen",),
            name="invite-2",
        ),
    ]


def _crlf(content: str) -> bytes:
    return content.replace("\n", "\r\n").encode()


def long_log() -> Letter:
    """About 300 KB of plain text: longer than one answer can hold."""
    lines = (
        f"{number:05d} worker-{number % 7} finished batch {number * 37 % 9973} in {number % 59} ms"
        for number in range(6700)
    )
    body = text("Nightly log, complete:\n\n" + "\n".join(lines) + "\n\nEnd of the log.\n")
    sender = "Night Shift <nightly@ops.example>"
    return Letter(ago(5, 9), sender, "Nightly log (complete)", body, folder="Archive", flags=("\\Seen",), name="log-1")


def review(now: datetime) -> Letter:
    """A mail that carries another one, attachment and all."""
    inner_body: Entity = multipart(
        "mixed",
        "inner-1",
        text("The contract draft is attached; my remarks are in the margin.\n"),
        attachment(pdf("Contract draft, version 3"), "application/pdf", 'filename="contract-v3.pdf"'),
    )
    inner = Letter(ago(6, 8), "Legal Desk <legal@example.net>", "Contract, version 3", inner_body, MIRA, name="inner-1")
    body = multipart(
        "mixed",
        "review-1",
        text("Robin, this came to me. Could you read it before Thursday?\n\nMira\n"),
        forwarded(inner.at(now).raw),
    )
    return Letter(ago(6, 1), MIRA, "Fwd: Contract, version 3", body, flags=("\\Seen", "$Forwarded"), name="review-1")
