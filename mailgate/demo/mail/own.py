"""The owner's own mail: sent, drafts, thrown away, filed."""

from __future__ import annotations

from datetime import datetime

from mailgate.demo.mail.compose import OWNER, Letter, Sample, ago, attachment, html, multipart, pdf, text


def samples(now: datetime) -> list[Sample]:
    """What the owner wrote or put away."""
    return [letter.at(now) for letter in (*sent(), *drafts(), *put_away())]


def sent() -> list[Letter]:
    """Answers and a mail with an attachment."""
    seen = ("\\Seen",)
    answer = text("Dear Jürgen,\n\nthank you for the news from Zürich. I will come in May.\n\nRobin\n")
    offer = multipart(
        "mixed",
        "offer-1",
        text("Dear Sir or Madam,\n\nour offer is attached and stands until the end of the month.\n\nRobin Hale\n"),
        attachment(pdf("Offer 2207"), "application/pdf", 'filename="offer-2207.pdf"'),
    )
    reply = (("In-Reply-To", "<de-1@example.org>"), ("References", "<de-1@example.org>"))
    return [
        Letter(
            ago(19, 8),
            OWNER,
            "Re: Grüße aus Zürich",
            answer,
            "Jürgen Müller <juergen@example.org>",
            "Sent",
            seen,
            name="own-1",
            extra=reply,
        ),
        Letter(
            ago(9, 1),
            OWNER,
            "Our offer 2207",
            offer,
            "Purchasing <purchasing@customer.example>",
            "Sent",
            seen,
            name="own-2",
            extra=(("Bcc", "archive@example.com"),),
        ),
    ]


def drafts() -> list[Letter]:
    """One begun, one nearly done."""
    flags = ("\\Draft", "\\Seen")
    begun = text("Dear Priya,\n\nthe budget looks good to me, but page\n")
    plan = html("<p>Plan for the trip:</p><ul><li>Train to Basel</li><li>Hotel by the river</li></ul>")
    return [
        Letter(
            ago(8, 2),
            OWNER,
            "Re: Budget for the third quarter",
            begun,
            "priya@example.net",
            "Drafts",
            flags,
            name="draft-1",
        ),
        Letter(ago(1, 1), OWNER, "Trip", plan, "", "Drafts", flags),
    ]


def put_away() -> list[Letter]:
    """Old mail in Trash and Archive."""
    seen = ("\\Seen",)
    offer = text("Last chance for the early ticket.\n")
    keys = text("The spare keys are with the neighbour on the second floor.\n\nThe landlord\n")
    old = text("Happy new year! May it be a quiet one.\n")
    return [
        Letter(
            ago(30, 2),
            "Ticket Office <tickets@example.net>",
            "Early tickets",
            offer,
            folder="Trash",
            flags=seen,
            name="trash-1",
        ),
        Letter(
            ago(31),
            "Landlord <landlord@example.org>",
            "Spare keys",
            keys,
            folder="Archive",
            flags=("\\Seen", "\\Flagged"),
            name="keys-1",
        ),
        Letter(
            ago(200),
            "Uncle Theo <theo@example.org>",
            "Happy new year",
            old,
            folder="Archive",
            flags=seen,
            name="year-1",
        ),
    ]
