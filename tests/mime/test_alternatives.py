"""Two forms of one text: which is shown, and whether they agree."""

from __future__ import annotations

import html as markup
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.mime.alternatives import differ, is_stub
from mailgate.mime.model import TextSource
from tests.mime.messages import codes, html, multipart, read, text

LONG = "This sentence says a good deal more than the other form does. " * 10


@pytest.mark.parametrize(
    "notice",
    [
        "View this e-mail in your browser: https://x.example/v",
        "Your mail program does not support HTML.",
        "Falls der Newsletter nicht angezeigt wird, im Browser öffnen: https://x.example/v",
        "Dieses E-Mail-Programm kann kein HTML darstellen.",
        "Si vous ne voyez pas ce message, ouvrez-le dans votre navigateur : https://x.example/v",
        "Si no puede ver este mensaje, ábralo en su navegador.",
        "Se non visualizzi la versione HTML, apri la versione online.",
        "Se não consegue ver esta mensagem, abra-a no seu navegador.",
        "Bekijk deze nieuwsbrief in uw browser",
        "Zobacz wiadomość w przeglądarce",
        "Если письмо не отображается, откройте его в браузере.",
        "メールが表示されない場合は、ブラウザでご覧ください。",
        "如果无法正常显示，请在浏览器中打开。",
        "메일이 보이지 않으면 브라우저에서 확인하세요.",
        "Visa mejlet i webbläsaren",
    ],
)
def test_a_notice_in_any_language_stands_in_for_the_html_form(notice: str) -> None:
    message = read(multipart("alternative", [text(notice), html("<p>Your invoice 17 is due on Friday.</p>")]))
    assert message.text.source is TextSource.HTML
    assert message.text.text == "Your invoice 17 is due on Friday."
    assert codes(message) == {"plain_not_shown"}


def test_a_notice_beside_the_whole_text_is_no_stub() -> None:
    said = "The browser crashes when I open the report, see below."
    assert not is_stub(said, said + " Regards, Jo")


def test_a_long_plain_form_that_leaves_most_out_is_a_stub() -> None:
    assert is_stub(LONG * 2, LONG * 9 + "and more")
    assert not is_stub(LONG * 2, LONG * 4)


def test_links_do_not_make_a_plain_form_say_more() -> None:
    assert is_stub("https://x.example/" + "a" * 900, LONG)
    assert not is_stub(LONG, f"[{LONG}](https://x.example/{'a' * 9000})")


@pytest.mark.parametrize(
    ("plain", "rich"),
    [
        ("Please pay 100.00 EUR by Friday.", "<p>Please pay 900.00 EUR by Friday.</p>"),
        ("Please pay € 1.200 by Friday.", "<p>Please pay <b>€ 1.300</b> by Friday.</p>"),
        ("Pay to DE02 1203 0000 0000 2020 51", "<p>Pay to DE02 1203 0000 0000 2020 99</p>"),
        (
            "Sign in at https://bank.example/login to go on.",
            "<p>Sign in <a href='https://thief.test/x'>here</a> to go on.</p>",
        ),
        (
            "The meeting moves to Tuesday, bring the printed contract along.",
            "<p>Your parcel waits at customs, send the release fee today please.</p>",
        ),
        (
            "会議は火曜日に変更になりました。契約書を持参してください。",
            "<p>お荷物が税関で止まっています。手数料をお支払いください。</p>",
        ),
    ],
    ids=["amount", "grouped amount", "account", "site", "words", "words without blanks"],
)
def test_forms_that_disagree_in_substance_are_called_different(plain: str, rich: str) -> None:
    message = read(multipart("alternative", [text(plain), html(rich)]))
    assert message.text.source is TextSource.PLAIN
    assert codes(message) == {"html_not_shown", "alternatives_differ"}


def test_a_stub_with_another_amount_is_called_different() -> None:
    message = read(multipart("alternative", [text("Pay 5 EUR"), html(f"<p>{LONG}</p><p>Pay 500 EUR</p>")]))
    assert message.text.source is TextSource.HTML
    assert codes(message) == {"plain_not_shown", "alternatives_differ"}


