# ruff: noqa: E501  (markup as services write it, in long lines)
"""Newsletters as mailing services build them: nested tables, styles on every element, tracked links, a preheader.

Five builders in the manner of five kinds of service, each with six stories of its own: thirty documents. Everything is
written here; hosts are reserved names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Story:
    """What one newsletter says."""

    title: str
    preheader: str
    intro: str
    items: tuple[tuple[str, str], ...]
    closing: str


@dataclass(frozen=True)
class Newsletter:
    """A document, the words that must be in its text in order, and words that must not."""

    name: str
    html: str
    shown: tuple[str, ...]
    hidden: tuple[str, ...]


STORIES: Final = (
    Story(
        "Notes from the garden",
        "Three things to plant before the frost comes",
        "The nights are getting cold, and there is still time to put something in the ground.",
        (
            ("Garlic goes in now", "Break the heads apart and push each clove a thumb deep, the pointed end up."),
            ("Cover the beds", "Leaves from the street are free, and the worms do the rest of the work by spring."),
            ("Clean the tools", "A wire brush, a little oil, and they will last another twenty years."),
            ("Order seeds early", "Last winter the good tomatoes were gone by the middle of January."),
        ),
        "See you in the garden on Saturday.",
    ),
    Story(
        "Neues aus der Werkstatt",
        "Was in diesem Monat fertig geworden ist",
        "Liebe Freunde der Werkstatt, hier ist der Überblick über die letzten vier Wochen.",
        (
            ("Der Tisch ist fertig", "Eiche, geölt, zwei Meter lang; er steht ab Montag im großen Fenster."),
            ("Kurs im November", "Wir bauen einen Hocker mit der Hand, ohne eine einzige Schraube."),
            ("Neue Öffnungszeiten", "Donnerstags bleiben wir bis acht, freitags schließen wir dafür früher."),
        ),
        "Herzliche Grüße aus der Werkstatt.",
    ),
    Story(
        "La lettre du quartier",
        "Le marché, l’école et le nouveau tram",
        "Chères voisines, chers voisins, voici ce qui change près de chez vous.",
        (
            ("Le marché déménage", "À partir de mars, les étals seront sur la place de la Gare, le mercredi matin."),
            ("Travaux rue Haute", "La rue reste fermée aux voitures pendant six semaines ; les vélos passent."),
            ("Un café réparation", "Apportez une lampe ou un grille-pain, repartez avec un appareil qui marche."),
            ("Concert à l’école", "Les enfants chantent le 12 à dix-huit heures ; l’entrée est libre."),
            ("Cherche bénévoles", "Deux heures par mois suffisent pour que la bibliothèque reste ouverte."),
        ),
        "Bonne lecture et à bientôt.",
    ),
    Story(
        "Weekly engineering digest",
        "Queues, caches and one very long outage",
        "Five links worth your time this week, and one that is worth your weekend.",
        (
            (
                "The queue that ate the disk",
                "A post-mortem that reads like a novel: retries, retries, and more retries.",
            ),
            ("Caching is a promise", "When to break it on purpose, and how to tell the people who believed it."),
            ("Clocks are not your friend", "Why two machines never agree about now, with measurements and pictures."),
            ("Small tools, sharp edges", "An argument for writing the forty lines yourself and deleting them later."),
        ),
        "Reply to this mail with the best thing you read.",
    ),
    Story(
        "今月のお知らせ",
        "秋の展示会と新しい本のご案内",
        "いつもご購読いただきありがとうございます。今月の予定をお知らせします。",
        (
            ("秋の展示会", "十月十二日から二週間、駅前の会場で開きます。入場は無料です。"),
            ("新しい本", "長く待たれていた旅の記録が、ようやく一冊にまとまりました。"),
            ("休業日", "二十日の月曜日は棚卸しのためお休みをいただきます。"),
        ),
        "皆さまのお越しをお待ちしております。",
    ),
    Story(
        "Boletín de la cooperativa",
        "Naranjas, aceite y la asamblea de socios",
        "Queridas socias y socios: la cosecha ha sido buena y el reparto empieza el lunes.",
        (
            ("Naranjas de otoño", "Cajas de diez kilos, sin cera y recogidas la misma mañana del reparto."),
            ("Aceite nuevo", "La almazara abre el sábado; traed vuestras garrafas y probad el primero."),
            ("Asamblea", "Se vota el precio del pan y el cambio de furgoneta; habrá tortilla."),
            ("Se busca local", "Necesitamos cien metros con entrada para carga, cerca de la plaza."),
        ),
        "Un abrazo de todo el equipo.",
    ),
)


def _token(seed: str, length: int) -> str:
    """Letters and digits that mean nothing, always the same for a seed."""
    digits = "".join(hashlib.sha256(f"{seed}{number}".encode()).hexdigest() for number in range(length // 64 + 1))
    return digits[:length]


def _pieces(story: Story) -> tuple[str, ...]:
    return (story.title, story.intro, *(piece for item in story.items for piece in item), story.closing)


PADDING: Final = "&#847;&zwnj;&nbsp;&#8199;&shy; " * 60
RESET: Final = (
    "body,table,td,p,a,li,blockquote{-webkit-text-size-adjust:100%;-ms-text-size-adjust:100%}table,td{mso-table-lspace:0pt;"
    "mso-table-rspace:0pt}img{-ms-interpolation-mode:bicubic;border:0;height:auto;line-height:100%;outline:none;"
    "text-decoration:none}body{height:100%!important;margin:0!important;padding:0!important;width:100%!important}"
    "a[x-apple-data-detectors]{color:inherit!important;text-decoration:none!important;font-size:inherit!important}"
    "u+#body a{color:inherit;text-decoration:none}.ExternalClass{width:100%}.ExternalClass *{line-height:100%}"
)
NARROW: Final = (
    "@media only screen and (max-width:620px){.wrap{width:100%!important}.col{display:block!important;width:100%!important;"
    "max-width:100%!important}.hide-small{display:none!important}.pad{padding:16px 12px!important}.big{font-size:22px"
    "!important;line-height:28px!important}}@media (prefers-color-scheme:dark){.wrap{background:#111!important}"
    ".dark{color:#eee!important}}"
)
TEXT: Final = (
    "margin:0;padding:0;font-family:'Helvetica Neue',Helvetica,Arial,sans-serif;font-size:16px;font-weight:400;"
    "line-height:24px;color:#3d3d3d;mso-line-height-rule:exactly;word-break:break-word;text-align:left"
)
HEADING: Final = (
    "margin:0 0 12px 0;padding:0;font-family:Georgia,'Times New Roman',Times,serif;font-size:24px;font-weight:700;"
    "line-height:30px;color:#1a1a1a;mso-line-height-rule:exactly;text-align:left"
)
TABLE: Final = (
    'border="0" cellpadding="0" cellspacing="0" role="presentation" width="100%" '
    'style="border-collapse:collapse;mso-table-lspace:0pt;mso-table-rspace:0pt"'
)


def _head(story: Story, css: str = "") -> str:
    return (
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional'
        '.dtd"><html xmlns="http://www.w3.org/1999/xhtml" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-'
        'microsoft-com:office:office"><head><meta http-equiv="Content-Type" content="text/html; charset=UTF-8"><meta name='
        '"viewport" content="width=device-width,initial-scale=1"><meta name="x-apple-disable-message-reformatting">'
        f"<title>{story.title}</title><!--[if gte mso 9]><xml><o:OfficeDocumentSettings><o:AllowPNG/><o:PixelsPerInch>96"
        "</o:PixelsPerInch></o:OfficeDocumentSettings></xml><![endif]--><!--[if mso]><style>table{border-collapse:collapse}"
        f'td{{font-family:Arial,sans-serif}}</style><![endif]--><style type="text/css">{RESET}{css}{NARROW}</style></head>'
    )


def _pixel(seed: str) -> str:
    return (
        f'<img src="https://open.track.example/o/{_token(seed, 120)}.gif" width="1" height="1" border="0" alt="" '
        'style="display:block;height:1px!important;width:1px!important;border-width:0!important;margin:0!important">'
    )


# --- five kinds of service ---------------------------------------------------------------------------------------


def by_list_service(story: Story, seed: str) -> str:
    """Three tables around everything, short tracked links, a preheader as a span."""
    rows: list[str] = []
    for number, (heading, text) in enumerate(story.items):
        link = (
            f"https://news.us1.lists.example/track/click?u={_token(seed, 25)}&amp;id={_token(seed + str(number), 10)}"
            f"&amp;e={_token(seed + 'e', 10)}"
        )
        rows.append(
            f'<table {TABLE} class="mcnTextBlock"><tbody class="mcnTextBlockOuter"><tr><td valign="top" class="mcnText'
            'BlockInner" style="padding-top:9px;mso-line-height-rule:exactly;-ms-text-size-adjust:100%;-webkit-text-size-'
            f'adjust:100%"><!--[if mso]><table align="left" border="0" cellspacing="0" cellpadding="0" width="100%"><tr>'
            f'<td valign="top" width="600" style="width:600px;"><![endif]--><table align="left" {TABLE} class="mcnText'
            'ContentContainer"><tbody><tr><td valign="top" class="mcnTextContent" style="padding:0 18px 9px;'
            f'{TEXT}"><h2 style="{HEADING}">{heading}</h2><p style="{TEXT};margin:10px 0">{text}</p><a href="{link}" '
            'target="_blank" style="mso-line-height-rule:exactly;-ms-text-size-adjust:100%;color:#007c89;font-weight:normal;'
            'text-decoration:underline">&rarr;</a></td></tr></tbody></table><!--[if mso]></td></tr></table><![endif]-->'
            '</td></tr></tbody></table><table border="0" cellpadding="0" cellspacing="0" width="100%" class="mcnDividerBlock"'
            ' style="min-width:100%;border-collapse:collapse;table-layout:fixed!important"><tbody><tr><td style="min-width:'
            '100%;padding:18px"><table width="100%" style="min-width:100%;border-top:2px solid #eaeaea"><tbody><tr><td>'
            "<span></span></td></tr></tbody></table></td></tr></tbody></table>"
        )
    return (
        _head(story, ".mcnPreviewText{display:none!important}")
        + '<body id="body" style="margin:0;padding:0;background-color:#fafafa"><!--*|IF:PREVIEW|*--><span class="mcnPreview'
        f'Text" style="display:none;font-size:0;line-height:0;max-height:0;max-width:0;opacity:0;overflow:hidden;visibility:'
        f'hidden;mso-hide:all">{story.preheader}{PADDING}</span><!--*|END:IF|*--><center><table align="center" {TABLE} '
        f'id="bodyTable"><tr><td align="center" valign="top" id="bodyCell"><table {TABLE} class="templateContainer wrap" '
        f'style="max-width:600px!important"><tr><td valign="top" id="templateHeader" style="{TEXT};background:#ffffff none '
        f'no-repeat center/cover"><h1 style="{HEADING};font-size:32px">{story.title}</h1></td></tr><tr><td valign="top" '
        f'style="{TEXT};background-color:#ffffff"><p style="{TEXT}">{story.intro}</p>{"".join(rows)}</td></tr><tr><td valign='
        f'"top" style="background:#fafafa;padding:9px 0"><p style="{TEXT};font-size:12px;color:#656565;text-align:center">'
        f"{story.closing}</p></td></tr></table></td></tr></table></center>{_pixel(seed)}</body></html>"
    )


def by_sending_service(story: Story, seed: str) -> str:
    """Long opaque redirects, buttons drawn twice, a preheader in the colour of its background."""
    rows: list[str] = []
    for number, (heading, text) in enumerate(story.items):
        link = f"https://u123456.ct.sender.example/ls/click?upn=u001.{_token(seed + str(number), 420)}-3D-3D_{_token(seed, 280)}"
        rows.append(
            f'<table class="module" role="module" data-type="text" {TABLE} data-muid="{_token(seed, 36)}"><tbody><tr><td '
            f'class="pad" style="padding:18px 0 18px 0;line-height:22px;text-align:inherit" height="100%" valign="top" '
            f'bgcolor=""><div><h3 style="{HEADING}">{heading}</h3><div style="{TEXT}"><span style="font-size:16px;color:'
            f'#3d3d3d">{text}</span></div><div></div></div></td></tr></tbody></table><table border="0" cellpadding="0" '
            'cellspacing="0" class="module" data-role="module-button" data-type="button" role="module" style="table-layout:'
            'fixed" width="100%"><tbody><tr><td align="left" bgcolor="" class="outer-td" style="padding:0 0 20px"><table '
            'border="0" cellpadding="0" cellspacing="0" class="wrapper-mobile" style="text-align:center"><tbody><tr><td '
            'align="center" bgcolor="#1f6feb" class="inner-td" style="border-radius:6px;font-size:16px;background-color:'
            f'inherit"><!--[if mso]><v:roundrect xmlns:v="urn:schemas-microsoft-com:vml" href="{link}" style="height:40px;'
            'v-text-anchor:middle;width:200px" arcsize="10%" fillcolor="#1f6feb"><center style="color:#fff">Read</center>'
            f'</v:roundrect><![endif]--><a href="{link}" style="background-color:#1f6feb;border:1px solid #1f6feb;border-'
            "radius:6px;color:#ffffff;display:inline-block;font-size:14px;font-weight:700;letter-spacing:0;line-height:normal;"
            'padding:12px 18px;text-align:center;text-decoration:none;mso-hide:none" target="_blank">Read</a></td></tr>'
            "</tbody></table></td></tr></tbody></table>"
        )
    return (
        _head(story)
        + f'<body><center class="wrapper" data-link-color="#1188E6" style="font-size:14px;font-family:arial;color:#000;'
        f'background-color:#FFFFFF"><div class="webkit"><table cellpadding="0" cellspacing="0" border="0" width="100%" class='
        f'"wrapper" bgcolor="#FFFFFF"><tr><td valign="top" bgcolor="#FFFFFF" width="100%"><table width="100%" role="content-'
        f'container" class="outer" align="center"><tr><td width="100%"><table border="0" width="100%" class="module preheader preheader-hide" '
        'role="module" style="display:none!important;mso-hide:all;visibility:hidden;opacity:0;color:transparent;height:0;'
        f'width:0"><tr><td role="module-content"><p>{story.preheader}</p></td></tr></table><div style="color:#ffffff;font-'
        f'size:2px;line-height:2px;background:#fff">{story.preheader}{PADDING}</div><table {TABLE}><tr><td style="{TEXT}"><h1 '
        f'style="{HEADING}">{story.title}</h1><p style="{TEXT}">{story.intro}</p>{"".join(rows)}<p style="{TEXT}">'
        f"{story.closing}</p></td></tr></table></td></tr></table></td></tr></table></div></center>{_pixel(seed)}</body></html>"
    )


def by_component_tool(story: Story, seed: str) -> str:
    """Divisions and ghost tables for one old program, columns, utm parameters."""
    rows: list[str] = []
    for number, (heading, text) in enumerate(story.items):
        link = (
            f"https://www.shop.example/stories/{number}?utm_source=newsletter&amp;utm_medium=email&amp;utm_campaign="
            f"{_token(seed, 24)}&amp;utm_content={_token(seed + 'c', 16)}&amp;utm_term=&amp;mc_cid={_token(seed, 10)}"
        )
        rows.append(
            '<!--[if mso | IE]><table align="center" border="0" cellpadding="0" cellspacing="0" class="" role="presentation" '
            'style="width:600px;" width="600" bgcolor="#ffffff"><tr><td style="line-height:0px;font-size:0px;mso-line-height-'
            'rule:exactly;"><![endif]--><div style="background:#ffffff;background-color:#ffffff;margin:0px auto;max-width:'
            f'600px;"><table align="center" {TABLE}><tbody><tr><td style="direction:ltr;font-size:0px;padding:20px 0;text-align:'
            'center;"><!--[if mso | IE]><table role="presentation" border="0" cellpadding="0" cellspacing="0"><tr><td class="" '
            'style="vertical-align:top;width:200px;" ><![endif]--><div class="mj-column-per-33 mj-outlook-group-fix col" style='
            '"font-size:0px;text-align:left;direction:ltr;display:inline-block;vertical-align:top;width:100%;"><table border="0" '
            'cellpadding="0" cellspacing="0" role="presentation" style="vertical-align:top;" width="100%"><tbody><tr><td align='
            f'"center" style="font-size:0px;padding:10px 25px;word-break:break-word;"><img alt="" height="auto" src="https://cdn'
            f'.shop.example/img/{_token(seed + str(number), 64)}.jpg" style="border:0;display:block;outline:none;text-decoration:'
            'none;height:auto;width:100%;font-size:13px;" width="150"></td></tr></tbody></table></div><!--[if mso | IE]></td>'
            '<td class="" style="vertical-align:top;width:400px;" ><![endif]--><div class="mj-column-per-66 col" style="font-'
            'size:0px;text-align:left;direction:ltr;display:inline-block;vertical-align:top;width:100%;"><table border="0" '
            'cellpadding="0" cellspacing="0" role="presentation" style="vertical-align:top;" width="100%"><tbody><tr><td align='
            f'"left" style="font-size:0px;padding:10px 25px;word-break:break-word;"><div style="{TEXT};font-size:18px;font-'
            f'weight:bold"><a href="{link}" class="dark" style="color:#222222;text-decoration:none">{heading}</a></div></td>'
            '</tr><tr><td align="left" style="font-size:0px;padding:10px 25px;word-break:break-word;"><div class="dark" style="'
            f'{TEXT}">{text}</div></td></tr></tbody></table></div><!--[if mso | IE]></td></tr></table><![endif]--></td></tr>'
            "</tbody></table></div><!--[if mso | IE]></td></tr></table><![endif]-->"
        )
    return (
        _head(
            story,
            "#outlook a{padding:0}@media only screen and (min-width:480px){.mj-column-per-33{width:33%!important}}",
        )
        + f'<body style="word-spacing:normal;background-color:#f4f4f4;"><div style="display:none;font-size:1px;color:#ffffff;'
        f'line-height:1px;max-height:0px;max-width:0px;opacity:0;overflow:hidden;">{story.preheader}{PADDING}</div><div style="'
        f'background-color:#f4f4f4;"><div style="margin:0 auto;max-width:600px"><div style="{TEXT};font-size:28px">'
        f'{story.title}</div><div style="{TEXT}">{story.intro}</div></div>{"".join(rows)}<div style="margin:0 auto;max-width:'
        f'600px"><div style="{TEXT};font-size:12px">{story.closing}</div></div></div>{_pixel(seed)}</body></html>'
    )


def by_office_program(story: Story, seed: str) -> str:
    """Word's HTML: a class and a style for every run of text, and a page of style sheet."""
    rules = "".join(
        f"p.Mso{name}, li.Mso{name}, div.Mso{name} {{margin:0cm;margin-bottom:.0001pt;font-size:11.0pt;font-family:"
        f'"Calibri",sans-serif;mso-fareast-language:EN-US;mso-style-priority:{number}}}\n'
        for number, name in enumerate(
            "Normal Heading1 Heading2 ListParagraph PlainText Footer Header Title Quote".split()
        )
    )
    paragraphs: list[str] = []
    for number, (heading, text) in enumerate(story.items):
        protected = (
            f"https://eur01.links.protection.example/?url=https%3A%2F%2Fwww.club.example%2Fnews%2F{number}&amp;data=05%7C02%7C"
            f"{_token(seed + str(number), 260)}%7C0%7C0%7C638&amp;sdata={_token(seed, 60)}%3D&amp;reserved=0"
        )
        run = "font-size:12.0pt;font-family:&quot;Arial&quot;,sans-serif;color:#1F3864;mso-fareast-language:DE"
        words = "".join(f'<span lang="EN-US" style="{run}">{word} </span>' for word in text.split())
        paragraphs.append(
            f'<p class="MsoNormal" style="mso-margin-top-alt:auto;mso-margin-bottom-alt:auto;line-height:115%"><b><span lang='
            f'"EN-US" style="{run}">{heading}<o:p></o:p></span></b></p><p class="MsoNormal" style="line-height:115%">{words}'
            f'<a href="{protected}" title="Protected link"><span lang="EN-US" style="{run};text-decoration:underline">www.club'
            f'.example</span></a><span lang="EN-US" style="{run}"><o:p></o:p></span></p><p class="MsoNormal"><span lang="EN-US" '
            f'style="{run}"><o:p>&nbsp;</o:p></span></p>'
        )
    return (
        _head(
            story,
            f"<!-- /* Font Definitions */\n@font-face {{font-family:Calibri;panose-1:2 15 5 2 2 2 4 3 2 4}}\n{rules}-->",
        )
        + f'<body lang="DE" link="#0563C1" vlink="#954F72" style="word-wrap:break-word"><div class="WordSection1"><p class='
        f'"MsoTitle" style="margin-bottom:8.0pt"><span style="font-size:26.0pt">{story.title}<o:p></o:p></span></p><p class='
        f'"MsoNormal"><span style="mso-fareast-language:DE">{story.intro}<o:p></o:p></span></p>{"".join(paragraphs)}<p class='
        f'"MsoNormal"><span style="display:none;mso-hide:all">{story.preheader}</span><span>{story.closing}</span></p></div>'
        f"{_pixel(seed)}</body></html>"
    )


