"""Text that looks hidden to a hasty eye, and that a reader sees. It is TEXT in each."""

from __future__ import annotations

from typing import Final

TEXT: Final = "The meeting is at nine"


def _styled(style: str) -> str:
    return f'<div style="{style}">{TEXT}</div>'


def _ruled(css: str, markup: str = f'<p class="x" id="i">{TEXT}</p>') -> str:
    return f"<style>{css}</style>{markup}"


_PICTURE: Final = "<img src=a width=600 height=300>"
_TARGET: Final = 'href="https://x.example/"'

OVERLAID: Final = {
    "drawn up over a picture": f'{_PICTURE}<div style="margin-top:-120px;color:#fff">{TEXT}</div>',
    "placed over a picture": (
        f'<div style="position:relative">{_PICTURE}'
        f'<div style="position:absolute;bottom:9px;color:#fff">{TEXT}</div></div>'
    ),
    "over a dark sibling": (
        '<div style="position:relative"><div style="position:absolute;inset:0;background:#000"></div>'
        f'<p style="color:#fff;position:relative">{TEXT}</p></div>'
    ),
    "in the flow, over a picture placed behind": (
        '<div style="position:relative"><img src=a width=600 style="position:absolute;z-index:-1">'
        f'<p style="color:#fff">{TEXT}</p></div>'
    ),
    "hanging out of a box without height": (
        f'<div style="max-height:0"><p style="color:#fff">{TEXT}</p></div>{_PICTURE}'
    ),
    "in one cell of a grid with a picture": (
        '<div style="display:grid"><img style="grid-area:1/1" width=300>'
        f'<p style="grid-area:1/1;color:#fff">{TEXT}</p></div>'
    ),
    "over what a pseudo-element paints": _ruled(
        ".x{color:#fff;position:relative}.x::before{content:'';position:absolute;inset:0;background:#000;z-index:-1}"
    ),
    "moved to the middle of a picture": (
        f'<div style="position:relative">{_PICTURE}'
        f'<p style="position:absolute;left:50%;top:50%;transform:translate(-50%,-50%);color:#fff">{TEXT}</p></div>'
    ),
}

PAINTED: Final = {
    "a shadow": _styled("color:#fff;text-shadow:1px 1px 2px #000"),
    "a shadow of letters that are none": _styled("color:transparent;text-shadow:0 0 0 #000"),
    "an outline": _styled("color:#fff;-webkit-text-stroke:1px #000"),
    "a mark in white": f'<p style="color:#fff"><mark style="color:#ffffff">{TEXT}</mark></p>',
    "a mark on black": f'<div style="background:#000;color:#000"><mark>{TEXT}</mark></div>',
    "the root's old background": f'<html bgcolor="#000"><body text="#fff"><p>{TEXT}</p>',
    "the root's background by rule": _ruled("html{background:#000}p{color:#fff}"),
    "the root's background by style": f'<html style="background:#123"><p style="color:#fff">{TEXT}',
    "a shadow that fills the box": _styled("box-shadow:inset 0 0 0 1000px #000;color:#fff"),
    "a column's background": f'<table><col style="background:#000"><tr><td style="color:#fff">{TEXT}</td></table>',
    "a column group's background": (
        f'<table><colgroup bgcolor="#000000"><col></colgroup><tr><td style="color:#fff">{TEXT}</td></table>'
    ),
    "a background in oklch": _styled("background:oklch(0.2 0 0);color:#fff"),
    "a background in lch": _styled("background:lch(10% 10 10);color:white"),
    "a background in a profile": _styled("background-color:color(display-p3 0 0 0);color:#fff"),
    "a background by a custom property": _ruled(
        ":root{--bg:#000}div{background:var(--bg)}p{color:#fff}", f"<div><p>{TEXT}</p></div>"
    ),
    "a background before one that is none": _styled("background:#000;background:frob(1);color:#fff"),
    "a background before a picture of one program": _styled(
        "background:#000;background:-ms-linear-gradient(top,#fff,#fff);color:#fff"
    ),
    "a difference to what is behind": _styled("color:#fff;mix-blend-mode:difference"),
    "a shadow by filter": _styled("color:#fff;filter:drop-shadow(0 0 2px #000)"),
    "links of the body on black": f"<body link=white><table bgcolor=black><tr><td><a {_TARGET}>{TEXT}</a></table>",
    "visited links of the body": f"<body vlink=white><a {_TARGET}>{TEXT}</a>",
    "a rule for visited links": _ruled("a:visited{color:#fff}", f"<a {_TARGET}>{TEXT}</a>"),
    "a button in white without size": f'<div style="font-size:0;color:#fff"><button>{TEXT}</button></div>',
    "a page that is dark by its own word": _ruled(":root{color-scheme:dark}p{color:#fff}"),
    "a gradient from white": _styled("background:linear-gradient(#fff,#000);color:#fff"),
    "a little blur": _styled("filter:blur(1px)"),
}

