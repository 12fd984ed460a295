"""Ways of hiding text from a reader while a program still finds it. The hidden text is SECRET in each."""

from __future__ import annotations

from typing import Final

from tests.mime.html_attacks_css import CASCADE, GEOMETRY, PAINT, SECRET


def _styled(style: str) -> str:
    return f'<div style="{style}">{SECRET}</div>'


def _ruled(css: str, markup: str = f'<p class="x" id="i">{SECRET}</p>') -> str:
    return f"<style>{css}</style>{markup}"


_ZERO_BOX = "height:0;overflow:hidden"

STYLES: Final = {
    "no display": _styled("display:none"),
    "no display, important": _styled("display:block;display : none ! important"),
    "no display, then nonsense": _styled("display:none;display:nonsense"),
    "no display, escaped": _styled(r"d\69 splay:n\6f ne"),
    "no display, commented": _styled("display:/**/none/* x */"),
    "no display after a string": _styled("font-family:'a;b';display:none"),
    "no display after a picture": _styled("background:url(data:image/png;base64,AA);display:none"),
    "no display after much": _styled("color:#123456;" * 1000 + "display:none"),
    "content not visible": _styled("content-visibility:hidden"),
    "visibility": _styled("visibility:hidden"),
    "visibility, collapsed": _styled("visibility:collapse"),
    "opacity": _styled("opacity:0"),
    "opacity near zero": _styled("opacity:.01"),
    "opacity in percent": _styled("opacity:1%"),
    "opacity by filter": _styled("filter:opacity(0)"),
    "opacity by old filter": _styled("filter:alpha(opacity=0)"),
    "opacity multiplied": '<div style="opacity:.2"><div style="opacity:.2">' + SECRET + "</div></div>",
    "font of size zero": _styled("font-size:0"),
    "font of one pixel": _styled("font-size:1px"),
    "font of a part of a percent": _styled("font-size:0.01%"),
    "font small in small": '<div style="font-size:.2em"><div style="font-size:.2em">' + SECRET + "</div></div>",
    "font shorthand": _styled("font:0/0 a"),
    "font shorthand with a style": _styled("font:italic 700 1px/1 Arial"),
    "font adjusted": _styled("font-size-adjust:0"),
    "no height": _styled(_ZERO_BOX),
    "no height at most": _styled("max-height:0px;overflow:hidden"),
    "one pixel high": _styled("max-height:1px;overflow-y:clip"),
    "no width": _styled("width:0;overflow:hidden"),
    "hidden attribute": f"<div hidden>{SECRET}</div>",
    "hidden attribute until found": f'<div hidden="until-found">{SECRET}</div>',
    "popover": f"<div popover>{SECRET}</div>",
    "indented off the screen": _styled("text-indent:-9999px"),
    "indented in em": _styled("text-indent:-999em"),
    "left of the screen": _styled("position:absolute;left:-9999px"),
    "above the screen": _styled("position:fixed;top:-300vh"),
    "right of the screen": _styled("position:absolute;left:99999px"),
    "below the screen": _styled("position:absolute;top:99999999999px"),
    "margin off the screen": _styled("margin:0 0 0 -5000px"),
    "letters on each other": _styled("letter-spacing:-1000px"),
    "clipped to nothing": _styled("position:absolute;clip:rect(0,0,0,0)"),
    "clipped to a pixel": _styled("position:absolute;clip:rect(1px 1px 1px 1px)"),
    "clip path inset": _styled("clip-path:inset(50%)"),
    "clip path inset of all sides": _styled("clip-path:inset(0 0 100% 0)"),
    "clip path circle": _styled("clip-path:circle(0 at 50% 50%)"),
    "clip path polygon": _styled("-webkit-clip-path:polygon(0 0,0 0,0 0)"),
    "scaled to nothing": _styled("transform:scale(0)"),
    "scaled in one direction": _styled("transform:rotate(2deg) scaleY(0)"),
    "scaled by property": _styled("scale:0"),
    "zoomed": _styled("zoom:0.01"),
    "matrix": _styled("transform:matrix(0,0,0,0,0,0)"),
    "turned on its edge": _styled("transform:rotateX(90deg)"),
    "moved away": _styled("transform:translate(-9999px,0)"),
    "moved away by property": _styled("translate:-200vw"),
}

