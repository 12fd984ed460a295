"""Own text that says its answers stand within the quotation: wide lists, for they only keep text from being folded."""

from __future__ import annotations

import re
from typing import Final

_SHORT_MAX: Final = 400
"""Characters of a text that says hardly more than where the answers are."""
_BARE_MAX: Final = 40
"""Characters of a text that can hardly say who else has not answered.
"""

_COLOURS: Final = (
    r"\b(?:red|blue|green|yellow|purple|violet|orange|pink|brown|magenta|cyan|turquoise|colou?r(?:ed|s)?|rote?[nrms]?"
    r"|blaue?[nrms]?|grüne?[nrms]?|gelbe?[nrms]?|lila|farb\w*|rouges?|bleue?s?|verte?s?|jaunes?|couleurs?|rojo|azul"
    r"|verde|amarillo|morado|naranja|color|rosso|blu|giallo|viola|arancione|colore|vermelho|amarelo|roxo|laranja|cor"
    r"|rood|blauw|groen|geel|paars|oranje|kleur|czerwon\w+|niebiesk\w+|zielon\w+|żółt\w+|kolor\w*|červen\w+|modř\w+"
    r"|zelen\w+|žlut\w+|barv\w+|farbou|красн\w+|син(?:им|ий|ем)|зел[её]н\w+|ж[её]лт\w+|цвет\w*|червон\w+|кольор\w*"
    r"|rød\w*|blå\w*|grønn?\w*|gul\w*|farve\w*|farge\w*|röd\w*|rött|grön\w*|färg\w*|punais\w+|sinis\w+|vihreä\w*"
    r"|keltais\w+|väri\w*|piros\w*|kék\w*|zöld\w*|sárg\w*|szín\w*|kırmızı\w*|mavi\w*|yeşil\w*|sarı\w*|renk\w*|roșu"
    r"|albastru|galben|κόκκιν\w*|μπλε|πράσιν\w*|κίτριν\w*|χρώμα\w*|merah|biru|hijau|kuning|đỏ|xanh|vàng)\b"
    r"|אדום|כחול|ירוק|צהוב|צבע|أحمر|الأحمر|أزرق|الأزرق|أخضر|الأخضر|أصفر|الأصفر|لون|اللون|قرمز|سبز|สีแดง|สีน้ำเงิน"
    r"|สีเขียว|红色|红字|紅色|蓝色|藍色|绿色|綠色|黄色|标红|赤字|赤色|赤い|青字|青色|緑色|色で|色文字|빨간|파란|초록|노란"
)
_STYLES: Final = (
    r"\b(?:highlight\w*|marked|mark(?:ed)?[- ]?up|annotated|filled in|completed|ausgefüllt\w*|ergänzt|rempli\w*"
    r"|complét\w*"
    r"|rellen\w*|complet\w*|compilat\w*|preench\w*|ingevuld\w*|wypełni\w*|uzupełni\w*|vyplni\w*|doplni\w*"
    r"|udfyldt|utfylt|ifyllt|täyt\w*|kitölt\w*|doldur\w*|completat|bold(?:ed)?|italics?|italicised"
    r"|italicized|underlined?|caps|capitals|fett\w*|kursiv\w*"
    r"|markiert\w*|hervorgehoben\w*|unterstrichen\w*|surlign\w*|gras|italique\w*|surlignage|souligné\w*|negrit[ao]"
    r"|cursiva|resaltad\w*|subrayad\w*|grassetto|corsivo|evidenziat\w*|sottolineat\w*|destacad\w*|itálico|realce"
    r"|vetgedrukt|cursief|gemarkeerd|gearceerd|pogrubi\w*|kursyw\w*|zaznacz\w*|podkreśl\w*|tučn\w*|kurzív\w*"
    r"|zvýrazn\w*|заполни\w*|заповни\w*|дополни\w*|жирн\w+|курсив\w*|выдел\w+|виділ\w+|fremhæv\w*|fet skrift"
    r"|uthev\w*|fetstil\w*|markera\w*"
    r"|lihavoi\w*|kursivoi\w*|korostet\w*|félkövér\w*|dőlt|kiemel\w*|kalın|italik|vurgula\w*|îngroșat|evidențiat"
    r"|έντον\w*|πλάγι\w*|tebal|miring|in đậm|tô)\b|מודגש|הדגש|بخط عريض|مميز|加粗|粗体|粗體"
    r"|斜体|填写|填好|已填|标注|標註|記入|追記"
    r"|入力しました|太字|斜体"
    r"|下線|ハイライト|マーカー|작성|기입|굵게|굵은|표시"
)
_PLACES: Final = (
    r"\b(?:in-?line|below|underneath|beneath|in between|in the (?:body|text|e?-?mail|message|thread)"
    r"|(?:within|inside) (?:the|your)"
    r"|next to|after each|under each|against each|beside|alongside|point by point|unten|darunter|dazwischen"
    r"|im text|im mailtext|hinter(?:einander)?|dahinter|daneben|jeweils|zu den (?:einzelnen )?(?:fragen"
    r"|punkten)|à la suite|au fil|en dessous|ci-dessous|ci-après|dans le (?:texte|corps|mail|message)|après chaque"
    r"|sous chaque|en face|abajo|debajo|a continuación|entre líneas|en el (?:texto|cuerpo|correo|mismo)|intercalad\w+"
    r"|sotto|di seguito|nel (?:testo|corpo)|accanto|abaixo|a seguir|no (?:texto|corpo|próprio)|ao lado|hieronder"
    r"|in de (?:tekst|mail)|tussen|erachter|eronder|poniżej|w (?:treści|tekście|mailu)|pod (?:pytaniami|spodem)|obok"
    r"|níže|v textu|v mailu|pod otázkami|ниже|в тексте|внутри|под вопросами|нижче|у тексті|nedenfor|herunder"
    r"|i teksten"
    r"|inni|nedan|i texten|alla|tekstin seassa|väliin|alább|lent|közé|a szövegben|aşağıda|metinde|satır ara\w*"
    r"|mai jos|în text|παρακάτω|στο κείμενο|di bawah|dalam (?:teks|email)|bên dưới|dưới đây)\b|למטה|להלן|בגוף"
    r"|בין השורות"
    r"|أدناه|ضمن|داخل|بين السطور|در متن|زیر|ด้านล่าง|ในอีเมล|在下面|下面|下方|文中|正文|行内|原文|邮件中|以下|下記|文中"
    r"|本文|行間|아래|본문|사이"
)
_ANSWERS: Final = (
    r"\b(?:answer\w*|repl(?:y|ies|ied)|respon[ds]\w*|comment\w*|remarks?|feedback|annotat\w*|notes?|input|thoughts"
    r"|additions|mine|(?:ge|be)?antwoo?r[td]\w*|beantwort\w*|kommentar\w*|kommentier\w*|anmerkung\w*|ergänz\w*"
    r"|rückmeldung\w*"
    r"|réponses?|répond\w*|commentaires?|commenté\w*|remarques?|annot\w*|respuestas?|respond\w*|contest\w*"
    r"|comentari\w*|coment\w*|observaciones|rispost\w*|rispond\w*|commenti|osservazioni|annotazioni|respostas?"
    r"|comentári\w*|observações|antwoord\w*|beantwoord\w*|opmerking\w*|reactie\w*|odpowied\w*|odpowiada\w*"
    r"|komentarz\w*"
    r"|uwagi|odpověd\w*|odpovíd\w*|odpoved\w*|komentář\w*|poznámk\w*|ответ\w*|отвеч\w*|комментари\w*|замечани\w*"
    r"|відповід\w*|коментар\w*|отговор\w*|svar\w*|besvar\w*|kommentar\w*|bemærkning\w*|vastau\w*|vastas\w*"
    r"|komment\w*|huomaut\w*|válasz\w*|megjegyzés\w*|cevap\w*|yanıt\w*|yorum\w*|răspuns\w*|comentarii|απαντ\w*"
    r"|απάντ\w*|σχόλι\w*|jawaban|komentar|balasan|trả lời|câu trả lời|nhận xét|bình luận)\b|תשוב|עני|הערות|תגוב"
    r"|إجاب|أجب|ردود|ردي|تعليق|ملاحظ|پاسخ|جواب|คำตอบ|ตอบ|ความเห็น|回答|回复|回覆|答复|答覆|批注|评论|意见|答え|返答"
    r"|返信|回答|コメント|답변|답장|댓글|의견|코멘트"
)
_MINE: Final = (
    r"\b(?:my|our|mine|(?:i|we)(?:'ve| have|(?= (?:answered|replied|commented|responded|added|put|wrote)))"
    r"|meine?|unsere?|ich habe?|habe?|wir|mes|nos|j'ai|mis|nuestr\w+"
    r"|he|mie|nostr\w+|ho|minhas?|meus|mijn|onze|moje|naše|nasze|mé|мои|наши|мої|mine|mina|mitt|omat|saját|min"
    r"|mele)\b|私の?|当方|我的?|我们|제|내|저의|שלי|שלנו"
)
_COLOUR: Final = re.compile(_COLOURS, re.IGNORECASE)
_STYLE: Final = re.compile(_STYLES, re.IGNORECASE)
_PLACE: Final = re.compile(_PLACES, re.IGNORECASE)
_ANSWER: Final = re.compile(_ANSWERS, re.IGNORECASE)
_MY_ANSWER: Final = re.compile(rf"(?:{_MINE})[^.!?\n]{{0,30}}(?:{_ANSWERS})", re.IGNORECASE)
_THANKED: Final = re.compile(
    r"(?:for|für|pour|por|per|voor|za|за|for|för|από|untuk|to|on|auf|zu|à|de|di|van|w|o|po|till|til) (?:the|your|you"
    r"|his|her|its|deine?|ihre?|eure?|den|die|das|la|le|votre|ta|tu|su|el|il|tua|sua|a|de|je|uw|twoj\w+|tvoj\w+"
    r"|ваш\w*|din|dit|ditt)?\s?(?:\w+ )?$",
    re.IGNORECASE,
)
_SEE_ANSWERS: Final = re.compile(
    rf"\b(?:find|see|read|check|look at|here (?:are|is)|with|anbei|siehe|schau\w*|hier|voici|voir|trouve\w*|ver"
    rf"|aquí|ecco"
    rf"|vedi|zie|hierbij|patrz|oto|viz|zde|вот|см|смотри\w*|se|her|här|katso|tässä|íme|lásd|işte)\b[^.!?\n]{{0,25}}"
    rf"(?:{_ANSWERS})",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[.!?。！？\n]+")
_END_CHARS: Final = 4000


def announces(text: str) -> bool:
    """Whether a sentence of own text speaks of answers together with a place, a colour or a kind of letters."""
    return any(_announces(sentence) for sentence in _sentences(text))


def may_announce(text: str) -> bool:
    """The same of a short text above a quotation without marks, where any one of these words is doubt enough."""
    if len(text) > _SHORT_MAX:
        return False
    if _COLOUR.search(text) or _STYLE.search(text) or _MY_ANSWER.search(text) or _SEE_ANSWERS.search(text):
        return True
    answer = _ANSWER.search(text)
    # Who thanks for an answer has not given one.
    return answer is not None and not _THANKED.search(text[: answer.start()]) and len(text) <= _BARE_MAX


def _sentences(text: str) -> list[str]:
    """Those at either end, where a writer speaks of the letter itself."""
    ends = text if len(text) <= 2 * _END_CHARS else f"{text[:_END_CHARS]}\n{text[-_END_CHARS:]}"
    return [part for part in _SENTENCE.split(ends) if len(part) <= _SHORT_MAX]


def _announces(sentence: str) -> bool:
    answer = _ANSWER.search(sentence)
    if answer is None or _THANKED.search(sentence[: answer.start()]):
        return False
    return bool(_PLACE.search(sentence) or _COLOUR.search(sentence) or _STYLE.search(sentence))


def speaks_of_answers(text: str) -> bool:
    """Whether a short text has a word for an answer."""
    return bool(_ANSWER.search(text))
