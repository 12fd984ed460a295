"""Links: the true target, what only tracks left out, long ones cut where it is said, text that names another host."""

import pytest

from mailgate.mime.html_links import WHOLE_CHARS, Target, parse_target, text_differs
from mailgate.mime.html_text import html_to_text


def whole(href: str) -> str:
    target = parse_target(href)
    return target.whole if target else ""


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("https://x.example", "https://x.example"),
        ("HTTPS://X.Example/Path", "https://x.example/Path"),
        (" https://x.example/a\n  b ", "https://x.example/a%20%20b"),
        ("https://x.example/?a=1&b=2#c", "https://x.example/?a=1&b=2#c"),
        ("https:\\\\evil.example\\x", "https://evil.example/x"),
        ("https:evil.example", "https://evil.example"),
        ("https:////evil.example/x", "https://evil.example/x"),
        ("https://good.example\\@evil.example/", "https://good.example/@evil.example/"),
        ("https://good.example@evil.example/", "https://…@evil.example/"),
        ("https://%65vil.example/", "https://evil.example/"),
        ("https://аррӏе.example/", "https://xn--80ak6aa92e.example/"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("mailto:ann@example.org?subject=Hi there", "mailto:ann@example.org?subject=Hi%20there"),
        ("tel:+49 30 1", "tel:+49%20301".replace("301", "30%201")),
        (
            "https://x.example/?utm_source=a&id=7&UTM_Medium=b&gclid=c&fbclid=d&mc_eid=e&mkt_tok=f",
            "https://x.example/?id=7",
        ),
        ("https://x.example/?utm_source=a", "https://x.example/"),
        ("https://x.example/a?utmost=1&source=utm_x", "https://x.example/a?utmost=1&source=utm_x"),
    ],
)
def test_a_target_is_what_a_browser_would_follow_less_tracking(href: str, target: str) -> None:
    assert whole(href) == target


@pytest.mark.parametrize(
    "href",
    [
        *("javascript:alert(1)", "java\tscript:alert(1)", "JaVaScRiPt:x", "data:text/html,x", "cid:a@b", "vbscript:x"),
        *("file:///etc/passwd", "about:blank", "blob:x", "#top", "/path", "x.html", "", "http://", "https://[",
          "https://[::1", "https:///", "https://" + "ü" * 300 + ".example/", "ht!tp://x", "\x00javascript:x"),
    ],
)  # fmt: skip
def test_what_runs_or_leads_nowhere_is_no_target(href: str) -> None:
    assert parse_target(href) is None
    assert "(" not in html_to_text(f'<a href="{href}">words</a>').text


LONG = "a1b2c3d4" * 50


@pytest.mark.parametrize(
    ("href", "short"),
    [
        (f"https://t.example/ls/click?upn={LONG}", "https://t.example/ls/click?upn=a1b2c3d4…"),
        (f"https://t.example/c/{LONG}/x", "https://t.example/c/a1b2c3d4…/x"),
        (f"https://t.example/p?id=7&token={LONG}", "https://t.example/p?id=7&token=a1b2c3d4…"),
        (
            f"https://safe.example/?url=https%3A%2F%2Fwww.shop.example%2Fp%2F1&data={LONG}",
            "https://safe.example/?url=https%3A%2F%2Fwww.shop.example%2Fp%2F1&data=a1b2c3d4…",
        ),
        (f"https://t.example/p#{LONG}", "https://t.example/p#…"),
        (f"mailto:a@b.example?body={LONG}", "mailto:a@b.example…"),
    ],
)
def test_a_long_target_keeps_what_can_be_read_and_marks_the_cut(href: str, short: str) -> None:
    target = parse_target(href)
    assert target is not None
    assert (target.whole, target.short) == (href, short)


def test_a_target_within_the_bound_is_whole() -> None:
    href = "https://x.example/" + "a" * (WHOLE_CHARS - 18)
    assert parse_target(href) == Target(href, href, "x.example")


def test_a_few_long_targets_are_whole_and_many_are_cut() -> None:
    confirm = f"https://x.example/confirm?code={LONG}"
    assert html_to_text(f'<p>Please <a href="{confirm}">confirm</a></p>').text == f"Please [confirm]({confirm})"
    many = html_to_text("".join(f'<p><a href="{confirm}{number}">confirm</a></p>' for number in range(9))).text
    assert many.count("[confirm](https://x.example/confirm?code=a1b2c3d4…)") == 9


def test_a_target_longer_than_is_read_is_cut_and_says_so() -> None:
    text = html_to_text(f'<a href="https://x.example/{"ab/" * 3000}">go</a>').text
    assert text.startswith("[go](https://x.example/ab/ab/")
    assert text.endswith("…)")
    assert len(text) < 200


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("https://good.example/", "https://evil.example/"),
        ("www.good.example", "https://evil.example/"),
        ("good.example", "https://evil.example/x?good.example"),
        ("http://good.example/login", "https://good.example.evil.example/login"),
        ("Go to www.good.example now", "https://evil.example/"),
        ("Sign in at good.com today", "https://evil.example/"),
        ("<b>https://</b>good.example/a", "https://evil.example/"),
        ("GOOD.EXAMPLE", "https://evil.example/"),
        ("shop.good.example", "https://mail.good.example/"),
        ("good.example", "https://goоd.example/"),
        ("ann@good.example", "mailto:ann@evil.example"),
        ("ann@good.example", "https://evil.example/"),
        ("https://good.example@evil.example/", "https://evil2.example/"),
        ("click here", "https://good.example@evil.example/"),
    ],
)
def test_text_that_names_another_host_is_reported_and_the_target_shown(text: str, href: str) -> None:
    result = html_to_text(f'<p><a href="{href}">{text}</a></p>')
    assert result.differs
    assert "evil" in result.text or "mail.good" in result.text or "xn--" in result.text


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("https://good.example/", "https://good.example/?utm_source=x"),
        ("good.example", "https://www.good.example/a"),
        ("www.good.example", "https://click.good.example/a"),
        ("mail.good.example", "https://good.example/a"),
        ("https://GOOD.example.", "https://good.example/a"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("report.pdf", "https://files.example/1"),
        ("e.g. this", "https://x.example/"),
        ("version 1.2.3", "https://x.example/"),
        ("click here", "https://x.example/"),
        ("ann@good.example", "mailto:ann@good.example?subject=x"),
        ("call us", "tel:+4930"),
        ("www.good.example", "tel:+4930"),
    ],
)
def test_ordinary_text_is_not_reported(text: str, href: str) -> None:
    assert not html_to_text(f'<p><a href="{href}">{text}</a></p>').differs


@pytest.mark.parametrize(
    "unit", ["a.", "@", "www.", "http://", "a" * 64 + ".", "é.", "%", "%4", "xn--", "-.", "\u3002"]
)
def test_any_text_and_any_target_are_compared_without_an_exception(unit: str) -> None:
    target = Target("https://x.example/", "https://x.example/", "x.example")
    for text in (unit, unit * 1000, f"www.{unit}x.example"):
        text_differs(text, target)
        parse_target(f"https://{text}/?{text}#{text}")
        parse_target(f"mailto:{text}")


@pytest.mark.parametrize("href", ["//evil.example/login", "/\\evil.example/login", "\\\\evil.example/login"])
def test_a_target_without_a_scheme_leads_to_its_host_all_the_same(href: str) -> None:
    result = html_to_text(f'<a href="{href}">https://good.example/login</a>')
    assert "https://evil.example/login" in result.text
    assert result.differs
