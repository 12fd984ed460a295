"""Mail by programs: newsletters, receipts, mailing lists, bounces, automatic answers."""

from __future__ import annotations

from datetime import datetime

from mailgate.demo.mail.compose import Entity, Letter, Sample, ago, encode, html, multipart, text

LIST = "Garden list <garden@lists.example.org>"


def samples(now: datetime) -> list[Sample]:
    """Everything that no person typed."""
    return [letter.at(now) for letter in (*newsletters(), *receipts(), *mailing_lists(), *reports())]


def newsletters() -> list[Letter]:
    """HTML with a hidden preheader, layout tables and counted links; one with a plain part that is only a stub."""
    page = (
        '<html><head><title>July</title><style>.x{color:#333}</style></head><body style="margin:0">'
        '<div style="display:none;max-height:0;overflow:hidden">Three recipes, one map and a discount inside.'
        + "&zwnj;&nbsp;"
        * 40
        + '</div><table width="600" cellpadding="0"><tr><td><h1>The Bicycle Post</h1></td></tr>'
        "<tr><td><p>Dear reader,</p><p>the canal path is open again. "
        '<a href="https://click.example.com/t/8f3a?u=robin&amp;to=https%3A%2F%2Fwww.example.com%2Fcanal">Read more</a>'
        "</p>"
        "<ul><li>A map of the new lanes</li><li>Brakes: when to change them</li></ul></td></tr>"
        '<tr><td><table border="1"><tr><th>Tour</th><th>Kilometres</th></tr><tr><td>Lake</td><td>42</td></tr>'
        "<tr><td>Hills</td><td>67</td></tr></table></td></tr>"
        '<tr><td><img src="https://track.example.com/o.gif?id=8f3a" width="1" height="1" alt=""></td></tr>'
        '<tr><td><a href="https://www.example.com/unsubscribe?id=8f3a">Unsubscribe</a></td></tr></table></body></html>'
    )
    stub = multipart(
        "alternative",
        "news-2",
        text("Your mail program does not show HTML. View this mail at https://www.example.net/v/77\n"),
        html(
            "<h2>Five plants for a shady balcony</h2><p>Ferns, hostas, ivy, begonias and fuchsias need little sun.</p>"
            "<ol start='3'><li>Water rarely.</li><li>Feed in May.</li></ol><p>Until next week!</p>"
        ),
    )
    unsubscribe = (
        ("List-Unsubscribe", "<https://www.example.com/unsubscribe?id=8f3a>, <mailto:leave@news.example>"),
        ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
        ("Precedence", "bulk"),
    )
    return [
        Letter(
            ago(8, 10),
            "The Bicycle Post <post@news.example>",
            "The canal path is open again",
            html(page),
            name="news-1",
            extra=unsubscribe,
        ),
        Letter(
            ago(1, 9),
            "Balcony Weekly <weekly@example.net>",
            "Five plants for shade",
            stub,
            name="news-2",
            extra=unsubscribe,
        ),
    ]


def receipts() -> list[Letter]:
    """An order confirmation, a one-time code, a parcel, a bill."""
    order = html(
        "<h1>Thank you for your order</h1><table><tr><td>Tea pot, blue</td><td align=right>24.90</td></tr>"
        "<tr><td>Postage</td><td align=right>3.50</td></tr>"
        "<tr><td><b>Total</b></td><td align=right><b>28.40</b></td></tr>"
        "</table><p>Order 10-4471. Questions? <a href='mailto:help@shop.example'>Write to us</a>.</p>"
    )
    code = text("Your code is 493 817. It is good for ten minutes. We will never ask you for it.\n")
    parcel = text("Your parcel 00340434 is out for delivery today between 2 pm and 4 pm.\n")
    bill = multipart(
        "alternative",
        "bill-1",
        text("Your electricity bill for June: 61.12, due on the 30th.\n"),
        html("<p>Your electricity bill for June: <b>61.12</b>, due on the 30th.</p>"),
    )
    return [
        Letter(
            ago(19, 2),
            "Tea & More <orders@shop.example>",
            "Your order 10-4471",
            order,
            folder="Archive",
            flags=("\\Seen",),
            name="order-1",
        ),
        Letter(ago(0, 1), "Sign-in <no-reply@accounts.example>", "Your sign-in code", code, name="code-1"),
        Letter(
            ago(0, 8),
            "Parcel Service <track@parcel.example>",
            "Out for delivery",
            parcel,
            flags=("\\Seen",),
            name="parcel-1",
        ),
        Letter(
            ago(21, 6),
            "City Power <billing@power.example>",
            "Bill for June",
            bill,
            flags=("\\Seen", "\\Answered"),
            name="bill-1",
        ),
    ]