COLOURS: Final = {
    "white on white": _styled("color:#fff"),
    "white on white by name": _styled("color:white"),
    "white by function": _styled("color:rgb(255, 255, 255)"),
    "white by hue": _styled("color:hsl(0, 0%, 100%)"),
    "white by percent": _styled("color:rgb(100%,100%,100%)"),
    "nearly white": _styled("color:#fefefe"),
    "light grey of white": _styled("color:#f5f5f5"),
    "lightest yellow": _styled("color:#ffffe0"),
    "transparent": _styled("color:transparent"),
    "no opacity in the colour": _styled("color:rgba(0,0,0,0)"),
    "almost no opacity": _styled("color:rgb(0 0 0 / 2%)"),
    "four digits": _styled("color:#0000"),
    "text filled": _styled("-webkit-text-fill-color:transparent"),
    "letters that are a window": _styled("background:#fff;background-clip:text;color:transparent"),
    "old colour": f'<font color="#FFFFFF">{SECRET}</font>',
    "old colour by digits": f"<font color=fdfdfd>{SECRET}</font>",
    "own background": _styled("color:#123456;background:#123457"),
    "black on black": f'<table><tr><td bgcolor="#000000"><span style="color:black">{SECRET}</span></table>',
    "inherited background": f'<div style="background-color:navy"><p><b style="color:#000082">{SECRET}</b></p></div>',
    "inherited colour": f'<div style="color:#abcdef"><p style="background:#abcdef no-repeat">{SECRET}</p></div>',
    "translucent background": _styled("background:rgba(0,0,0,.5);color:#808080"),
    "link": f'<a href="https://x.example/" style="color:#fff">{SECRET}</a>',
    "body": f'<body bgcolor="#222222" text="#222222"><p>{SECRET}</p><p style="color:#fff">seen</p>',
    "class": _ruled(".x{color:#ffffff}"),
    "class, background": _ruled(".x{background:#336699}p{color:#336699}"),
}

SHEETS: Final = {
    "class": _ruled(".x{display:none}"),
    "id": _ruled("#i{display:none}"),
    "type": _ruled("aside{display:none}", f"<aside>{SECRET}</aside>"),
    "formatting type": _ruled("strong{display:none}", f"<p>a <strong>{SECRET}</strong></p>"),
    "old type": _ruled("font,center{display:none}", f"<center>{SECRET}</center>"),
    "type and class": _ruled("p.x{visibility:hidden}"),
    "group": _ruled("h1, h2 ,.y,.x{font-size:0}"),
    "descendant": _ruled(".o .x{display:none}", f"<div class=o><div><p class=x>{SECRET}</p></div></div>"),
    "child": _ruled(".o>.x{display:none}", f"<div class=o><p class=x>{SECRET}</p></div>"),
    "chain": _ruled(
        "div.o > div p.x{display:none}", f"<div class=o><div><div><p class=x>{SECRET}</p></div></div></div>"
    ),
    "next": _ruled("h6 + p{display:none}", f"<h6>t</h6> <p>{SECRET}</p>"),
    "later": _ruled("h6 ~ p{display:none}", f"<h6>t</h6><div>d</div><p>{SECRET}</p>"),
    "attribute": _ruled('[class^="x-"]{display:none}', f"<p class=x-1>{SECRET}</p>"),
    "first child": _ruled("div.o p:first-child{display:none}", f"<div class=o><p>{SECRET}</p><p>t</p></div>"),
    "not": _ruled("p:not(.shown){display:none}", f"<p>{SECRET}</p>"),
    "everything": _ruled("*{font-size:0} .s{font-size:16px}", f"<p>{SECRET}</p>") + '<p class="s">t</p>',
    "important over later": _ruled(".x{display:none!important} p.x#i{display:block}"),
    "important over inline": _ruled(".x{display:none!important}", f'<p class=x style="display:block">{SECRET}</p>'),
    "specificity over order": _ruled("p.x{display:none} .x{display:block}"),
    "screen": _ruled("@media screen{.x{display:none}}"),
    "wide screen": _ruled("@media only screen and (min-width:600px){.x{display:none}}"),
    "any screen": _ruled("@media (max-width:99999px){.x{display:none}}"),
    "shown only on a giant screen": _ruled(".x{display:none}@media (min-width:99999px){.x{display:block}}"),
    "media attribute": f"<style media=screen>.x{{display:none}}</style><p class=x>{SECRET}</p>",
    "supports": _ruled("@supports (display:none){.x{display:none}}"),
    "nested rule": _ruled(".o{color:red;.x{display:none}}", f"<div class=o><p class=x>{SECRET}</p></div>"),
    "after a nested rule": _ruled(".x{a{color:red} display:none}"),
    "escaped class": _ruled(r".sm\:x{display:none}", f'<p class="sm:x">{SECRET}</p>'),
    "never closed": f"<style>.x{{display:none</style><p class=x>{SECRET}</p>",
    "comment marks": _ruled("<!-- .x{display:none} -->"),
    "sheet in a picture": f"<svg><style>.x{{display:none}}</style></svg><p class=x>{SECRET}</p>",
    "sheet after the text": f"<p class=x>{SECRET}</p><style>.x{{display:none}}</style>",
    "many classes": _ruled(".x{display:none}", f'<p class="{"c " * 500}x">{SECRET}</p>'),
    "off the screen": _ruled(".x{position:absolute;left:-10000px}"),
    "no opacity": _ruled("table .x{opacity:0}", f"<table><tr><td class=x>{SECRET}</table>"),
    "zero box": _ruled(".x{" + _ZERO_BOX + "}"),
}