DECLARED: Final = {
    "a later value that is none": _styled("display:block;display:none\\9"),
    "a mark for one program": _styled("display:none\\9"),
    "another mark for one program": _styled("display:none\\0/"),
    "a size that is none": _styled("font-size:14px;font-size:foo"),
    "a colour that is none": _styled("color:#000;color:#ggg"),
    "a height below zero": _styled("height:20px;height:-1px;overflow:hidden"),
    "a keyword parted by a comment": _styled("display:no/**/ne"),
    "an old size in none": f'<div style="font-size:0"><font size=3>{TEXT}</font></div>',
    "a size by name in none": f'<div style="font-size:0"><span style="font-size:medium">{TEXT}</span></div>',
    "an indent undone": f'<div style="text-indent:-9999px"><p style="text-indent:0">{TEXT}</p></div>',
    "an indent in a line that breaks": _styled("text-indent:3000px"),
    "a parenthesis without end": _styled("width:calc(1px;display:none"),
    "a list with a selector that is none": _ruled(".x,.n::-moz-x(2){display:none}"),
    "a list with an unknown pseudo-class": _ruled(".x, :frob{display:none}"),
    "a brace too many": _ruled("} .x{display:none}"),
    "support that is not there": _ruled("@supports (display:frob){.x{display:none}}"),
    "support that is there, denied": _ruled("@supports not (display:grid){.x{display:none}}"),
    "a class in other letter case": "<!DOCTYPE html>" + _ruled(".X{display:none}"),
    "a number without a unit, and a type of document": (
        f"<!DOCTYPE html><style>.a{{font-size:15px}}.a{{font-size:0.5}}</style><p class=a>{TEXT}</p>"
    ),
    "not all media": _ruled("@media not all{.x{display:none}}"),
    "a dark screen": _ruled("@media (prefers-color-scheme:dark){.x{display:none}}"),
    "a narrow screen by range": _ruled("@media (width<=600px){.x{display:none}}"),
    "a layer under a rule": _ruled("@layer a{.x{display:none}}.x{display:block}"),
    "a rule over a style": f'<style>.q{{display:inline!important}}</style><b class=q style="display:none">{TEXT}</b>',
    "a custom property that is not set": _ruled(".x{display:var(--nope)}"),
    "a box that is none": _styled("display:contents;opacity:0"),
    "all undone": _ruled(".x{display:none;font-size:0}p.x{all:revert}"),
    "all undone, then white on black": _styled("display:none;all:unset;color:#fff;background:#000"),
    "another scope": _ruled("@scope (.o){.x{display:none}}"),
    "no container": _ruled("@container (min-width:10px){.x{display:none}}"),
    "another place among children": _ruled("p:nth-child(2){display:none}", f"<div><p>{TEXT}</p></div>"),
    "another value of an attribute": _ruled('[data-h="2"]{display:none}', f"<p data-h=1>{TEXT}</p>"),
    "a box that is not checked": _ruled(
        ".c:checked~.x{display:none}", f"<input type=checkbox class=c><p class=x>{TEXT}</p>"
    ),
}

PLACED: Final = {
    "a picture's shape by padding": (
        '<div style="height:0;padding-bottom:56%;overflow:hidden;position:relative">'
        f'<p style="position:absolute;top:0">{TEXT}</p></div>'
    ),
    "in the middle by half": _styled("position:relative;left:50%;margin-left:-300px"),
    "from edge to edge": _styled("margin:0 -9999px;padding:0 9999px"),
    "away and back": (
        f'<div style="position:absolute;left:-9999px"><p style="position:absolute;left:9999px">{TEXT}</p></div>'
    ),
    "far down a long page": _styled("position:absolute;top:4200px"),
    "on its side": _styled("transform:rotate(90deg)"),
    "below the flow, in a layer of its own": (
        '<div style="background:#fff;position:relative;z-index:0">'
        f'<div style="position:relative;z-index:-1">{TEXT}</div></div>'
    ),
    "an animation that fades in": _ruled("@keyframes g{to{opacity:1}}.x{opacity:0;animation:g 1s forwards}"),
    "a cell that grows": f'<table><tr><td style="height:0;width:0;overflow:hidden">{TEXT}</td></tr></table>',
    "an open dialog": f"<dialog open>{TEXT}</dialog>",
    "a closed detail": f"<details><summary>a</summary>{TEXT}</details>",
    "an example in the old way": f"<xmp>{TEXT}</xmp>",
}

SEEN: Final = {
    f"{kind}: {name}": markup
    for kind, each in (("overlaid", OVERLAID), ("painted", PAINTED), ("declared", DECLARED), ("placed", PLACED))
    for name, markup in each.items()
}
