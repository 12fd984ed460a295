"""What a writer's own text says about the quotation below it: that there is nothing else to read, that it is passed
on, or that it is answered in its middle. Each of these keeps the quotation from being folded; the lists are wide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from mailgate.mime.quotes_lines import Line

_GREETINGS: Final = (
    r"hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|greetings|hallo|hallöchen|moin|servus|grüezi"
    r"|liebe[rs]?"
    r"|sehr geehrte[rs]?|guten (?:tag|morgen|abend)|lieber herr|bonjour|bonsoir|salut|cher|chère|chers|chères|coucou"
    r"|hola|buenos días|buenas tardes|buenas|querid[oa]s?|estimad[oa]s?|ciao|buongiorno|buonasera|salve|gentile|caro"
    r"|cara"
    r"|cari|egregio|olá|oi|bom dia|boa tarde|boa noite|prezad[oa]s?|car[oa]s?|beste|hoi|dag|goedemorgen|goedemiddag"
    r"|geachte"
    r"|lieve|cześć|dzień dobry|witam|szanown[aiey]+|drog[ai]|hej|ahoj|dobrý den|vážen[ýáí]|milý|milá|привет"
    r"|здравствуйте"
    r"|добрый (?:день|вечер)|доброе утро|уважаем\w+|дорог\w+|вітаю|добрий день|доброго дня|шановн\w+|здравейте"
    r"|здравей"
    r"|hejsan|god (?:morgen|morgon|dag)|goddag|kjære|kære|käre|kära|hei|moi|terve|hyvää päivää|szia|sziasztok|kedves"
    r"|tisztelt"
    r"|merhaba|selam|sayın|sevgili|bună|salutare|dragă|stimat\w*|γεια(?: σου| σας)?|αγαπητ\w+|καλημέρα|καλησπέρα"
    r"|שלום|היי|הי"
    r"|מרחבא|مرحبا|السلام عليكم|أهلا|عزيزي|عزيزتي|سلام|chào|xin chào|kính gửi|halo|hai|selamat \w+|สวัสดี\w*|เรียน"
    r"|您好|你好"
    r"|尊敬的|亲爱的|親愛的|안녕하세요|안녕|お世話になっております|いつもお世話になっております|こんにちは"
    r"|おはようございます"
)
_GREETING: Final = re.compile(rf"(?:{_GREETINGS})(?!\w)(?: [^\s,!.:;?]+){{0,4}} ?[,!.:：，、！。]?", re.IGNORECASE)
_SPOKEN_TO: Final = re.compile(
    r"(?:[^\W\d_]\w{1,20} ?){1,2}(?:さん|様|先生|님)?[,，、]|.{1,20}(?:様|さん|先生|님)[,，、。]?"
)
_CLOSING: Final = re.compile(
    r"(?:(?:best|kind|warm|many)? ?regards|best(?: wishes)?|cheers|thanks(?: a lot| again| in advance)?|thank you"
    r"|thx|ta|sincerely"
    r"|yours(?: \w+)?|take care|love|all the best|mit (?:freundlichen|besten|herzlichen|lieben) grüßen|(?:viele"
    r"|liebe|beste|schöne"
    r"|herzliche|freundliche)[nr]? gr(?:ü|ue)(?:ß|ss)e|gr(?:uß|uss|üße|üsse)|lg|vg|mfg|bg|danke|vielen dank"
    r"|cordialement"
    r"|bien (?:cordialement|à vous)|merci|bisous|amicalement|(?:un )?saludos?(?: cordial\w*)?|atentamente|gracias"
    r"|un abrazo"
    r"|cordiali saluti|distinti saluti|saluti|grazie|un saluto|a presto|atenciosamente|cumprimentos|abraços?"
    r"|obrigad[oa]"
    r"|met vriendelijke groet(?:en)?|groet(?:en|jes)?|mvg|bedankt|pozdrawiam|z poważaniem|dziękuję|s pozdravem|děkuji"
    r"|с уважением|спасибо|з повагою|дякую|med (?:venlig|vennlig|vänlig)\w* (?:hilsen|hälsning\w*)|mvh|hilsen"
    r"|hälsningar"
    r"|tack|tak|takk|ystävällisin terveisin|terveisin|kiitos|üdvözlettel|üdv|köszönöm|saygılarımla|teşekkürler"
    r"|sevgiler"
    r"|cu stimă|mulțumesc|με εκτίμηση|ευχαριστώ|בברכה|תודה|مع التحية|شكرا|با احترام|trân trọng|cảm ơn|salam"
    r"|terima kasih"
    r"|ขอบคุณ\S*|此致|敬礼|谢谢|謝謝|祝好|감사합니다|드림|よろしくお願いします|よろしくお願いいたします"
    r"|敬具)[,.!:，。！]?",
    re.IGNORECASE,
)
_THANKS: Final = re.compile(
    r"th(?:an|x)|ta\b|danke|vielen dank|merci|gracias|grazie|obrigad|bedankt|dzięk|děkuji|спасибо|дякую|tack|tak\b"
    r"|takk|kiitos"
    r"|köszönöm|teşekkür|mulțumesc|ευχαριστώ|תודה|شكرا|cảm ơn|terima kasih|ขอบคุณ|谢谢|謝謝|감사합니다",
    re.IGNORECASE,
)
_MOBILE: Final = re.compile(
    r"(?:sent (?:from|with|via|using)|get outlook for|gesendet (?:von|mit|über)|von meinem \w+ gesendet"
    r"|holen sie sich outlook"
    r"|diese nachricht wurde von meinem|envoyé (?:de|depuis|à partir|avec)|obtenez outlook|télécharger outlook"
    r"|enviado (?:desde|do|con|de|a partir|com)|obtener outlook|obter o outlook|baixar o outlook|inviato (?:da|con)"
    r"|scarica outlook"
    r"|ottieni outlook|verzonden (?:vanaf|met|via)|verstuurd (?:vanaf|met)|outlook voor|wysłane? (?:z|przy)"
    r"|wysłano z|pobierz outlook"
    r"|odesláno (?:z|ze|pomocí)|получить outlook|отправлено (?:с|из)|надіслано (?:з|із)|sendt fra|hent outlook"
    r"|skickat från|hämta outlook"
    r"|lähetetty|hanki outlook|iphone'?(?:umdan|'?dan|-?ről)|küldve|ελήφθη|στάλθηκε από|iphone'?ımdan gönderildi"
    r"|iphoneから送信|iphone から送信|从我的|發自我的|发自我的|從我的|傳送自|나의 iphone에서|iphone에서 보냄|נשלח מה"
    r"|أرسلت من|مرسل من|trimis de pe"
    r"|yahoo mail|proton ?mail|blackberry)",
    re.IGNORECASE,
)
_SIGNATURE: Final = re.compile(r"--|—|_{2,}")
_MARKER: Final = re.compile(r"\[quoted: (?:.{1,140}, )?[0-9,]{1,12} characters?\]")
_FOOTER: Final = re.compile(r"[_=-]{10,}")

_PASSES_ON: Final = re.compile(
    r"\b(?:fyi|f\.y\.i|for your (?:information|info|records|reference|attention|action|eyes)|for (?:info|information"
    r"|reference)\b"
    r"|(?:i am|i'm|am)? ?forwarding|i (?:have )?forward(?:ed)?\b|forwarded (?:to|for|from)|fwd\b|passing (?:this "
    r"|it )?(?:on|along)"
    r"|pass(?:ed)? (?:this|it) on|sharing (?:this|the)|zur info\w*|z\.? ?k\.?(?!\w)|zur kenntnis\w*|weitergeleitet"
    r"|weiterleitung"
    r"|leite (?:ich|dir|ihnen|euch)|(?:ich|wir) leiten? |pour (?:info\w*|ton info|votre info)|à toutes fins|je (?:te"
    r"|vous) transf\w+"
    r"|je (?:te|vous) fais suivre|para (?:tu|su|vuestra) (?:info\w*|conocimiento)|(?:te|os|le|les) reenvío|reenvío"
    r"|per (?:conoscenza|info\w*|opportuna)"
    r"|(?:ti|vi|le) (?:inoltro|giro)|inoltro|para (?:conhecimento|informação)|encaminho|encaminhando|reencaminho"
    r"|ter (?:info\w*|kennisgeving)"
    r"|t\.?k\.?n|doorgestuurd|stuur ik (?:je|jullie|u) (?:door|deze)|do wiadomości|przesyłam|przekazuję"
    r"|dla informacji|na vědomí|pro info\w*"
    r"|přeposílám|til (?:orientering|info\w*)|videresend\w*|för (?:kännedom|info\w*)|vidarebefordra\w*|tiedoksi"
    r"|välitän|tájékoztat\w*"
    r"|továbbít\w*|bilginize|bilgi(?:n|niz) için|iletiyorum|pentru info\w*|spre știință|để biết|chuyển tiếp"
    r"|untuk (?:info|diketahui)"
    r"|meneruskan)|к сведению|для (?:сведения|информации)|пересылаю|до відома|пересилаю|за сведение|προς ενημέρωση"
    r"|προωθώ"
    r"|לידיעתך|לידיעתכם|לעיונך|מעביר|للعلم|للاطلاع|للإحاطة|أحيل|جهت اطلاع|เพื่อทราบ|ส่งต่อ|转发|轉寄|供参考|供參考|仅供"
    r"|ご参考|転送|情報共有|ご確認ください|참고하|전달드|공유드",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"\b(?:as (?:discussed|requested|promised|mentioned)|see (?:the )?(?:mail|e-mail|email|message|thread|below"
    r"|attached)|thoughts\b"
    r"|any (?:thoughts|ideas?|comments)|what do you (?:think|make|say)|(?:can|could|would|will) (?:you|someone"
    r"|anyone)|have a look"
    r"|take a look|please|looping|adding|cc'?ing|over to you|yours\?|received this|got this|just came in|came in"
    r"|this is (?:what|the)"
    r"|interesting|worth|bitte|kannst du|könn(?:en sie|t ihr)|was (?:meinst|denkst|haltet|meint)|schau\w*|siehe"
    r"|kam (?:gerade|eben|heute)"
    r"|wie besprochen|qu'en (?:penses|pensez)|peux-tu|pouvez-vous|voir|merci de|qué (?:opinas|te parece|opináis)"
    r"|puedes|podrías|por favor"
    r"|che ne (?:pensi|pensate|dici)|puoi|potresti|per favore|segue|o que acha\w*|podes?|poderia|zie |wat (?:denk"
    r"|vind)|kun je|kunt u|graag"
    r"|co (?:o tym )?(?:sądzisz|myślisz)|prosz[ęe]|posílám|prosím|se (?:nedenfor|under|herunder)|kan du|voitko"
    r"|kérlek|kérem|lütfen|te rog|vă rog)"
    r"|посмотри\w*|пожалуйста|что (?:думаешь|скажешь|скажете)|παρακαλώ|מצורף|להלן|בבקשה|من فضلك|يرجى|لطفا|请|請|如下"
    r"|お願い|以下|下記|확인 부탁|아래",
    re.IGNORECASE,
)
"""Said of a message that is passed on, and asked about one. Only a short text that does so is taken to introduce it."""
_INTRODUCTION_CHARS_MAX: Final = 300

_EVIDENCE: Final = re.compile(
    r"\b(?:(?:wrote|written|sent|e-?mailed|texted|messaged|told|answered|replied)(?: to)? (?:me|us)\b"
    r"|(?:see|look|read|here(?:'s| is| are)|this is|that is|that's)(?: at)? (?:what|how|the (?:e-?mail|message"
    r"|exchange"
    r"|chat|log|conversation|thread|mail|reply|answer|output|session))|(?:chat|conversation|exchange|transcript"
    r"|log)\b"
    r"|i (?:got|received|copy|copied|paste|pasted)|(?:copied|pasted) (?:from|here|below)|(?:hat|haben) (?:mir|uns)"
    r"|(?:schrieb|schreibt|schickte|antwortete) (?:mir|uns|er|sie)|(?:mir|uns) (?:geschrieben|geschickt|geantwortet)"
    r"|hier (?:ist|sind|der|die|das)|folgende\w*|verlauf|(?:m'a|nous a|m'ont|nous ont) (?:écrit|envoyé|répondu)"
    r"|voici|voilà|ce qu'(?:il|elle|ils|on)|(?:me|nos) (?:escrib\w+|envi\w+|respond\w+|contest\w+|ha\w* escrito"
    r"|mand\w+|escrev\w+)|aquí (?:está|tienes|va|tiene)|mirad?\b|(?:mi|ci) (?:ha\w*|scrive|scrisse) "
    r"|ecco|guarda|veja|eis\b|aqui (?:está|vai)|(?:mij|me|ons) (?:schreef|geschreven|gestuurd|geantwoord)|hier is"
    r"|kijk|(?:mi|nam) (?:napisa\w+|przysła\w+|odpisa\w+)|(?:napisa\w+|przysła\w+) (?:mi|do mnie|nam)|oto\b"
    r"|zobacz|(?:napsal\w?|poslal\w?) (?:mi|nám)|podívej|skrev (?:til )?(?:meg|mig|oss|os|till mig)|her er|här är"
    r"|kirjoitti minulle|tässä on|írta nekem|itt van|bana (?:yazd\w*|gönder\w*)|mi-a (?:scris|trimis))"
    r"|мне (?:на)?писал|мне прислал|(?:на)?писала? мне|прислала? мне|ответила? мне|вот что|смотри|посмотри"
    r"|мені (?:написа|надісла)|написа(?:в|ла) мені|ось що|μου έγραψε|ορίστε|כתב לי|כתבה לי|שלח לי|שלחה לי|הנה"
    r"|كتب لي|كتبت لي|أرسل لي|أرسلت لي"
    r"|إليك|انظر"
    r"|برایم نوشت|viết cho tôi|gửi cho tôi|menulis kepada saya|เขียนถึง|他写给我|给我写|给我发|发给我|聊天记录"
    r"|原文如下|から来た|が送って|届きまし|受け取り|もらったメール|보내온|보낸 메일|받은 메일",
    re.IGNORECASE,
)
"""Said of what somebody else wrote, right above it."""
_EVIDENCE_CHARS: Final = 200
_DISCLAIMER: Final = re.compile(
    r"confidential|privileged|disclaimer|intended (?:solely |only )?(?:for|recipient)|unsubscribe|mailing list|virus"
    r"|before printing|registered (?:in|office|number)|vertraulich|handelsregister|amtsgericht|geschäftsführer"
    r"|vor dem ausdrucken|confidentiel|avant d'imprimer|se désabonner|confidencial|antes de imprimir|riservat"
    r"|prima di stampare|vertrouwelijk|poufn|důvěrn|конфиденциальн|конфіденційн|fortrolig|konfidentiell|luottamuksel"
    r"|bizalmas|gizli|εμπιστευτικ|חסוי|سري|机密|保密|機密|기밀",
    re.IGNORECASE,
)

_REFERS: Final = re.compile(
    r"\b(?:see|find|read|check|answered|answers?|comments?|replies|reply|responses?|respond(?:ed)?|replied|notes?"
    r"|remarks?|mine|thread"
    r"|mail|e-mail|email|message|request|quoted|copied|pasted|forwarded)\b[^.!?\n]{0,50}\b(?:below|underneath"
    r"|beneath|further down)\b"
    r"|\b(?:below|underneath)\b[^.!?\n]{0,20}\b(?:is|are|the|my|you'll|you will)\b"
    r"|\bsiehe (?:unten|weiter unten|mail|nachricht|e-mail)|\bs\. ?u\.|\b(?:unten|weiter unten|unterhalb)\b"
    r"|\bnachstehend|\buntenstehend"
    r"|\bci-?(?:dessous|après)|\bplus bas|\bmás abajo|\babajo\b|\ba continuación|\bsotto\b|\bdi seguito|\bqui sotto"
    r"|\babaixo\b"
    r"|\bhieronder|\bonderstaand|\bzie onder|\bponiżej|\bniżej\b|\bníže\b|\bnižšie|\bниже\b|\bнижче|\bпо-долу"
    r"|\bnedenfor|\bherunder"
    r"|\bnedan\b|\balla oleva|\balempana|\blentebb|\balább|\başağıda|\bmai jos|\bπαρακάτω|למטה|להלן|أدناه|در زیر"
    r"|bên dưới"
    r"|dưới đây|di bawah|ด้านล่าง|以下|下記|下面|下方|如下|아래",
    re.IGNORECASE,
)
_ANSWERED_INSIDE: Final = re.compile(
    r"\bin-?line\b|\binterspersed|\binterleaved|\bin (?:red|blue|green|bold|colou?r|purple|orange|caps)\b"
    r"|\bbetween the lines"
    r"|\b(?:in|within|under) (?:the|your) (?:text|mail|e-mail|email|message|questions?)\b"
    r"|\b(?:answers?|comments?|replies|responses?|notes?|remarks?)\b[^.!?\n]{0,40}\b(?:below|underneath|beneath)\b"
    r"|\b(?:answered|replied|commented|responded)\b[^.!?\n]{0,40}\b(?:below|underneath|beneath)\b|\bsee my \w+ below"
    r"|\bim (?:text|mailtext|folgenden text)\b|\bin (?:rot|blau|grün|fett|farbe)\b|\bin deine[rn]? (?:mail|nachricht"
    r"|text)"
    r"|\bzwischen den zeilen|\b(?:antworten|anmerkungen|kommentare)\b[^.!?\n]{0,40}\b(?:unten|direkt|darunter"
    r"|jeweils)\b|\binline"
    r"|\b(?:in |im )?(?:roter|blauer|grüner) (?:schrift|farbe)|\bdans le (?:texte|corps|mail|message)|\ben (?:rouge"
    r"|bleu|vert|gras)\b"
    r"|\b(?:réponses?|commentaires?)\b[^.!?\n]{0,40}\b(?:dessous|ci-)|\ben (?:rojo|azul|verde|negrita)\b"
    r"|\bentre líneas|\ben el texto"
    r"|\b(?:respuestas?|comentarios?)\b[^.!?\n]{0,40}\babajo|\bin (?:rosso|blu|verde|grassetto)\b|\bnel testo"
    r"|\b(?:risposte|commenti)\b[^.!?\n]{0,40}\b(?:sotto|seguito)|\bem (?:vermelho|azul|verde|negrito)\b"
    r"|\bno (?:texto|corpo)\b"
    r"|\b(?:respostas?|comentários?)\b[^.!?\n]{0,40}\babaixo|\bin (?:rood|blauw|groen|vet)\b|\bin de (?:tekst|mail)\b"
    r"|\btussen de regels|\b(?:antwoorden|opmerkingen)\b[^.!?\n]{0,40}\bhieronder|\bw (?:treści|tekście)\b"
    r"|\bna (?:czerwono|niebiesko)\b"
    r"|\bv textu\b|\bčerveně\b|\bв тексте\b|\bпо тексту\b|\bкрасным\b|\bсиним\b|\bчервоним\b|\bу тексті\b"
    r"|\bi teksten\b|\bi texten\b"
    r"|\b(?:med|i) (?:rødt|rött|blått)\b|\btekstin seass|\bpunaisella\b|\bpirossal\b|\bkırmızı\b|\bîn text\b"
    r"|\bcu roșu\b|\bμε κόκκινο"
    r"|בגוף|באדום|باللون الأحمر|ضمن النص|màu đỏ|インライン|赤字|文中|行内|红字|紅字|标红|빨간색|본문 중",
    re.IGNORECASE,
)


def is_marker(text: str) -> bool:
    """Whether a line has the form of those that stand in place of a folded block."""
    return text.startswith("[quoted: ") and bool(_MARKER.fullmatch(text))


def is_greeting(text: str) -> bool:
    """Whether a line only greets."""
    return len(text) <= 80 and bool(_GREETING.fullmatch(text))


def is_footer(text: str) -> bool:
    """Whether a line is what a program adds below every message: `Sent from my iPhone`."""
    return len(text) <= 120 and bool(_MOBILE.match(text))


def is_closing(text: str) -> bool:
    """Whether a line ends a letter."""
    return len(text) <= 60 and bool(_CLOSING.fullmatch(text))


def ends_letter(lines: Sequence[Line]) -> bool:
    """Whether a stretch of own text ends as a letter does: with a closing or signature and at most three lines."""
    said = [line.said for line in lines if line.said][-4:]
    return any(is_closing(text) or is_footer(text) or _SIGNATURE.fullmatch(text) for text in said)


def substance(stretches: Iterable[Sequence[Line]]) -> str:
    """What own text says beside its greeting, closing, signature and footers."""
    kept: list[str] = []
    for stretch in stretches:
        kept.extend(_said_in(stretch))
    return " ".join(kept)


def _said_in(stretch: Sequence[Line]) -> list[str]:
    kept: list[str] = []
    for line in stretch:
        text = line.said
        if not text or is_footer(text):
            continue
        # RFC 3676, 4.3: what follows `-- ` is the signature; and a list's footer follows its rule.
        if _SIGNATURE.fullmatch(text) or _FOOTER.fullmatch(text):
            break
        kept.append(text)
    for number in range(max(len(kept) - 4, 0), len(kept)):
        # Thanks alone are an answer; below one they close it.
        closes = is_closing(kept[number]) and (number > 0 or not _THANKS.match(kept[number]))
        if closes and all(_is_name_line(text) for text in kept[number + 1 :]):
            del kept[number:]
            break
    while kept and (is_greeting(kept[0]) or _SPOKEN_TO.fullmatch(kept[0])):
        del kept[0]
    return kept


def _is_name_line(text: str) -> bool:
    """Whether a line can stand below a closing: short, and no sentence."""
    return len(text) <= 60 and len(text.split()) <= 5 and not text.endswith((".", "!", "?", "。", "？", "！"))


def introduces(text: str, *, asking: bool) -> bool:
    """Whether own text only passes on what follows, or says nothing at all; with `asking`, also whether it asks its
    reader for something, as who forwards a message does."""
    if not any(char.isalnum() for char in text):
        return True
    if len(text) > _INTRODUCTION_CHARS_MAX:
        return False
    return bool(_PASSES_ON.search(text) or (asking and _ASKS.search(text)))


def shows_evidence(text: str) -> bool:
    """Whether the end of a text is about what somebody else wrote, which follows it."""
    return bool(_EVIDENCE.search(text[-_EVIDENCE_CHARS:]))


def is_disclaimer(text: str) -> bool:
    """Whether a line is of the kind that companies add to every message."""
    return bool(_DISCLAIMER.search(text))


def says_more(lines: Sequence[Line]) -> bool:
    """Whether own text below a quotation is more than a name, or what a company adds to every message."""
    said = _said_in(lines)
    if all(_is_name_line(text) for text in said):
        return any(len(text.split()) > 2 for text in said)
    return not any(_DISCLAIMER.search(text) for text in said)


def refers_below(text: str) -> bool:
    """Whether own text sends its reader to what stands below it."""
    return bool(_REFERS.search(text)) or answers_inside(text)


def answers_inside(text: str) -> bool:
    """Whether own text says that its answers stand within the quotation."""
    return bool(_ANSWERED_INSIDE.search(text))


def ends_with_colon(lines: Sequence[Line]) -> bool:
    """Whether the last line of own text leads over to what follows, as `She wrote to me:` does."""
    last = next((line.said for line in reversed(lines) if line.said), "")
    return last.endswith((":", "：")) and not is_greeting(last)
