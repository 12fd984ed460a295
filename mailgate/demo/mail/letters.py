"""Letters in many languages, each in a charset its writer's program may have chosen."""

from __future__ import annotations

from datetime import datetime

from mailgate.demo.mail.compose import OWNER, Letter, Sample, ago, encoded_words, html, multipart, text

GREEK = "Δημήτρης Παππάς <dimitris@example.org>"


def samples(now: datetime) -> list[Sample]:
    """Private mail from all over."""
    return [letter.at(now) for letter in (*western(), *cyrillic_and_greek(), *east_asian(), *right_to_left(), *plain())]


def western() -> list[Letter]:
    """German, French, Spanish, Polish."""
    german = text(
        "Liebe Robin,\n\nschöne Grüße aus Zürich! Das Café an der Straße heißt jetzt »Zum Übermut«.\n"
        "Größere Änderungen gibt es sonst keine.\n\nHerzlich\nJürgen\n",
        charset="iso-8859-1",
    )
    french = text(
        "Bonjour Robin,\n\nla réunion du budget est reportée à jeudi, à cause de la grève. "
        "Ça t'arrange ?\n\nÀ bientôt,\nÉloïse\n"
    )
    spanish = multipart(
        "alternative",
        "es-1",
        text("¿Vienes mañana? El niño cumple seis años.\n", encoding="base64"),
        html("<p>¿Vienes <em>mañana</em>? El niño cumple seis años.</p>", encoding="base64"),
    )
    polish = text(
        "Cześć Robin,\n\nzażółć gęślą jaźń - to zdanie zawiera wszystkie polskie litery.\n\nŁukasz\n",
        charset="iso-8859-2",
    )
    return [
        Letter(
            ago(20, 4),
            "Jürgen Müller <juergen@example.org>",
            "Grüße aus Zürich",
            german,
            flags=("\\Seen",),
            zone=2,
            name="de-1",
        ),
        Letter(
            ago(7, 6),
            "Éloïse Lefèvre <eloise@example.net>",
            "Réunion reportée",
            french,
            folder="Réunions & Budget",
            zone=2,
            name="fr-1",
        ),
        Letter(ago(3, 2), "Íñigo Peña <inigo@example.org>", "Cumpleaños mañana", spanish, zone=2, name="es-1"),
        Letter(
            ago(15, 3),
            "Łukasz Żak <lukasz@example.org>",
            "Zażółć gęślą jaźń",
            polish,
            flags=("\\Seen",),
            zone=2,
            name="pl-1",
        ),
    ]


def cyrillic_and_greek() -> list[Letter]:
    """Russian in KOI8-R, Ukrainian in windows-1251, Greek in ISO-8859-7."""
    russian = text(
        "Здравствуйте!\n\nПосылаю вам расписание поездов на октябрь. Билеты лучше купить заранее.\n\n"
        "С уважением,\nАнна\n",
        charset="koi8-r",
        encoding="8bit",
    )
    ukrainian = text(
        "Доброго дня!\n\nЗустріч перенесено на п'ятницю, їхати не треба.\n", charset="windows-1251", encoding="base64"
    )
    greek = text("Καλημέρα,\n\nη παράδοση έγινε χθες. Ευχαριστώ πολύ!\n", charset="iso-8859-7")
    subject = encoded_words("Расписание поездов", "koi8-r")
    return [
        Letter(
            ago(18, 5), "Анна Смирнова <anna@example.org>", subject, russian, flags=("\\Seen",), zone=3, name="ru-1"
        ),
        Letter(ago(4, 9), "Олена <olena@example.net>", "Зустріч перенесено", ukrainian, zone=3, name="uk-1"),
        Letter(ago(16, 2), GREEK, "Παράδοση", greek, flags=("\\Seen",), zone=3, folder="Archive", name="el-1"),
    ]


