"""Generated documents: what is seen is in the text in its order, what is hidden never is, and nothing raises."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.mime.clean import is_safe
from mailgate.mime.html_text import html_to_text
from tests.mime.html_attacks import ATTACKS, SECRET

WRAPPERS = [
    *(
        "<p>{}</p>",
        "<div>{}</div>",
        "<b>{}</b>",
        "<i>{}</i>",
        "<font color=red>{}</font>",
        "<h2>{}</h2>",
        "<li>{}</li>",
    ),
    *("<ul><li>{}</li></ul>", "<ol start=3><li>{}</li></ol>", "<blockquote>{}</blockquote>", "<span>{}</span>"),
    *(
        "<table><tr><td>{}</td></tr></table>",
        "<table border=1><tr><th>a<th>b<tr><td>{}<td>c</table>",
        "<center>{}</center>",
    ),
    *('<a href="https://x.example/?utm_source=a">{}</a>', '<p style="font-size:0"><i style="font-size:9pt">{}</i></p>'),
    *(
        '<div style="background:#000;color:#fff">{}</div>',
        '<td style="color:#fff;background:url(x)">{}</td>',
        "<dd>{}</dd>",
    ),
    *(
        "<!--[if !mso]><!-->{}<!--<![endif]-->",
        "<p>{}",
        "{}</div>",
        "<section class=seen>{}</section>",
        "<pre>{}</pre>",
    ),
]
HIDERS = [
    *("<p hidden>{}</p>", '<div style="display:none">{}</div>', '<span style="visibility:hidden">{}</span>'),
    *(
        '<b style="font-size:0">{}</b>',
        '<p class="gone">{}</p>',
        '<div class="far">{}</div>',
        "<template>{}</template>",
    ),
    *('<table style="opacity:0"><tr><td>{}</td></tr></table>', '<font style="display:none">{}</font>', "<svg>{}</svg>"),
]
SHEET = "<style>.gone{display:none!important}.seen .gone .x{display:block}.far{position:absolute;left:-9999px}</style>"

seen = st.recursive(
    st.just(" W "),
    lambda inner: st.one_of(
        st.builds(lambda wrapper, text: wrapper.replace("{}", text), st.sampled_from(WRAPPERS), inner),
        st.builds(lambda one, other: one + other, inner, inner),
        st.builds(lambda hider, text: text + hider.replace("{}", " H "), st.sampled_from(HIDERS), inner),
    ),
    max_leaves=12,
)


def numbered(markup: str) -> tuple[str, list[str]]:
    """The markup with a word of its own at each mark, and the words that are seen."""
    pieces: list[str] = []
    words: list[str] = []
    for number, piece in enumerate(markup.split(" ")):
        word = f"{'see' if piece == 'W' else 'hid'}{number}x"
        pieces.append(word if piece in ("W", "H") else piece)
        if piece == "W":
            words.append(word)
    return " ".join(pieces), words


@settings(derandomize=True, max_examples=300, deadline=None)
@given(seen)
def test_words_that_are_seen_come_in_order_and_hidden_ones_never(markup: str) -> None:
    html, words = numbered(markup)
    result = html_to_text(SHEET + html)
    found = [word for word in result.text.replace("*", " ").replace("_", " ").split() if "see" in word]
    assert [word.strip("[]()|#>.").partition("]")[0] for word in found] == words
    assert "hid" not in result.text
    assert result.hidden == ("hid" in html)
    assert not result.failed


@settings(derandomize=True, max_examples=200, deadline=None)
@given(
    st.lists(
        st.one_of(st.sampled_from(list(ATTACKS.values())), st.text(max_size=8), st.sampled_from(WRAPPERS)), max_size=8
    )
)
def test_any_mixture_gives_clean_text_without_an_exception(pieces: list[str]) -> None:
    result = html_to_text("".join(pieces))
    assert not result.failed
    assert is_safe(result.text)
    result.text.encode("utf-8")


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.sampled_from(list(ATTACKS.values())), st.sampled_from(WRAPPERS), st.sampled_from(WRAPPERS))
def test_hidden_text_stays_hidden_within_other_elements(attack: str, outer: str, inner: str) -> None:
    around = outer + inner
    # Another colour or size around it would show the text again, or does so once the parser opens it again inside.
    if "{}" not in outer or any(sign in around for sign in ("#000", "color", "url(", "font-size")):
        return
    # A sheet or a body inside changes what is around it.
    if "<style" in attack or "<body" in attack:
        return
    html = outer.replace("{}", inner.replace("{}", attack))
    assert SECRET not in html_to_text(html).text


@settings(derandomize=True, max_examples=300, deadline=None)
@given(st.text(alphabet="<>/=\"'!-[]{}();:#.,@%\\ &abdhilmnoprstuvxyz019\n\ud800\u202e\ufdd2", max_size=200))
def test_any_characters_give_clean_text_without_an_exception(html: str) -> None:
    result = html_to_text(f"<style>{html}</style><p style='{html}' class=a>{html}")
    assert not result.failed
    assert is_safe(result.text)
