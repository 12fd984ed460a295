"""Faults that real mail is known for, each read from the whole message. Kinds of them: test_decoding_properties.py."""

from __future__ import annotations

import base64

import pytest

from mailgate.mime.model import RawMessage, TextSource
from mailgate.mime.parse import extract_attachment
from tests.mime.messages import attachment, codes, html, multipart, part, read, text


def said(body: bytes, *fields: str) -> tuple[str, set[str]]:
    message = read(part(body, *fields))
    return message.text.text, codes(message)


@pytest.mark.parametrize(
    "label", ["bogus", '3D"utf-8"', "hex", "utf-7", "unicode_escape", "raw_unicode_escape", "idna"]
)
def test_an_unknown_or_dangerous_charset_is_read_as_utf8_or_windows_1252(label: str) -> None:
    field = f"Content-Type: text/plain; charset={label}"
    assert said("Grüße".encode(), field) == ("Grüße", {"charset_unknown"})
    assert said("Grüße".encode("cp1252"), field) == ("Grüße", {"charset_unknown"})
    assert said(b"+ADw-b+AD4- \\x41 3c62", field) == ("+ADw-b+AD4- \\x41 3c62", {"charset_unknown"})


@pytest.mark.parametrize(
    ("label", "codec", "words"),
    [
        ("cp-850", "cp850", "Grüße"),
        ("iso-8859-8-i", "iso8859-8", "שלום"),
        ("gb2312", "gbk", "朱镕基"),
        ("gbk", "gb18030", "汉字😀"),
        ("shift_jis", "cp932", "①㈱髙"),
        ("windows-31j", "cp932", "日本"),
        ("iso2022jp", "iso2022_jp", "日本語"),
        ("ks_c_5601-1987", "cp949", "똠방각하"),
        ("iso-8859-1", "cp1252", "“5 €”"),
        ("latin1", "cp1252", "é…"),
        ("x-sjis", "cp932", "日本"),
        ("win-1251", "cp1251", "привет"),
    ],
)
def test_a_label_stands_for_the_superset_that_its_senders_use(label: str, codec: str, words: str) -> None:
    assert said(words.encode(codec), f"Content-Type: text/plain; charset={label}") == (words, set())


def test_japanese_with_the_signs_of_windows_is_read_under_its_internet_label() -> None:
    body = b"\x1b$B-!-jF|K\\\x1b(B x \x1b(I1\x1b(B"
    assert said(body, "Content-Type: text/plain; charset=iso-2022-jp") == ("①㈱日本 x ｱ", set())


@pytest.mark.parametrize(
    "fields", [[], ["Content-Transfer-Encoding: 8bit"], ["Content-Type: text/plain; charset=us-ascii"]]
)
def test_text_without_a_charset_is_utf8_or_what_it_looks_like(fields: list[str]) -> None:
    assert said("é".encode(), *fields) == ("é", set())
    for codec, words in [
        ("cp1252", "Grüße aus Köln"),
        ("cp1251", "Высылаю вам счет за прошлый месяц"),
        ("koi8-r", "Высылаю вам счет за прошлый месяц"),
        ("gb18030", "您好，附件是本月的订单，请确认收到"),
        ("big5", "您好，附件是本月的訂單，請確認收到"),
        ("cp932", "添付の請求書をご確認ください。"),
        ("euc_jp", "添付の請求書をご確認ください。"),
        ("iso2022_jp", "添付の請求書をご確認ください。"),
        ("cp949", "첨부된 계약서를 확인해 주시기 바랍니다"),
        ("cp1253", "σας στέλνω το τιμολόγιο για τον μήνα"),
        ("cp1255", "מצורפת החשבונית של החודש שעבר"),
        ("cp1256", "تجدون المرفق طيه الفاتورة الخاصة بالشهر الماضي"),
        ("cp874", "กรุณาตรวจสอบเอกสารแนบ ขอบคุณครับ"),
        ("cp1250", "Proszę o potwierdzenie, że została opłacona"),
        ("cp1254", "lütfen ödeme için bakın, iyi çalışmalar, teşekkürler"),
        ("utf-16-le", "Hello there, Grüße"),
        ("utf-16", "Привет, как дела"),
    ]:
        assert said(words.encode(codec), *fields) == (words, {"charset_guessed"}), codec


def test_text_that_is_no_utf8_at_all_under_its_label_is_not_replaced_by_signs_of_damage() -> None:
    field = "Content-Type: text/plain; charset=utf-8"
    assert said("Grüße aus Köln".encode("cp1252"), field) == ("Grüße aus Köln", {"charset_guessed"})
    assert said("Grüße".encode() + b"\xff", field) == ("Grüße\ufffd", {"charset_damaged"})


@pytest.mark.parametrize("field", ["Message-ID: <[x@microsoft.com]>", "Message-ID: no brackets", "Message-ID: <<>>"])
def test_a_malformed_message_id_is_given_as_it_stands(field: str) -> None:
    assert read(part(b"x", field)).headers.message_id


