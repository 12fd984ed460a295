"""The words by which mail programs mark what they quote, in the languages they speak: data only.

All words are in lower case. A word too many in `FIELDS` or `WROTE` costs nothing by itself: the rules ask for a whole
header block, or for a date beside the verb. The lists of what keeps text from being folded are wide on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Field(StrEnum):
    """What a line of a header block tells."""

    FROM = "from"
    SENT = "sent"
    DATE = "date"
    TO = "to"
    CC = "cc"
    SUBJECT = "subject"
    OTHER = "other"


def listed(text: str) -> tuple[str, ...]:
    """Words and phrases written with `|` between them, folded for comparison."""
    return tuple(word.strip().casefold() for word in text.split("|"))


_FIELD_WORDS: Final[Mapping[Field, str]] = {
    Field.FROM: "from|von|de|da|van|od|от|от кого|від|fra|från|lähettäjä|feladó|差出人|送信者|发件人|發件人|寄件者"
    "|寄件人"
    "|보낸 사람|보낸사람|발신|מאת|من|از|kimden|gönderen|από|de la|expéditeur|remitente|mittente|remetente|afzender"
    "|absender"
    "|nadawca|odesílatel|odosielateľ|отправитель|pošiljatelj|šalje|saatja|nuo|no|từ|dari|จาก|desde",
    Field.SENT: "sent|gesendet|gesendet am|envoyé|envoyé le|enviado|enviado el|enviada|enviado em|enviada em"
    "|enviados|inviato"
    "|verzonden|verzonden op|wysłano|wysłane|wysłana|odesláno|odoslané|отправлено|отправлен|надіслано|sendt"
    "|sendt dato|skickat"
    "|skickades|lähetetty|elküldve|küldve|送信日時|送信日|发送时间|发送日期|發送時間|寄件日期|傳送時間|已发送|보낸 날짜"
    "|보낸날짜|보낸 시간|נשלח|נשלח בתאריך|تم الإرسال|أرسلت|تاريخ الإرسال|gönderildi|gönderilme tarihi|gönderme tarihi"
    "|στάλθηκε|εστάλη|trimis|изпратено|poslano|poslato|saadetud|išsiųsta|nosūtīts|đã gửi|dikirim|terkirim|ส่งเมื่อ"
    "|enviat",
    Field.DATE: "date|datum|fecha|data|dato|дата|päiväys|päivämäärä|dátum|日期|日付|日時|날짜|תאריך|التاريخ|تاریخ|tarih"
    "|ημερομηνία|dată|kuupäev|ngày|tanggal|วันที่",
    Field.TO: "to|an|à|a|para|aan|do|komu|кому|до|til|till|vastaanottaja|címzett|宛先|收件人|收件者|받는 사람"
    "|받는사람|수신"
    "|אל|إلى|به|kime|alıcı|προς|către|za|prima|saaja|kam|tới|đến|kepada|ถึง|destinataire|destinatario|destinatário"
    "|odbiorca"
    "|получатель|per|pro|empfänger|ontvanger",
    Field.CC: "cc|c.c.|kopie|copie|copie à|copia|kopia|kopie (cc)|копия|копія|копие|kopi|kopio|másolat|másolatot kap"
    "|抄送|副本"
    "|참조|עותק|نسخة|bilgi|κοιν.|κοινοποίηση|cópia|dw|kópia",
    Field.SUBJECT: "subject|betreff|objet|asunto|oggetto|assunto|onderwerp|temat|předmět|predmet|тема|emne|ämne|aihe"
    "|tárgy"
    "|件名|主题|主旨|主題|제목|נושא|الموضوع|موضوع|konu|θέμα|subiect|относно|zadeva|naslov|teema|tema|temats|chủ đề"
    "|tiêu đề"
    "|subjek|perihal|เรื่อง|assumpte|sujet",
    Field.OTHER: "reply-to|importance|priority|attachments|attachment|bcc|wichtigkeit|priorität|anlagen|anlage"
    "|antwort an"
    "|importancia|prioridad|importanza|priorità|bijlage|bijlagen|urgentie|pièces jointes|datos adjuntos|allegati"
    "|вложения"
    "|répondre à|responder a|添付ファイル|附件|blindkopie|bcc|cci|organisation|sensitivity",
}
FIELDS: Final[Mapping[str, Field]] = {word: field for field, text in _FIELD_WORDS.items() for word in listed(text)}

WROTE: Final = listed(
    "wrote|writes|said|mentioned|folgendes geschrieben|geschrieben|schrieb|schreibt|a écrit|a ecrit|écrit|ha scritto"
    "|scrive"
    "|escribió|escribio|escreveu"
    "|schreef"
    "|het volgende geschreven"
    "|geschreven|napisał(a)|napisał/a|napisał|napisała|napisal(a)|napisal|napisala|napsal(a)"
    "|napsal"
    "|napsala"
    "|napísal(a)|napísal|napísala|написал(а)|написал|написала|пишет|писал(а)|писал|пише|pisze|написав(ла)|написав"
    "|написа"
    "|skrev"
    "|följande|kirjoitti|írta|ezt írta|a scris|έγραψε|yazdı|şunu yazdı|şunları yazdı|写道|写到|寫道|のメール"
    "|は書きました"
    "|さんは書きました|님이 작성|님이 씀|작성|כתב/ה|כתבה|כתב|كتب|كتبت|كتب ما يلي|نوشت|نوشته است|đã viết|เขียนว่า|เขียน"
    "|menulis|va escriure|napisao je|napisala je|napisao|је написао/ла|је написао|kirjutas|rašė|rakstīja"
)
WROTE_BEFORE_NAME: Final = listed("schrieb|schreef|skrev|kirjutas")
"""Verbs that stand between the date and the name."""
QUOTING: Final = listed(
    "quoting|zitat von|missatge de|citando|citando a|mensaje citado por|citazione|quoting from|citerar|citat"
)

OPENERS: Final = frozenset(
    listed(
        "on|at|am|le|el|il|em|op|den|dne|dňa|dnia|dana|w|v|u|στις|în|la|на|в|у|vào|pada|tanggal|בתאריך|في|در|kuupäev"
        "|missatge|a|data|quoting|zitat|citando|il giorno"
        # days of the week, whole and cut
        "|mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
        "|mo|di|mi|do|fr|sa|so|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag"
        "|lun|mar|mer|jeu|ven|sam|dim|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
        "|mié|jue|vie|sáb|dom|lunes|martes|miércoles|jueves|viernes|sábado|domingo|gio|sab"
        "|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|seg|ter|qua|qui|sex"
        "|ma|wo|vr|za|zo|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag"
        "|pon|wt|śr|czw|pt|sob|niedz|ndz|poniedziałek|wtorek|środa|czwartek|piątek|sobota|niedziela"
        "|po|út|ut|st|čt|št|pá|pi|ne|pondělí|úterý|středa|čtvrtek|pátek|neděle"
        "|пн|вт|ср|чт|пт|сб|вс|понедельник|вторник|среда|четверг|пятница|суббота|воскресенье|нд|пон|уто|сре|чет|пет"
        "|суб|нед"
        "|понеділок|вівторок|середа|п'ятниця|неділя"
        "|man|tir|tirs|ons|tor|tors|fre|lør|søn|mandag|tirsdag|onsdag|torsdag|fredag|lørdag|søndag|mån|tis|lör|sön"
        "|måndag|tisdag|lördag|söndag|ti|ke|to|pe|su|maanantai|tiistai|keskiviikko|torstai|perjantai|lauantai|sunnuntai"
        "|lunedi|dl|dt|dc|dj|dv|ds|dg|יום"
    )
)
OPENERS_UNSPACED: Final = listed("在|于|於|ในวันที่|เมื่อ|в ")
"""Openers that the next word follows without a blank."""

ORIGINAL: Final = listed(
    "original message|original email|original e-mail|originalnachricht|original-nachricht|ursprüngliche nachricht"
    "|ursprüngliche mail|originale nachricht|message d'origine|message d’origine|message original|message initial"
    "|courriel original|mensaje original|correo original|messaggio originale|mensagem original|oorspronkelijk bericht"
    "|origineel bericht|oprindelig meddelelse|original meddelelse|opprinnelig melding|original melding"
    "|ursprungligt meddelande|originalmeddelande|alkuperäinen viesti|oryginalna wiadomość|wiadomość oryginalna"
    "|původní zpráva|původní e-mail|pôvodná správa|eredeti üzenet|eredeti levél|исходное сообщение"
    "|оригинальное сообщение|первоначальное сообщение|оригінальне повідомлення|початкове повідомлення"
    "|вихідне повідомлення"
    "|orijinal mesaj|orjinal mesaj|özgün ileti|orijinal ileti|αρχικό μήνυμα|mesaj original|mesajul original"
    "|оригинално съобщение|izvirno sporočilo|izvorna poruka|originalna poruka|原始邮件|原始郵件|邮件原件|原邮件"
    "|元のメッセージ|オリジナルメッセージ|original message|元のメール|원본 메시지|원본 메일|원본 이메일|원본메시지"
    "|הודעה מקורית|הודעה המקורית|الرسالة الأصلية|رسالة أصلية|پیام اصلی|tin nhắn gốc|thư gốc|pesan asli|ข้อความต้นฉบับ"
    "|missatge original|algne kiri|pradinis pranešimas|reply message|antwort-nachricht"
)
FORWARDED: Final = listed(
    "forwarded message|forwarded text|begin forward|forwarded email|forwarded e-mail|forwarded by|forwarded mail"
    "|forward message"
    "|weitergeleitete nachricht|weitergeleiteten nachricht|weitergeleitete e-mail|weitergeleiteten e-mail"
    "|weitergeleitet von"
    "|weitergeleitete mail|message transféré|message réexpédié|transféré par|message transmis|courriel transféré"
    "|mensaje reenviado|correo reenviado|reenviado por|messaggio inoltrato|inoltrato da|messaggio inoltrata"
    "|mensagem encaminhada|mensagem reencaminhada|encaminhado por|doorgestuurd bericht|doorgestuurde bericht"
    "|doorgezonden bericht|doorgestuurd door|videresendt meddelelse|videresendt melding|videresendte meddelelse"
    "|videresendte meldingen|vidarebefordrat meddelande|vidarebefordrat brev|vidarebefordrade meddelandet"
    "|edelleenlähetetty viesti|välitetty viesti|välitetyn viestin|przekazana wiadomość|wiadomość przekazana"
    "|przekazanej wiadomości|przesłana wiadomość|wiadomość przesłana dalej|přeposlaná zpráva|přeposlané zprávy"
    "|předaná zpráva|preposlaná správa|preposlanej správy|továbbított üzenet|továbbított levél|пересылаемое сообщение"
    "|пересланное сообщение|пересланного сообщения|переадресованного сообщения|переадресованное сообщение"
    "|пересылаемого сообщения"
    "|переслане повідомлення|пересланого повідомлення|препратено съобщение|iletilen mesaj|iletilmiş ileti"
    "|iletilen ileti"
    "|yönlendirilmiş ileti|yönlendirilen mesaj|προωθημένο μήνυμα|προωθημένου μηνύματος|mesaj redirecționat"
    "|mesaj transmis"
    "|mesajul redirecționat|posredovano sporočilo|proslijeđena poruka|prosleđena poruka|转发的邮件|转发邮件"
    "|转发邮件信息"
    "|已转发邮件|被转发邮件|轉寄郵件|轉寄的郵件|已轉寄的郵件|転送メッセージ|転送されたメッセージ|転送メール|전달된 메일"
    "|전달된 메시지|전달 메시지|הודעה שהועברה|הודעה מועברת|ההודעה שהועברה|رسالة معاد توجيهها|رسالة مُعاد توجيهها"
    "|رسالة محولة"
    "|الرسالة المعاد توجيهها|پیام فوروارد شده|پیام هدایت شده|tin nhắn được chuyển tiếp|thư được chuyển tiếp"
    "|pesan diteruskan"
    "|pesan terusan|ข้อความที่ส่งต่อ|missatge reenviat|edastatud kiri|persiųstas"
)
