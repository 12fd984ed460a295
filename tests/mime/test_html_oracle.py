"""Generated documents whose every word is known to be seen or not by the way the document was built."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.mime.html_text import html_to_text


@dataclass(frozen=True)
class State:
    """What holds inside: nothing can undo `gone`; the others are inherited until something else is said."""

    gone: bool = False
    invisible: bool = False
    small: bool = False
    ink: str = "black"
    paper: str = "white"

    @property
    def seen(self) -> bool:
        return not (self.gone or self.invisible or self.small) and self.ink != self.paper


@dataclass(frozen=True)
class Wrapper:
    """An element, and what it does to the state."""

    attributes: str
    gone: bool = False
    changes: tuple[tuple[str, object], ...] = ()

    def inside(self, outer: State) -> State:
        return replace(outer, gone=outer.gone or self.gone, **dict(self.changes))  # type: ignore[arg-type]


SHEET: Final = """
:root{--none:none;--big:calc(10px + 5px);--w:rgb(255 255 255);--K:#000}
.gone, .away .never{display:none}
.g2{display:block;display:var(--none)}
@media not print{.g3{position:absolute;left:-200vw}}
@supports (display:grid){.g4{opacity:0}}
div[data-g="5"]{transform:scale(0)}
:is(.g6,.g7){max-height:0;overflow:hidden}
.g8:not(.stay){clip-path:inset(50%)}
@layer low{.g9{display:block}} .g9{display:none}
.inv{visibility:hidden} .vis{visibility:visible}
.s0{font-size:0} .s1{font-size:var(--big)} .s2{font-size:max(14px,1em)} .s3{font:0/0 a}
.white{color:var(--w)} .black{color:var(--K)} .onwhite{background:#fff} .onblack{background:oklch(0 0 0)}
.keep{display:none;display:block;display:none\\9}
@media print{.keep2{display:none}} @media (max-width:600px){.keep3{display:none}}
.keep4:hover,.keep5::before{display:none} .keep6,.x::-moz-y(1){display:none} .other .keep7{display:none}
.keep8{display:none} .keep8{display:block!important}
"""

GONE: Final = [
    *('class="gone"', 'class="g2"', 'class="g3"', 'class="g4"', 'data-g="5"', 'class="g6"', 'class="g8"', 'class="g9"'),
    *("hidden", 'style="display:none"', 'style="opacity:calc(1 - 1)"', 'style="height:0;overflow:auto"'),
    *('style="position:fixed;top:100vh"', 'style="filter:blur(30px)"', 'style="clip-path:polygon(0 0,1px 0)"'),
    *(
        'style="transform:rotateY(90deg)"',
        'style="--d:none;display:var(--d)"',
        'style="mask:linear-gradient(#0000 0 0)"',
    ),
]
KEPT: Final = [
    *("", 'class="keep"', 'class="keep2"', 'class="keep3"', 'class="keep4"', 'class="keep5"', 'class="keep6"'),
    *('class="keep7"', 'class="keep8"', 'style="display:none\\9"', 'style="transform:rotate(5deg)"', 'class="g8 stay"'),
    *('style="margin:0 auto;padding:9px 20px"', 'style="max-height:500px;overflow:hidden"', 'data-g="6"'),
    *('style="opacity:.9"', 'style="width:calc(100% - 20px)"', 'style="display:flex"', 'style="line-height:0"'),
]
SOFT: Final = [
    (("invisible", True), ('class="inv"', 'style="visibility:hidden"', 'style="visibility:collapse"')),
    (("invisible", False), ('class="vis"', 'style="visibility:visible"')),
    (("small", True), ('class="s0"', 'class="s3"', 'style="font-size:min(0px,9px)"', 'style="font:0/0 a"')),
    (("small", False), ('class="s1"', 'style="font-size:medium"', 'style="font-size:calc(8px*2)"', 'class="s2"')),
    (
        ("ink", "white"),
        ('class="white"', 'style="color:#fff"', 'style="color:hsl(0 0% 100%)"', 'style="color:lab(100 0 0)"'),
    ),
    (("ink", "black"), ('class="black"', 'style="color:#000"', 'style="color:canvastext"')),
    (("paper", "white"), ('class="onwhite"', 'bgcolor="#ffffff"', 'style="background:white none"')),
    (("paper", "black"), ('class="onblack"', 'bgcolor="black"', 'style="background-color:hwb(0 0% 100%)"')),
]

wrappers = st.one_of(
    st.sampled_from([Wrapper(each, gone=True) for each in GONE]),
    st.sampled_from([Wrapper(each) for each in KEPT]),
    st.sampled_from([Wrapper(each, changes=(change,)) for change, all_ in SOFT for each in all_]),
)
Node = object
nodes = st.recursive(
    st.just("leaf"),
    lambda inner: st.one_of(
        st.tuples(wrappers, st.lists(inner, min_size=1, max_size=3)),
        st.tuples(st.just(Wrapper("")), st.lists(inner, min_size=2, max_size=4)),
    ),
    max_leaves=14,
)


def built(node: Node, state: State, words: dict[str, bool]) -> str:
    """The markup of a node; each word in it is noted as seen or not."""
    if node == "leaf":
        word = f"word{len(words)}x"
        words[word] = state.seen
        return f" {word} "
    assert isinstance(node, tuple)
    wrapper, children = node
    inside = "".join(built(child, wrapper.inside(state), words) for child in children)
    return f"<div {wrapper.attributes}>{inside}</div>"


@settings(derandomize=True, max_examples=1200, deadline=None)
@given(st.lists(nodes, min_size=1, max_size=4))
def test_each_word_is_shown_exactly_when_it_is_seen(document: list[Node]) -> None:
    words: dict[str, bool] = {}
    markup = "".join(built(node, State(), words) for node in document)
    result = html_to_text(f"<!DOCTYPE html><html><head><style>{SHEET}</style></head><body>{markup}</body></html>")
    assert {word: word in result.text for word in words} == words, markup
    assert result.hidden == (not all(words.values()))
    assert not result.failed
