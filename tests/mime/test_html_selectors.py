"""Which elements a selector is about: compared with the parser's own engine, and where a browser drops a rule."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from mailgate.mime.html_matching import Element, element_of, matches
from mailgate.mime.html_selectors import parse_selector, parse_selectors

NAMES = st.sampled_from(
    ["p", "div", "b", "*", ".a", ".b", ".c", "#i", "p.a", "b.c", "[k]", '[k="1"]', "[k^='1']", "[k~='2']"]
)
PLACES = st.sampled_from(
    [
        *(":first-child", ":last-child", ":only-child", ":nth-child(2)", ":nth-child(odd)", ":nth-child(-n+2)"),
        *(":nth-last-child(2n+1)", ":first-of-type", ":last-of-type", ":nth-of-type(2)", ":nth-last-of-type(1)"),
        *(":empty", ":only-of-type"),
    ]
)
compound = st.one_of(NAMES, st.builds(lambda name, place: name + place, NAMES, PLACES))


def joined(parts: list[str], signs: list[str]) -> str:
    text = parts[0]
    for sign, part in zip(signs, parts[1:], strict=False):
        text += sign + part
    return text


def chains(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    signs = st.lists(st.sampled_from([" ", ">", " > ", "+", "~"]), min_size=3, max_size=3)
    return st.builds(joined, st.lists(part, min_size=1, max_size=3), signs)


nested = st.builds(
    lambda base, call, inner, other: f"{base}{call}({inner}{',' + other if other else ''})",
    NAMES,
    st.sampled_from([":not", ":is", ":where", ":has"]),
    chains(compound),
    st.one_of(st.just(""), compound),
)
selectors = chains(st.one_of(compound, nested))
trees = st.recursive(
    st.sampled_from(
        ["<b></b>", "<p class=a></p>", "<p class='b c' k=1>x</p>", "<b k='2 1'></b>", "<p id=i>x</p>", "x"]
    ),
    lambda inner: st.builds(
        lambda name, parts: f"<{name}>{''.join(parts)}</{name.split()[0]}>",
        st.sampled_from(["div", "div class=a", "div class='b' k=12", "b class=c"]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=15,
)


def elements(node: LexborNode, parent: Element | None) -> list[Element]:
    """All elements in the tree under a node, each with what is around it."""
    found: list[Element] = []
    child = node.first_child
    while child is not None:
        if child.is_element_node:
            element = element_of(child, parent)
            found += [element, *elements(child, element)]
        child = child.next
    return found


@settings(derandomize=True, max_examples=1500, deadline=None)
@given(trees, selectors)
def test_the_elements_are_those_that_the_parser_finds(tree: str, text: str) -> None:
    parsed = LexborHTMLParser(tree)
    body = parsed.body
    assert body is not None
    assert body.parent is not None
    html = element_of(body.parent, None)
    around = element_of(body, html)
    selector = parse_selector(text)
    assert selector is not None
    ours = {each.node.mem_id for each in elements(body, around) if matches(selector, each)[0]}
    theirs = {node.mem_id for node in parsed.css(text)} - {body.mem_id, body.parent.mem_id}
    theirs = {each for each in theirs if each in {element.node.mem_id for element in elements(body, around)}}
    assert ours == theirs, (tree, text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            ".m, .n::-moz-x(2)",
            ".x,:frob",
            "p:nth-child(x)",
            "a:not()",
            "p..a",
            ".1a",
            "p >",
            "> p",
            "a,,b",
            "a,",
            "p:is",
        ),
        *("p::frob", "::before p", "p[a", "p[1=2]", "p[a=1]", "}p", "a:has()", "p:not(:frob)", "#", "p a&b", "a!b"),
    ],
)
def test_a_list_with_one_that_is_none_is_dropped(text: str) -> None:
    if text == "p[a":  # what is open at the end is closed there
        assert parse_selectors(text) is not None
    else:
        assert parse_selectors(text) is None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "p:hover",
            "a:visited,b",
            "p::before",
            "p:after",
            "p::-webkit-x",
            "input:checked",
            ":root",
            "*|p",
            "p:is(:frob,a)",
        ),
        *(r".a\:b", r"#\31 a", '[title="a,b"]', "p:not(.a .b, #c)", ":where()", "p:nth-child( 2n + 1 )", "a:lang(en)"),
    ],
)
def test_a_selector_of_a_browser_is_known(text: str) -> None:
    assert parse_selectors(text) is not None


@pytest.mark.parametrize(
    ("text", "specificity"),
    [
        ("*", (0, 0, 0)),
        ("p.a#b", (1, 1, 1)),
        ("p:is(.a, #b) i", (1, 0, 2)),
        ("p:where(.a, #b)", (0, 0, 1)),
        ("p:not(.a.b, i)", (0, 2, 1)),
        ("p:nth-child(2)[k]", (0, 2, 1)),
        ("div:has(> .a)", (0, 1, 1)),
        ("p::before", (0, 0, 2)),
    ],
)
def test_the_specificity_is_that_of_the_standard(text: str, specificity: tuple[int, int, int]) -> None:
    selector = parse_selector(text)
    assert selector is not None
    assert selector.specificity == specificity


def test_letter_case_of_classes_counts_outside_of_quirks_mode() -> None:
    body = LexborHTMLParser("<p class=Ab>").body
    assert body is not None
    for folds in (True, False):
        paragraph = elements(body, None)[0]
        element = Element(paragraph.node, "p", paragraph.attributes, folds=folds)
        selector = parse_selector(".aB", quirks=folds)
        assert selector is not None
        assert matches(selector, element)[0] is folds