@pytest.mark.parametrize(
    ("plain", "rich"),
    [
        ("Total: 1,234.50 USD", "Total: **$1.234,50**"),
        ("Total: 45 EUR", "Total: €&nbsp;45.00".replace("&nbsp;", "\u00a0")),
        ("See https://www.shop.example/a", "See [the shop](https://news.shop.example/b?u=1)"),
        ("See https://a.shop.co.uk/", "See https://b.shop.co.uk/"),
        ("Yes!", "Yes!\n\nSent from my phone"),
        ("HELLO THERE\n===========\n* one\n* two", "# Hello there\n\n- one\n- two"),
        ("Thank you very much for everything", ""),
        ("", "Thank you very much for everything"),
        ("no links at all in this one", "no [links](https://x.example) at all in this one"),
    ],
)
def test_forms_that_only_look_different_agree(plain: str, rich: str) -> None:
    assert not differ(plain, rich)


WORDS = st.sampled_from(
    "the a contract meeting Friday please send review größe Straße déjà señor список договор пожалуйста "
    "会議 契約書 資料 100 7 € EUR 45.00 1,200.00 don't x (see) — “quoted” shop order".split()
)
PARAGRAPHS = st.lists(st.lists(WORDS, min_size=1, max_size=30), min_size=1, max_size=8)


@settings(derandomize=True, max_examples=80, deadline=None)
@given(PARAGRAPHS, st.integers(30, 78), st.booleans(), st.booleans(), st.integers(0, 3))
def test_ordinary_pairs_never_differ(
    paragraphs: list[list[str]], width: int, shouting: bool, tracked: bool, links: int
) -> None:
    """What mail programs do to one text: wrapping, emphasis, case of headings, links in notes, counted redirects."""
    plain = "\n\n".join(re.sub(rf"(.{{1,{width}}})(?: |$)", r"\1\n", " ".join(words)) for words in paragraphs)
    if shouting:
        first, _, rest = plain.partition("\n")
        plain = f"{first.upper()}\n{'=' * len(first)}\n{rest}"
    host = "click.news.shop.example" if tracked else "shop.example"
    plain += "".join(f"\n[{number}] https://shop.example/{number}" for number in range(links))
    body = "".join(
        f"<p>{markup.escape(' '.join(words[:1]))} <b>{markup.escape(' '.join(words[1:]))}</b></p>"
        for words in paragraphs
    )
    body += "".join(f'<a href="https://{host}/r/{number}?c=1">more</a>' for number in range(links))
    message = read(multipart("alternative", [text(plain), html(body)]))
    assert "alternatives_differ" not in codes(message)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(PARAGRAPHS, st.integers(1, 10**7), st.integers(1, 10**7), st.sampled_from(["€ {}", "{} EUR", "${}", "{} kr"]))
def test_another_amount_in_the_same_text_is_always_seen(
    paragraphs: list[list[str]], one: int, other: int, form: str
) -> None:
    words = " ".join(word for words in paragraphs for word in words if not re.search(r"\d|€|EUR", word))
    plain, rich = (f"{words}\nTotal {form.format(amount)}." for amount in (one, other))
    assert differ(plain, rich) == (one != other)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.text(max_size=500), st.text(max_size=500))
def test_any_two_texts_can_be_compared(plain: str, rich: str) -> None:
    assert not differ(plain, plain)
    assert not is_stub(plain, plain)
    differ(plain, rich)
    is_stub(plain, rich)


@pytest.mark.parametrize("unit", ["](", "](a(", "https://", "www.", ",000", "1,000", "€ 1", "AB12 3456 ", "a.", "@"])
def test_comparing_is_linear_in_texts_made_to_be_slow(unit: str) -> None:
    hostile = unit * (256 * 1024 // len(unit))
    differ(hostile, hostile + "x")