@pytest.mark.parametrize(
    "date", ["Fri, 1 Jan 9999999999 00:00:00 +0000", "17 June , 2022", "16.03.09", "Mon, 1 Jan 100 00:00:00 +0000"]
)
def test_a_date_that_is_none_is_kept_as_written(date: str) -> None:
    message = read(part(b"x", f"Date: {date}"))
    assert (message.headers.date, message.headers.date_raw) == (None, date)
    assert codes(message) == {"date_invalid"}


@pytest.mark.parametrize(
    ("date", "iso"),
    [
        ("Thu, 5 Feb 26 11:22:33 +0100", "2026-02-05T11:22:33+01:00"),
        ("Thu, 5 Feb 99 11:22:33 GMT", "1999-02-05T11:22:33+00:00"),
        ("Thu, 5 Feb 2026 11:22:33 +0100 (CET (winter))", "2026-02-05T11:22:33+01:00"),
        ("Thu, 5 Feb 2026 11:22:33 GMT+0200", "2026-02-05T11:22:33+02:00"),
        ("Thu, 5 Feb 2026 11:22:33 -0930 (x) (y)", "2026-02-05T11:22:33-09:30"),
        ("Thu, 5 Feb 2026 11:22:33 PDT", "2026-02-05T11:22:33-07:00"),
    ],
)
def test_a_date_in_an_old_or_odd_form_is_understood(date: str, iso: str) -> None:
    assert read(part(b"x", f"Date: {date}")).headers.date == iso


@pytest.mark.parametrize(
    ("subject", "shown"),
    [
        ("=?utf-8?Q?=C4?=\r\n =?utf-8?Q?=97?=", "ė"),
        ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?= =?ISO-2022-JP?B?GyRCOGwbKEI=?=", "日本語"),
        ("=?gb2312?B?1uzp?= =?GB2312?B?Rg==?=", "朱镕"),
        ("=?utf-8?Q?a?= b =?utf-8?Q?c?=", "a b c"),
    ],
)
def test_a_character_split_over_encoded_words_is_whole(subject: str, shown: str) -> None:
    assert read(part(b"x", f"Subject: {subject}")).headers.subject == shown


def test_line_breaks_and_nul_in_an_encoded_word_are_taken_out() -> None:
    message = read(part(b"x", "Subject: =?utf-8?Q?a=0D=0ABcc:_x@y.z=00?="))
    assert message.headers.subject == "a Bcc: x@y.z"
    assert message.headers.sanitized
    assert message.headers.bcc == ()


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ("filename*0*=UTF-8''%E2%98; filename*1*=%83.txt", "☃.txt"),
        ("filename*0*=UTF-8''%E2%98%83; filename*1=%41.txt", "☃%41.txt"),
        ("filename*1=b.txt; filename*0=a", "ab.txt"),
        ("filename*1=a; filename*2=b.txt", "ab.txt"),
        ("filename*0==?utf-8?B?4piD; filename*1=LnR4dA==?=", "☃.txt"),
        ("filename*0*=gb2312''%D6%EC; filename*1*=%E9F.txt", "朱镕.txt"),
        ("filename=plain.txt; filename*=UTF-8''%E2%98%83.txt", "☃.txt"),
    ],
)
def test_a_name_in_pieces_is_put_together(parameters: str, name: str) -> None:
    file = part(b"x", "Content-Type: a/b", f"Content-Disposition: attachment; {parameters}")
    message = read(multipart("mixed", [text("x"), file]))
    assert [(info.filename, info.filename_changed) for info in message.attachments] == [(name, False)]


def test_an_attachment_with_a_name_beyond_ascii_is_had_by_its_index() -> None:
    source = multipart("mixed", [text("x"), attachment(b"one", name="имя.pdf"), attachment(b"two", name="имя.pdf")])
    assert [extract_attachment(RawMessage(source), index).data for index in (1, 2)] == [b"one", b"two"]


@pytest.mark.parametrize(
    ("parameters", "name", "changed"),
    [
        ('filename="../../etc/passwd"', "passwd", True),
        ("filename=my report.pdf", "my report.pdf", False),
        ('filename="a.pdf"; filename="b.pdf"', "a.pdf", False),
        ('filename="a\u202egpj.exe"', "agpj.exe", True),
        ('filename="' + "x" * 10_000 + '.pdf"', "x" * 196 + ".pdf", True),
        ('filename="C:\\\\Users\\\\a.pdf"', "a.pdf", True),
        ('filename="/abs/a.pdf"', "a.pdf", True),
        ('filename="a\x00b.pdf"', "ab.pdf", True),
        ('filename="\u200b"', None, True),
        ('filename="  "', None, True),
        ('filename="naïve.pdf"', "naïve.pdf", False),
    ],
)
def test_a_name_is_bare_short_and_without_hidden_characters(parameters: str, name: str | None, changed: bool) -> None:
    file = part(b"x", "Content-Type: a/b", f"Content-Disposition: attachment; {parameters}")
    info = read(multipart("mixed", [text("x"), file])).attachments[0]
    assert (info.filename, info.filename_changed) == (name, changed)


@pytest.mark.parametrize("encoding", ["base64 ", "BASE64", '"base64"', "base64 (binary)", "base64;", "Base-64"])
def test_a_transfer_encoding_is_known_however_it_is_written(encoding: str) -> None:
    assert said(b"R3LDvMOfZQ==", f"Content-Transfer-Encoding: {encoding}") == ("Grüße", set())


