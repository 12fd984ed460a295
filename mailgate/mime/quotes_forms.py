"""The forms of lines that are written into an older message: marks before them, labels, words of assent.

They are tables, read by `quotes_answers`, and wide: what they match is only shown.
"""

from __future__ import annotations

import re
from typing import Final

from mailgate.mime.quotes_words import listed

QUOTE_MARKS: Final = re.compile(r" ?>(?: ?>)*+ ?")
LINK: Final = re.compile(
    r"!\[[^\[\]]{0,300}\](?!\()|!?\[([^\[\]]{0,300})\]\([^()\s]{0,600}\)|<?\b(?:https?|mailto|cid|file"
    r"|tel):[^\s<>]*>?"
)
ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")

ODD: Final = re.compile(
    r"(?:>+|={1,}|/{2,}|\*{2,}|#{2,}|-{1,4}>|[→⇒»➡➜➔➤✅👉✍💬🟢🔴🔵↳└⮕✎✏]|<[-=]+|<{2,}|~+|\+{2,}|%+"
    r"|@{2,}|\|+"
    r"|\\+|\^+|§+|!{2,}|:{2,}|&{2,}|\$\$+|\.+(?=\s?[^\W\d])|\+(?=\s)|[\"“”„»«']{2,}|_{2,}(?=\w)|-{2,}(?=\s?\w)"
    r"|«{2,}|\?{2,})\s{0,4}[^\s]"
)
ARROW: Final = re.compile(
    r"\w.{0,200}?(?:(?<![-<!])-{1,4}>|={1,4}>|[→⇒➡➜➔➤]|>{2,}|<-{2,4}|<={1,4}|<{2,}(?!\w*>)|\*{3,}|={3,}"
    r"|#{2,}(?!\w*\d)"
    r"|\s//\s|\s=\s|\.{4,}|_{3,}(?=\s?\w)|\s/{2,}\w|\s~{2,})(?:\s|\w|$)"
)
BRACKETED: Final = re.compile(
    r"(?:\[(?!x?\s?\]|\d+\]|quoted|image|cid|bild|inline|logo|external|extern|http|mailto|caution|warning"
    r"|https)[^\[\]]{1,200}\]"
    r"|\[\[|\(\(|\{|<[A-ZÀ-Þ][\w .]{0,20}>)",
    re.IGNORECASE,
)
INNER_BRACKETS: Final = re.compile(r"\w.{0,200}?(?:\[[A-ZÀ-Þ]\w{0,20}(?: \w{1,20})?\s?[:\]-](?!\()|\[\[|\{\w)")
LABEL: Final = re.compile(
    r"(?:[-*•·–+]\s+)?[\[(【（「]?([^\W\d_][\w .'’-]{0,24}?)[\])】）」]?\s?(?:[:：>]|-{1,2}(?=\s)|–|—|\))\s*(\S?)"
)
ENCLOSED: Final = re.compile(r"[\[(【（「〔]\s?([^\W\d_][\w .'’-]{0,24}?)\s?[\])】）」〕]\s*\S")
NUMBERED_ANSWER: Final = re.compile(r"(?:a|ans|antw?|r|rép|odp|ответ|答|답|回答)\s?\d{1,2}\s?[.:)：]", re.IGNORECASE)
ASKED_AND_SAID: Final = re.compile(r".{3,200}[?？؟]['\")]*\s{1,3}[^\s?？؟][^?？؟]{0,60}")
LEAD: Final = re.compile(
    r"(?:[-*•·–+]\s+)?([^\W\d_][\w.'’]{0,13}(?: [^\W\d_][\w.'’]{0,13})?\s?[:：>)\]}=#*~|]"
    r"|[^\w\s\"'«„“(¿¡*•·–—+!►▶➢✔✓☑◆◇■□▪◼●○★☆※-]{1,4}\s?)\s*\S"
)
INITIALS: Final = re.compile(r"[\[(/]?([A-Z]{2,3})(?![\w.])")
SPOKEN_TO: Final = re.compile(r"@\s?(\w{2,30})")
ITEM: Final = re.compile(r"(?:\d{1,2}|[a-h])\s?[.):]\s")
POSTSCRIPT: Final = re.compile(r"p\.?\s?s\b", re.IGNORECASE)
PROMOTES: Final = re.compile(
    r"follow us|visit us|join us|find us|book (?:a|your)|we(?:'re| are) hiring|webinar|newsletter|privacy|gdpr|vat\b"
    r"|scanned|working (?:hours|days?)|office hours|environment|folgen sie|besuchen sie|datenschutz|umwelt|suivez"
    r"|environnement|síguenos|visítenos|medio ambiente|seguici|ambiente|volg ons|milieu",
    re.IGNORECASE,
)
"""What stands in signatures as a sentence."""
SET_OFF: Final = frozenset("►▶➢✔✓☑◆◇■□▪◼●○★☆※")
"""Bullets that stand as well before headings; below a question they mark an answer."""
CONTACT: Final = re.compile(r"https?:|www\.|\w@\w|\+?\d[\d /().-]{6,}\d|\|")
ANSWER_LABELS: Final = frozenset(
    listed(
        "a|an|ans|answer|answers|re|reply|response|resp|comment|comments|my answer|my reply|my comment|our answer"
        "|our reply|note|remark|antwort|antw|kommentar|anm|anmerkung|meine antwort|r|rép|rep|réponse|ma réponse"
        "|commentaire|respuesta|resp|mi respuesta|comentario|risposta|la mia risposta|commento|resposta|comentário"
        "|antwoord|mijn antwoord|opmerking|odp|odpowiedź|moja odpowiedź|komentarz|uwaga|odpověď|komentář|ответ|отв|о"
        "|мой ответ|комментарий|відповідь|вiдп|отговор|svar|mit svar|vastaus|vast|kommentti|válasz|v|megjegyzés|cevap"
        "|yanıt|c|y|răspuns|απάντηση|α|תשובה|ת|تعليق|جواب|إجابة|الجواب|ج|رد|الرد|پاسخ|jawaban|jawab|j|trả lời|tl|ตอบ"
        "|คำตอบ|答|回答|回复|回覆|答复|我的回复|返信|답변|답|ⓐ|me|i|ich|moi|yo|io|eu|ik|ja|я|我|私|나|i say|当方"
        "|update|edit|added|done|erledigt|fait|hecho|fatto"
    )
)
SAID_YES: Final = (
    r"yes|yep|yeah|yup|nope|okay|jawohl|nein|oui|sí|sì|sim|não|да|нет|конечно|ні|はい|いいえ|了解|네|아니요|예|כן|לא|نعم"
    r"|بله|خیر|evet|hayır|igen|nem|kyllä|ναι|όχι|ใช่|ไม่|是的|好的|可以|不是|không"
)
"""Words that hardly begin anything but an answer."""
SAID_MAYBE: Final = (
    r"no|sure|ok|agreed?|correct|right|exactly|indeed|done|fine|not yet|of course|ja|klar|genau|stimmt|richtig"
    r"|einverstanden|passt|gerne|natürlich|erledigt|noch nicht|non|bien sûr|d'accord|exact|pas encore|si|claro"
    r"|de acuerdo|todavía no|certo|esatto|non ancora|concordo|ainda não|nee|akkoord|klopt|prima|nog niet|tak"
    r"|nie|zgoda"
    r"|oczywiście|jeszcze nie|ano|ne|souhlasím|согласен|согласна|верно|готово|пока нет|так|звичайно|не|jo|nej|nei"
    r"|selvfølgelig|enig|självklart|ei|tabii|da|nu|لا|có|ya|tidak|是|对|没有|不"
)
"""Words that begin an answer where a mark follows."""
_STOP: Final = r"[,.!;:،、，。–—-]"
YES: Final = re.compile(rf"(?:{SAID_YES})(?!\w)(?:\s?{_STOP}|\s|$)|(?:{SAID_MAYBE})(?!\w)(?:\s?{_STOP}|$)", re.I)
YES_ALONE: Final = re.compile(rf"(?:{SAID_YES}|{SAID_MAYBE})\s?[,.!;。]?", re.IGNORECASE)
QUESTION_YES: Final = re.compile(
    rf"[?？؟;]\s{{1,3}}(?:{SAID_YES}|{SAID_MAYBE})(?!\w)(?=\s?[,.!;:،、，。]|\s?$)", re.IGNORECASE
)
QUESTION: Final = re.compile(r"[?？؟;]['\"»”)*_\s]*$")
BULLET: Final = re.compile(r"(?:[-*•·–—+]|\\[-*+])\s+\S|[-•·–—](?=\w)")
LISTED: Final = re.compile(rf"{BULLET.pattern}|(?:\d{{1,3}}|[a-z])[.):]\s")
SPOKEN: Final = re.compile(r"([\"'“”„«»‘‚「]).{2,}[\"'“”»«’」][.,]?")
"""A line that is all in quotation marks."""
EMPHASIS_BEGINS: Final = re.compile(r"(?:\*{1,3}|_{1,2})(?=[^\s*_])")
EMPHASISED: Final = re.compile(r"(\*{1,3}_?|_{1,2}\*{0,2})(?=\S)(.{2,}?)(?:_?\*{1,3}|\*{0,2}_{1,2})[.:,]?")
TAIL_EMPHASISED: Final = re.compile(
    r".{0,250}\w.{0,3}?[?.!:;？؟。]['\")]*\s{1,3}(?:\*{2,3}|_|\*)(?=\S)[^*_]{2,}(?:\*{1,3}|_)[.]?"
)
SENTENCE_END: Final = re.compile(r"[.!。！]['\")*_]*$")
INDENTED: Final = re.compile(r"(?: {2,}|\t)\s*[^\W_]")
CAUTION: Final = re.compile(
    r"caution|warning|external|vorsicht|achtung|attention|extern|prudence|cuidado|alert|confidential", re.I
)
ONLY_RULE: Final = re.compile(r"[\W_]*")
TABLE: Final = re.compile(r"\|.*\|$")
WORD: Final = re.compile(r"[^\W\d_]{2,}")