def mailing_lists() -> list[Letter]:
    """A list's mail with its fields, and a digest."""
    fields = (
        ("List-Id", "Gardeners and friends <garden.lists.example.org>"),
        ("List-Post", "<mailto:garden@lists.example.org>"),
        ("List-Archive", "<https://lists.example.org/garden/>"),
        ("Sender", "garden-bounces@lists.example.org"),
        ("X-Loop", "garden@lists.example.org"),
    )
    tomatoes = text("My tomatoes have brown spots. What is it?\n\n_______________\ngarden mailing list\n")
    answer = text("> My tomatoes have brown spots.\n\nToo much water, too little air. Cut the lower leaves.\n")
    return [
        Letter(
            ago(13, 4),
            "Ute <ute@example.org>",
            "[garden] Brown spots",
            tomatoes,
            LIST,
            flags=("\\Seen",),
            name="list-1",
            extra=fields,
        ),
        Letter(
            ago(13, 1),
            "Tom <tom@example.net>",
            "Re: [garden] Brown spots",
            answer,
            LIST,
            name="list-2",
            extra=(*fields, ("In-Reply-To", "<list-1@example.org>"), ("References", "<list-1@example.org>")),
        ),
        Letter(ago(12, 8), LIST, "[garden] Digest, volume 7", digest(), LIST, name="list-3", extra=fields),
    ]


def digest() -> Entity:
    """RFC 2046, 5.1.5: the parts of a digest are messages without saying so."""
    entries = [
        Entity((), f"From: {who} <{who}@example.org>\r\nSubject: {what}\r\n\r\n{what}? Yes, every spring.\r\n".encode())
        for who, what in (("ute", "Compost"), ("tom", "Mulch"))
    ]
    return multipart(
        "mixed", "digest-1", text("Two messages in this digest.\n"), multipart("digest", "digest-1-inner", *entries)
    )


def reports() -> list[Letter]:
    """A bounce (RFC 3464), an automatic answer (RFC 3834), a read receipt (RFC 8098)."""
    status = (
        "Reporting-MTA: dns; mx.example.net\r\n\r\nFinal-Recipient: rfc822; nobody@example.net\r\n"
        "Action: failed\r\nStatus: 5.1.1\r\nDiagnostic-Code: smtp; 550 5.1.1 No such user here\r\n"
    )
    original = (
        "From: Robin Hale <robin@example.com>\r\nTo: nobody@example.net\r\nSubject: Hello?\r\n"
        "Message-ID: <own-0@example.com>\r\n\r\n"
    )
    bounce = multipart(
        "report",
        "bounce-1",
        text(
            "This is the mail system at host mx.example.net.\n\n"
            "Your message could not be delivered to nobody@example.net.\n"
        ),
        Entity((("Content-Type", "message/delivery-status"),), status.encode()),
        Entity((("Content-Type", "text/rfc822-headers"),), original.encode()),
        parameters="; report-type=delivery-status",
    )
    receipt = multipart(
        "report",
        "mdn-1",
        text("Your message was displayed. This is no proof that it was read.\n"),
        encode(
            b"Reporting-UA: mail.example.org; Demo\r\nFinal-Recipient: rfc822; jonas@example.org\r\n"
            b"Original-Message-ID: <aurora-3@example.org>\r\n"
            b"Disposition: manual-action/MDN-sent-manually; displayed\r\n",
            "message/disposition-notification",
            "7bit",
        ),
        parameters="; report-type=disposition-notification",
    )
    away = text("I am away until Monday and read no mail.\n\nDana\n")
    return [
        Letter(
            ago(10, 5),
            "Mail Delivery System <MAILER-DAEMON@mx.example.net>",
            "Undelivered Mail Returned to Sender",
            bounce,
            "robin@example.com",
            name="bounce-1",
            extra=(("Auto-Submitted", "auto-replied"), ("Return-Path", "<>")),
        ),
        Letter(
            ago(10, 4),
            "Dana <dana@example.net>",
            "Automatic reply: Hello",
            away,
            name="away-1",
            extra=(("Auto-Submitted", "auto-replied"), ("X-Auto-Response-Suppress", "All")),
        ),
        Letter(
            ago(11, 18),
            "Jonas Weber <jonas@example.org>",
            "Read: Aurora launch",
            receipt,
            flags=("\\Seen",),
            name="mdn-1",
        ),
    ]