def test_every_cut_prefix_of_a_message_is_read() -> None:
    parts = [html("<p>one</p>"), attachment(base64.encodebytes(b"x" * 90)), text("two")]
    source = multipart("mixed", parts)
    for length in range(len(source)):
        message = read(source[:length], truncated=True)
        assert "source_truncated" in codes(message)
        assert "part_unreadable" not in codes(message)


def test_a_multipart_without_its_last_boundary_has_all_its_parts() -> None:
    message = read(multipart("mixed", [text("one"), attachment(), text("two")], close=False))
    assert (message.text.text, len(message.attachments)) == ("one\n\ntwo", 1)
    assert codes(message) == {"boundary_missing"}


@pytest.mark.parametrize("placing", ["inline", "attachment", ""])
def test_an_attached_message_gives_no_text_and_no_attachments_to_the_outer_one(placing: str) -> None:
    inner = multipart("mixed", [text("inner text"), attachment()])
    fields = ["Content-Type: message/rfc822", *([f"Content-Disposition: {placing}"] if placing else [])]
    message = read(multipart("mixed", [text("outer"), part(inner, *fields)]))
    assert message.text.text == "outer"
    assert [info.content_type for info in message.attachments] == ["message/rfc822"]
    alone = read(multipart("digest", [part(inner, "")], boundary="outer"))
    assert "inner text" not in alone.text.text


def test_all_text_around_attachments_is_shown_in_either_form() -> None:
    branch = multipart("mixed", [html(f"<p>{'first words ' * 40}</p>"), attachment(), html("<p>last</p>")])
    message = read(multipart("alternative", [text("stub"), branch]))
    assert message.text.source is TextSource.HTML
    assert message.text.text == ("first words " * 40).strip() + "\n\nlast"
    mixed = read(multipart("mixed", [text("a"), attachment(), html("<p>b</p>"), attachment(), text("c")]))
    assert mixed.text.text == "a\n\nb\n\nc"


def test_what_hides_in_the_form_that_is_not_shown_is_listed() -> None:
    picture = part(b"png", "Content-Type: image/png", "Content-ID: <logo>")
    branch = multipart("related", [html("<p>plain form</p>"), picture, attachment()])
    message = read(multipart("alternative", [text("plain form"), branch]))
    assert message.text.source is TextSource.PLAIN
    assert [info.content_type for info in message.attachments] == ["image/png", "application/pdf"]


def test_a_form_that_another_of_its_kind_supersedes_is_listed() -> None:
    message = read(multipart("alternative", [text("first"), text("second"), html("<p>second</p>")]))
    assert message.text.text == "second"
    assert [info.content_type for info in message.attachments] == ["text/plain"]


def test_the_root_of_a_compound_object_is_the_part_it_names() -> None:
    root = part(b"<p>root</p>", "Content-Type: text/html", "Content-ID: <r@x>")
    for start in ("<r@x>", "r@x"):
        body = multipart("x", [attachment(), root], boundary="b").partition(b"\r\n\r\n")[2]
        message = read(part(body, f'Content-Type: multipart/related; boundary=b; start="{start}"'))
        assert message.text.text == "root"
        assert len(message.attachments) == 1


def test_a_message_that_is_only_an_outlook_container_says_so() -> None:
    message = read(part(b"x", "Content-Type: application/ms-tnef; name=winmail.dat"))
    assert codes(message) == {"tnef_not_decoded", "no_text"}
    assert len(message.attachments) == 1


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"a\x00b", "ab"),
        (b"one\rtwo\rthree", "one\ntwo\nthree"),
        (b"one\ntwo\r\nthree", "one\ntwo\nthree"),
        (b"one\r\r\ntwo", "one\n\ntwo"),
    ],
)
def test_line_ends_are_unified_and_nul_is_taken_out(body: bytes, expected: str) -> None:
    assert said(body)[0] == expected


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("label", ["utf-16", None])
@pytest.mark.parametrize("line_end", ["\r\n", "\n", "\r"])
def test_utf16_is_read_with_and_without_its_mark(codec: str, label: str | None, line_end: str) -> None:
    words = f"Dear all,{line_end}Grüße from here.{line_end}"
    label = label or codec
    body = base64.encodebytes(words.encode(codec))
    fields = [f"Content-Type: text/plain; charset={label}", "Content-Transfer-Encoding: base64"]
    assert said(body, *fields) == ("Dear all,\nGrüße from here.", set())
    assert not read(part(body, *fields)).text.sanitized


@pytest.mark.parametrize(("codec", "label"), [("utf-8", "utf-8"), ("utf-8", "us-ascii"), ("utf-16-le", "utf-16le")])
def test_a_byte_order_mark_is_no_text(codec: str, label: str) -> None:
    body = base64.encodebytes("\ufeffé".encode(codec))
    message = read(part(body, f"Content-Type: text/plain; charset={label}", "Content-Transfer-Encoding: base64"))
    assert (message.text.text, message.text.sanitized) == ("é", False)