def by_shop(story: Story, seed: str) -> str:
    """An order: a table of data inside tables of layout, pictures with alternative texts, navigation, icons."""
    link = f"https://click.shop.example/CL0/https:%2F%2Fwww.shop.example%2Forder/1/{_token(seed, 120)}/{_token(seed + 'x', 43)}"
    rows = "".join(
        f'<tr><td style="padding:10px 8px;border-bottom:1px solid #dddddd;{TEXT}">{heading}</td><td align="left" style="padding:'
        f'10px 8px;border-bottom:1px solid #dddddd;{TEXT}">{text}</td></tr>'
        for heading, text in story.items
    )
    spacers = "".join(
        f'<table {TABLE}><tr><td height="24" style="font-size:24px;line-height:24px;mso-line-height-rule:exactly">&nbsp;</td>'
        f'</tr></table><table {TABLE}><tr><td align="center" style="padding:0 12px"><a href="{link}{number}" style="text-'
        f'decoration:none;color:#ffffff"><img src="https://cdn.shop.example/icons/{_token(seed + str(number), 80)}.png" width="24" '
        'height="24" alt="" border="0" style="display:block;border:0;outline:none;text-decoration:none"></a></td></tr></table>'
        for number in range(6)
    )
    head = (
        f'<th align="left" scope="col" style="{TEXT};font-weight:bold;padding:10px 8px;border-bottom:2px solid #222222">#</th>'
        f'<th align="left" scope="col" style="{TEXT};font-weight:bold;padding:10px 8px;border-bottom:2px solid #222222">%</th>'
    )
    return (
        _head(story, ".preheader{display:none!important;visibility:hidden;opacity:0;height:0;width:0}")
        + f'<body bgcolor="#eeeeee" style="margin:0"><div class="preheader">{story.preheader}{PADDING}</div><table {TABLE} bgcolor='
        f'"#eeeeee"><tr><td align="center"><table {TABLE} class="wrap" bgcolor="#222222"><tr><td align="center" style="padding:24px;'
        f'font-size:0"><a href="{link}"><img src="https://cdn.shop.example/{_token(seed, 90)}/logo@2x.png" width="180" alt="" '
        f'style="display:block"></a></td></tr></table><table {TABLE} class="wrap" bgcolor="#ffffff"><tr><td class="pad" style='
        f'"padding:32px"><h1 style="{HEADING}">{story.title}</h1><p style="{TEXT}">{story.intro}</p><table border="0" cellpadding='
        f'"0" cellspacing="0" width="100%" style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody>'
        f'</table>{spacers}<p style="{TEXT}">{story.closing}</p></td></tr></table></td></tr></table>{_pixel(seed)}</body></html>'
    )


BUILDERS: Final[dict[str, Callable[[Story, str], str]]] = {
    "list service": by_list_service,
    "sending service": by_sending_service,
    "component tool": by_component_tool,
    "office program": by_office_program,
    "shop": by_shop,
}


def newsletters() -> Iterator[Newsletter]:
    """All of them, always the same."""
    for name, build in BUILDERS.items():
        for number, story in enumerate(STORIES):
            yield Newsletter(f"{name} {number}", build(story, f"{name}{number}"), _pieces(story), (story.preheader,))
