"""Tables of data stay tables; tables of layout become paragraphs, with separators between cells on one line."""

import pytest

from mailgate.mime.html_text import html_to_text

ORDER = "| Item | Price |\n|---|---|\n| Apples | 3 € |\n| Pears | 4 € |"
ROWS = "<tr><td>Apples</td><td>3 €</td></tr><tr><td>Pears</td><td>4 €</td></tr>"
HEAD = "<tr><th>Item</th><th>Price</th></tr>"


@pytest.mark.parametrize(
    "table",
    [
        f"<table>{HEAD}{ROWS}</table>",
        f"<table border=1><tr><td>Item</td><td>Price</td></tr>{ROWS}</table>",
        f"<table role=table><tr><td>Item<td>Price{ROWS}</table>",
        f"<table><thead>{HEAD}</thead><tbody>{ROWS}</tbody></table>",
        f"<table><tr><td><table>{HEAD}{ROWS}</table></td></tr></table>",
        f"<table>{HEAD}<tr><td><p>Apples</p></td><td><div>3&nbsp;€</div></td></tr><tr><td>Pears<td>4<br>€</table>",
        f"<table><tr hidden><th>a<th>b</tr>{HEAD}{ROWS}</table>",
    ],
)
def test_a_table_of_data_is_a_markdown_table(table: str) -> None:
    assert html_to_text(table).text == ORDER


def test_text_around_a_table_of_data_keeps_its_distance() -> None:
    text = html_to_text(f"<p>before</p><table><caption>Order</caption>{HEAD}{ROWS}</table>after").text
    assert text == f"before\n\nOrder\n{ORDER}\n\nafter"


def test_a_bar_in_a_cell_is_escaped_and_a_wide_cell_keeps_the_columns() -> None:
    text = html_to_text(f"<table>{HEAD}<tr><td colspan=2>a|b</td></tr><tr><td>x<td></table>").text
    assert text.splitlines()[2:] == ["| a\\|b |  |", "| x |  |"]


def test_links_and_emphasis_stay_in_a_cell() -> None:
    text = html_to_text(f'<table>{HEAD}<tr><td><a href="https://x.example/">A</a><td><b>3</b></table>').text
    assert text.splitlines()[2] == "| [A](https://x.example/) | **3** |"


def test_a_quoted_table_is_quoted() -> None:
    text = html_to_text(f"<blockquote><p>See:</p><table>{HEAD}{ROWS}</table></blockquote>").text
    assert text == "> See:\n>\n" + "\n".join(f"> {line}" for line in ORDER.splitlines())


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ("<table><tr><td>a<td>b<tr><td>c</table>", "a | b\n\nc"),
        ("<table role=presentation border=1><tr><th>a<th>b<tr><td>c<td>d</table>", "a | b\n\nc | d"),
        ("<table><tr><th>a<th>b</table>", "a | b"),
        ("<table><tr><td>a</td></tr><tr><td><table><tr><td>b</table></td></tr></table>", "a\n\nb"),
        ("<table border=1><tr><td>a<tr><td>b</table>", "a\n\nb"),
        ("<table><tr><td><h1>a</h1><p>b</p></td><td><p>c</p></td></tr></table>", "# a\n\nb\n\nc"),
    ],
)
def test_a_table_of_layout_is_flattened(table: str, text: str) -> None:
    assert html_to_text(table).text == text


def test_a_cell_of_prose_makes_it_layout() -> None:
    prose = "word " * 80
    assert "|---" not in html_to_text(f"<table border=1><tr><td>a<td>b<tr><td>{prose}<td>d</table>").text