PLACES: Final = {
    "comment": f"<!-- {SECRET} -->",
    "condition": f"<!--[if mso]><table><tr><td>{SECRET}</td></tr></table><![endif]-->",
    "comment never closed": f"<!-- {SECRET}",
    "template": f"<template><p>{SECRET}</p></template>",
    "noscript": f"<noscript>{SECRET}</noscript>",
    "title": f"<title>{SECRET}</title>",
    "picture": f"<svg><text>{SECRET}</text></svg>",
    "picture's title": f"<svg><title>{SECRET}</title></svg>",
    "formula": f"<math><mtext>{SECRET}</mtext></math>",
    "text field": f"<textarea>{SECRET}</textarea>",
    "choice": f"<select><option>{SECRET}</option></select>",
    "frame": f"<iframe>{SECRET}</iframe>",
    "no frames": f"<noframes>{SECRET}</noframes>",
    "no embed": f"<noembed>{SECRET}</noembed>",
    "film": f"<video>{SECRET}</video>",
    "sound": f"<audio>{SECRET}</audio>",
    "canvas": f"<canvas>{SECRET}</canvas>",
    "dialog": f"<dialog>{SECRET}</dialog>",
    "list of values": f"<datalist><option>{SECRET}</option></datalist>",
    "tracking pixel": f'<img src="https://t.example/p.gif" width="1" height="1" alt="{SECRET}">',
    "invisible picture": f'<img style="display:none" alt="{SECRET}"><img style="visibility:hidden" alt="{SECRET}">',
    "row": f'<table><tr style="display:none"><td>{SECRET}</td></tr></table>',
    "cell": f"<table><tr><td>a</td><td hidden>{SECRET}</td></tr></table>",
    "item": f"<ul><li>a<li hidden>{SECRET}</ul>",
    "preheader": (
        '<span style="display:none!important;visibility:hidden;mso-hide:all;font-size:1px;color:#fff;max-height:0;'
        f'opacity:0;overflow:hidden">{SECRET}&zwnj;&nbsp;&#847;</span>'
    ),
    "misnested": f'<p><b style="display:none">a<p>{SECRET}</b>',
    "misnested colour": f'<p><font color="#ffffff">a<p>{SECRET}</font>',
    "misnested size": f'<p><b style="font-size:0">a</p><p>{SECRET}</b></p>',
}

ATTACKS: Final = {
    f"{kind}: {name}": markup
    for kind, attacks in (
        *(("style", STYLES), ("colour", COLOURS), ("sheet", SHEETS), ("place", PLACES)),
        *(("geometry", GEOMETRY), ("paint", PAINT), ("cascade", CASCADE)),
    )
    for name, markup in attacks.items()
}