def east_asian() -> list[Letter]:
    """Japanese in ISO-2022-JP, Chinese in GB2312 and Big5, Korean in EUC-KR."""
    japanese = text(
        "ロビン様\n\n来週の会議は東京駅の近くで行います。地図を添付します。\nよろしくお願いいたします。\n\n佐藤\n",
        charset="iso-2022-jp",
        encoding="7bit",
    )
    japanese_utf8 = text("写真をありがとう。京都の桜はとてもきれいでした。\n", encoding="base64")
    chinese = text("罗宾，你好：\n\n附件是下个月的日程安排，请查收。\n\n王芳\n", charset="gb2312", encoding="base64")
    taiwan = text("您好，\n\n訂單已經出貨，預計星期三送達。\n", charset="big5", encoding="quoted-printable")
    korean = text("안녕하세요,\n\n회의록을 보내 드립니다. 확인 부탁드립니다.\n", charset="euc-kr", encoding="base64")
    return [
        Letter(
            ago(10, 12),
            f"{encoded_words('佐藤健', 'iso-2022-jp')} <sato@example.org>",
            encoded_words("来週の会議について", "iso-2022-jp"),
            japanese,
            zone=9,
            name="ja-1",
        ),
        Letter(
            ago(10, 2),
            "山田花子 <hanako@example.net>",
            "京都の写真",
            japanese_utf8,
            folder="日本語",
            zone=9,
            name="ja-2",
        ),
        Letter(
            ago(9, 15),
            f"{encoded_words('王芳', 'gb2312')} <wangfang@example.org>",
            encoded_words("日程安排", "gb2312"),
            chinese,
            flags=("\\Seen",),
            zone=8,
            name="zh-1",
        ),
        Letter(ago(6, 20), "訂單中心 <orders@shop.example>", "訂單已出貨", taiwan, zone=8, name="zh-2"),
        Letter(ago(6, 11), "김민준 <minjun@example.org>", "회의록", korean, zone=9, name="ko-1"),
    ]


def right_to_left() -> list[Letter]:
    """Arabic, Hebrew, and Hindi for good measure."""
    arabic = text("مرحبا روبن،\n\nموعد الاجتماع يوم الأحد الساعة العاشرة صباحا.\n\nليلى\n")
    hebrew = text("שלום רובין,\n\nהמשלוח הגיע אתמול. תודה רבה!\n", charset="windows-1255")
    hindi = text("नमस्ते,\n\nआपका टिकट बुक हो गया है। यात्रा शुभ हो!\n", encoding="base64")
    return [
        Letter(ago(5, 3), "ليلى حداد <layla@example.org>", "موعد الاجتماع", arabic, zone=3, name="ar-1"),
        Letter(ago(14, 3), "דנה כהן <dana@example.net>", "המשלוח הגיע", hebrew, flags=("\\Seen",), zone=2, name="he-1"),
        Letter(
            ago(13, 8),
            "यात्रा सेवा <travel@example.org>",
            "टिकट की पुष्टि",
            hindi,
            flags=("\\Seen",),
            zone=5.5,
            name="hi-1",
        ),
    ]


def plain() -> list[Letter]:
    """English: a flowed one, a short one, and one with many addressees."""
    flowed = text(
        "Dear Robin, \nthis paragraph was written by a program that breaks its lines \nsoftly, so a reader may put "
        "them together again.\n\n> And a quoted one that \n> goes on here.\n\n "
        "From the start of a line.\n\n-- \nAunt May\n"
    )
    flowed = type(flowed)(
        (("Content-Type", "text/plain; charset=us-ascii; format=flowed"), flowed.fields[1]), flowed.body
    )
    short = text("Lunch at noon? The usual place.\n\nSam\n")
    many = text("Save the date: the summer party is on the 21st.\n")
    guests = ", ".join(f"Guest {number:02d} <guest{number:02d}@example.net>" for number in range(1, 26))
    return [
        Letter(
            ago(17, 1),
            '"May \\"Aunt\\" Parker" <may@example.org>',
            "A flowing letter",
            flowed,
            flags=("\\Seen",),
            name="flow-1",
        ),
        Letter(ago(0, 3), "Sam <sam@example.org>", "Lunch?", short, flags=("\\Flagged",), name="lunch-1"),
        Letter(
            ago(11, 11),
            "Social Club <club@example.net>",
            "Save the date",
            many,
            f"{OWNER}, {guests}",
            flags=("\\Seen",),
            name="party-1",
            extra=(("Cc", "Front Desk <desk@example.com>"), ("Reply-To", "party@example.net")),
        ),
    ]
