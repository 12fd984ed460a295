# ruff: noqa: E501  (markup as services write it, in long lines)
"""Pieces of real kinds of newsletters, each with words that a reader at an ordinary screen sees and words that are not
seen. Written here; `SEEN` words begin with `see`, hidden ones with `hid`."""

from __future__ import annotations

from typing import Final

_HEAD: Final = (
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">'
    '<html xmlns="http://www.w3.org/1999/xhtml" lang="en"><head><meta name="color-scheme" content="light dark">{}</head>'
    '<body style="margin:0;padding:0;background:#f4f4f4">{}</body></html>'
)


def _mail(css: str, body: str) -> str:
    return _HEAD.format(f'<style type="text/css">{css}</style>', body)


LAYOUTS: Final = {
    "dark mode block": _mail(
        ":root{color-scheme:light dark;supported-color-schemes:light dark}@media (prefers-color-scheme:dark){.light-img{display:none!important}.dark-img{display:block!important}.body{background:#000!important;color:#fff!important}h1,p{color:#fff!important}}[data-ogsc] .body{color:#fff!important}[data-ogsb] p{color:#fff!important}",
        '<div class="body" style="background:#fff"><div class="light-img">see1</div><!--[if !mso]><!--><div class="dark-img" style="display:none;overflow:hidden;width:0;max-height:0"><p>hid1</p></div><!--<![endif]--><h1 style="color:#111">see2</h1></div>',
    ),
    "pair for desktop and mobile": _mail(
        ".mob{display:none;mso-hide:all;max-height:0;overflow:hidden}@media only screen and (max-width:600px){.desk{display:none!important}.mob{display:block!important;max-height:none!important}}",
        '<table><tr><td class="desk">see1</td></tr></table><div class="mob">hid1</div><p class="desk">see2</p>',
    ),
    "pair the other way about": _mail(
        ".desk{display:none!important}@media (min-width:601px){.desk{display:block!important}.mob{display:none!important}}",
        '<div class="desk">see1</div><div class="mob">hid1</div>',
    ),
    "program's tables": _mail(
        "",
        '<!--[if mso | IE]><table role="presentation" width="600"><tr><td><p>x</p><![endif]--><div style="max-width:600px;margin:0 auto">see1</div><!--[if mso | IE]></td></tr></table><![endif]--><!--[if !mso]><!-- --><p>see2</p><!--<![endif]-->',
    ),
    "form for AMP": (
        '<!doctype html><html amp4email><head><style amp4email-boilerplate>body{visibility:hidden}</style><style amp-custom>.a{color:#333}.b{display:none}body{visibility:visible}</style></head><body><div class="a">see1</div><div class="b">hid1</div></body></html>'
    ),
    "preheader of every kind": _mail(
        ".preheader{display:none!important;visibility:hidden;opacity:0;color:transparent;height:0;width:0}",
        '<span class="preheader">hid1</span><div style="display:none;font-size:1px;color:#ffffff;line-height:1px;max-height:0px;max-width:0px;opacity:0;overflow:hidden">hid2 &zwnj;&nbsp;&zwnj;&nbsp;</div><div style="font-size:0px;line-height:1px;mso-line-height-rule:exactly;display:none;max-width:0px;max-height:0px;opacity:0;overflow:hidden;mso-hide:all">hid3</div><p>see1</p>',
    ),
    "button with a drawing": _mail(
        "",
        '<div><!--[if mso]><v:roundrect xmlns:v="urn:schemas-microsoft-com:vml" href="https://x.example/" style="height:40px;v-text-anchor:middle;width:200px" arcsize="10%" fillcolor="#0b5"><w:anchorlock/><center style="color:#fff">see1</center></v:roundrect><![endif]--><a href="https://x.example/" style="background-color:#0b5;border-radius:4px;color:#ffffff;display:inline-block;font-size:13px;line-height:40px;text-align:center;width:200px;mso-hide:all">see2</a></div>',
    ),
    "button by borders": _mail(
        "",
        '<table><tr><td bgcolor="#0055aa" style="border-radius:3px"><a href="https://x.example/" style="color:#fff;text-decoration:none;border:12px solid #0055aa;display:inline-block">see1</a></td></tr></table><a href="https://x.example/" style="color:#fff;text-decoration:none"><span style="background:#222;padding:12px">see2</span></a>',
    ),
    "hero with a drawing behind": _mail(
        "",
        '<table width="100%"><tr><td background="https://x.example/h.jpg" bgcolor="#ffffff" valign="top" style="background-size:cover"><!--[if gte mso 9]><v:rect fill="true" stroke="false" style="width:600px;height:300px"><v:fill type="frame" src="https://x.example/h.jpg" /><v:textbox inset="0,0,0,0"><![endif]--><div style="color:#fff"><h1 style="color:#ffffff">see1</h1></div><!--[if gte mso 9]></v:textbox></v:rect><![endif]--></td></tr></table>',
    ),
    "hero by a box without height": _mail(
        "",
        '<div style="max-height:0;max-width:0;overflow:visible;position:relative;opacity:0.999"><div style="margin-top:90px;margin-left:40px;width:300px;display:inline-block;text-align:left"><span style="color:#ffffff;font-size:24px">see1</span></div></div><img src="https://x.example/h.jpg" width="600" height="300" alt="see2" style="display:block">',
    ),
    "hero by a margin": _mail(
        "",
        '<table><tr><td><img src="https://x.example/h.jpg" width="600" alt="" style="display:block;margin-bottom:-180px"></td></tr><tr><td style="color:#fff"><p style="color:#fff">see1</p></td></tr></table><p style="background:#fff;color:#fff">hid1</p>',
    ),
    "picture of letters": _mail(
        ".logo{text-indent:-9999px;overflow:hidden;background:url(s.png) no-repeat;width:120px;height:40px;display:block}.sr{position:absolute;width:1px;height:1px;padding:0;margin:-1px;overflow:hidden;clip:rect(0,0,0,0);white-space:nowrap;border:0}",
        '<a class="logo" href="https://x.example/">hid1</a><span class="sr">hid2</span><p>see1</p>',
    ),
    "ghost columns": _mail(
        "",
        '<div style="font-size:0;text-align:center"><!--[if mso]><table><tr><td width="300"><![endif]--><div style="display:inline-block;width:100%;max-width:300px;vertical-align:top"><table width="100%"><tr><td style="font-size:16px;line-height:22px">see1</td></tr></table></div><!--[if mso]></td><td width="300"><![endif]--><div style="display:inline-block;max-width:300px"><p style="font:14px/20px Arial,sans-serif;margin:0">see2</p></div><!--[if mso]></td></tr></table><![endif]--></div>',
    ),
    "spacers": _mail(
        "",
        '<table><tr><td height="20" style="font-size:20px;line-height:20px;mso-line-height-rule:exactly">&nbsp;</td></tr><tr><td style="height:0;line-height:0;font-size:0">&nbsp;</td></tr><tr><td style="padding:0 0 0 20px;line-height:24px">see1</td></tr></table><div style="line-height:0;font-size:0"><a href="https://x.example/"><img src="a" alt="see2" width="300" style="display:block;width:100%"></a></div>',
    ),
    "menu opened by a box": _mail(
        "#nav{display:none}.nav{max-height:0;overflow:hidden}@media (max-width:480px){#nav:checked ~ .nav{max-height:300px!important}}.wide{display:block}",
        '<!--[if !mso]><!--><input type="checkbox" id="nav" style="display:none!important"><label for="nav" style="display:none;mso-hide:all">hid1</label><!--<![endif]--><div class="nav">hid2</div><div class="wide">see1</div>',
    ),
    "carousel by selection": _mail(
        ".c{display:none;max-height:0}@media screen and (-webkit-min-device-pixel-ratio:0){.c{display:block;max-height:none}.f{display:none}#r2:checked~.p1{display:none}#r1:checked~.p2{display:none}}",
        '<div class="c"><input type="radio" id="r1" name="r" checked><input type="radio" id="r2" name="r"><div class="p1">see1</div><div class="p2">hid1</div></div><div class="f">hid2</div>',
    ),
    "program's reset": _mail(
        "#outlook a{padding:0}.ReadMsgBody,.ExternalClass{width:100%}.ExternalClass *{line-height:100%}body,table,td,a{-webkit-text-size-adjust:100%}img{-ms-interpolation-mode:bicubic}u + #body .gmail{display:none!important}@-moz-document url-prefix(){.x{display:none}}@media yahoo{.y{display:none}}.z{*display:none;_display:none;display:none\\9}a[x-apple-data-detectors]{color:inherit!important}div[style*='margin: 16px 0']{margin:0!important}",
        '<div id="body"><p class="gmail">see1</p><p class="x">see2</p><p class="y">see3</p><p class="z">see4</p></div>',
    ),
    "only for one program": _mail(
        ".gmail{display:none}u + .body .gmail{display:block!important}.moz-text-html .moz{display:none}",
        '<u></u><div class="body"><p class="gmail">see1</p><p class="moz">see2</p></div>',
    ),
    "receipt": _mail(
        ".r td{border-bottom:1px solid #eee}.muted{color:#8a8a8a}.total td{font-weight:700}",
        '<table class="r" width="100%" bgcolor="#ffffff"><tr><td>see1</td><td align="right">see2</td></tr><tr class="total"><td>see3</td><td>see4</td></tr></table><p class="muted" style="font-size:11px">see5</p><font color="#999999" size="1">see6</font>',
    ),
    "dark footer": _mail(
        ".foot{background-color:#1d1d1f}.foot a,.foot p{color:#f5f5f7}.foot .tiny{color:#6e6e73;font-size:9px}",
        '<table width="100%" class="foot"><tr><td style="padding:20px"><p>see1</p><p class="tiny">see2 <a href="https://x.example/">see3</a></p></td></tr></table>',
    ),
    "animation by frames": _mail(
        "@keyframes f{from{opacity:0}to{opacity:1}}.a{animation:f 1s}@media (prefers-reduced-motion:reduce){.a{display:none}}",
        '<div class="a">see1</div><p>see2</p>',
    ),
    "gradient button with a fallback": _mail(
        "",
        "<a href=\"https://x.example/\" style=\"display:inline-block;background:#e91e63;background:-moz-linear-gradient(top,#e91e63,#9c27b0);background:linear-gradient(to right,#e91e63 0%,#9c27b0 100%);filter:progid:DXImageTransform.Microsoft.gradient(startColorstr='#e91e63',endColorstr='#9c27b0');color:#fff\">see1</a><td style=\"background:#fff url('https://x.example/a,b;c.png') no-repeat top center / cover;color:#fff\">see2</td>",
    ),
    "countdown with a stand-in": _mail(
        ".live{display:none}@supports (-webkit-overflow-scrolling:touch) and (color:#ffff){.live{display:block!important}.still{display:none!important}}",
        '<div class="still">see1</div><div class="live">hid1</div>',
    ),
    "badge on a card": _mail(
        ".card{position:relative;background:#fff}.badge{position:absolute;top:-10px;right:-10px;background:#c00;color:#fff;border-radius:50%}",
        '<div class="card"><span class="badge">see1</span><h2>see2</h2><p style="color:#fefefe">hid1</p></div>',
    ),
    "poll in colours": _mail(
        ":root{--brand:#552288;--on-brand:#ffffff}.opt{background:var(--brand,#552288);color:var(--on-brand,#fff);padding:clamp(8px,2vw,16px)}.opt:nth-child(even){background:color-mix(in oklab,var(--brand) 80%,white)}",
        '<ul><li class="opt">see1</li><li class="opt">see2</li></ul>',
    ),
}
