"""Text hidden by a mail's own style sheet."""

import pytest

from mailgate.mime.html_styles import SELECTORS_MAX, StyleSheet
from mailgate.mime.html_text import html_to_text


@pytest.mark.parametrize(
    "css",
    [
        ".x{display:none}",
        "<!-- .x { DISPLAY : none !important ; } -->",
        "p.x{visibility:hidden}",
        ".a, .x {font-size:0}",
        ".x.y{opacity:0}",
        "#i{display:none}",
        "/* } */ .x/**/{display:none}",
        "@charset 'x'; .x{display:none}",
        "@media screen{.x{display:none}}",
        "@media (min-width:600px){.z{color:red} .x{display:none}}",
        ".x{display:block} .x{display:none}",
        "@font-face{a:b} .x{max-height:0;overflow:hidden}",
    ],
)
def test_what_the_sheet_hides_is_left_out_and_reported(css: str) -> None:
    result = html_to_text(f"<style>{css}</style><p class='X y' id=i>secret</p><p>seen</p>")
    assert (result.text, result.hidden) == ("seen", True)


@pytest.mark.parametrize(
    "css",
    [
        ".x{color:red}",
        ".x.z{display:none}",
        "div.x{display:none}",
        ".x:hover{display:none}",
        ".z .x{display:none}",
        "@media (max-width:600px){.x{display:none}}",
        "@media print{.x{display:none}}",
        ".x{display:none} @media (min-width:1px){.x{display:block}}",
        "}}}{{{",
    ],
)
def test_what_the_sheet_shows_on_a_wide_screen_stays(css: str) -> None:
    result = html_to_text(f"<style>{css}</style><p class='x y' id=i>seen</p>")
    assert (result.text, result.hidden) == ("seen", False)


def test_a_style_attribute_wins_over_the_sheet() -> None:
    assert html_to_text("<style>.x{display:none}</style><p class=x style='display:block'>seen</p>").text == "seen"


@pytest.mark.parametrize("unit", ["{", "}", ".x{display:none}", "@media a{", "/*", ".", "a,", ".x{" + ";" * 100 + "}"])
def test_a_hostile_sheet_is_read_within_bounds(unit: str) -> None:
    assert StyleSheet(unit * (300_000 // len(unit))).selectors <= SELECTORS_MAX
