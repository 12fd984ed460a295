"""Quotations: what introduces them, what stands over them, whose they are, and every doubt that leaves them be."""

from __future__ import annotations

import pytest

from mailgate.mime.html_text import html_to_text
from mailgate.mime.model import TextFormat
from mailgate.mime.quotes import FoldedText, fold_quotes
from mailgate.mime.quotes_attribution import parse
from mailgate.mime.quotes_dates import ascii_digits, find_date
from mailgate.mime.quotes_lines import said

LINE = "On Mon, Mar 2, 2026 at 10:14 AM Anna Berg <anna@example.org> wrote:"
BLOCK = (
    "From: Anna Berg <anna@example.org>\nSent: Monday, March 2, 2026 10:14 AM\n"
    "To: Ben Adler <ben@example.com>\nSubject: Meeting"
)


def fold(text: str, *, subject: str | None = None, form: TextFormat = TextFormat.PLAIN) -> FoldedText:
    return fold_quotes(text, form, subject=subject)


# --- the result --------------------------------------------------------------------------------------------------


def test_the_block_becomes_one_line_in_its_place() -> None:
    folded = fold(f"Yes.\n\n{LINE}\n\n> Shall we meet?\n> Anna\n\n-- \nBen")
    assert folded.text == "Yes.\n\n[quoted: Anna Berg, 2026-03-02, 92 characters]\n\n-- \nBen"
    (block,) = folded.blocks
    assert (block.author, block.date, block.chars) == (
        "Anna Berg",
        "2026-03-02",
        len(LINE) + len("\n\n> Shall we meet?\n> Anna"),
    )
    assert not folded.interleaved


def test_the_answer_below_a_quotation_stays() -> None:
    assert fold(f"{LINE}\n> Shall we meet?\n\nYes.").text == "[quoted: Anna Berg, 2026-03-02, 84 characters]\n\nYes."


@pytest.mark.parametrize("own", ["Thanks!", "Danke.", "Merci\nBen", "Thank you.\nI will be there at ten."])
def test_thanks_are_an_answer(own: str) -> None:
    assert fold(f"{own}\n\n{LINE}\n> Shall we meet?").text.startswith(f"{own}\n\n[quoted: Anna Berg")


def test_two_quotations_without_text_between_are_two_blocks() -> None:
    other = LINE.replace("Anna Berg <anna", "Carla Cruz <carla")
    folded = fold(f"Both.\n\n{LINE}\n> One.\n\n{other}\n> Two.")
    assert [block.author for block in folded.blocks] == ["Anna Berg", "Carla Cruz"]


def test_a_text_without_quotations_is_the_same_text() -> None:
    for text in ("", "\n", "Hello.\r\n", "a > b", "x\n" * 50):
        assert fold(text) == FoldedText(text)


# --- introductions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrapped",
    [
        "On Mon, Mar 2, 2026 at 10:14 AM Anna Berg\n<anna@example.org> wrote:",
        "On Mon, Mar 2, 2026 at 10:14 AM Anna\nBerg <anna@example.org> wrote:",
        "On Mon, Mar 2, 2026 at 10:14 AM\nAnna Berg\n<anna@example.org>\nwrote:",
        "On Mon, 2 Mar 2026 10:14:00 +0100\nAnna Berg <anna@example.org> wrote:",
        "Anna Berg\n<anna@example.org> 于2026年3月2日周一 10:14写道：",
        "At 10:14 AM 2026-03-02 +0100, Anna Berg wrote:",
        "On Mon, Mar 02, 2026 at 10:14:00AM +0100, Anna Berg mentioned:",
        "On Mon, Mar 2, 2026 at 10:14\u202fAM Anna Berg <anna@example.org> wrote:",
    ],
)
def test_an_introduction_may_be_wrapped_or_in_another_order(wrapped: str) -> None:
    folded = fold(f"See you then.\n\n{wrapped}\n\n> Shall we meet?")
    assert folded.text.startswith("See you then.\n\n[quoted: Anna Berg, 2026-03-02, ")
    assert folded.text.endswith(" characters]")


def test_a_line_right_above_an_introduction_is_not_taken_for_part_of_it() -> None:
    for own in ("On holiday until Friday.", "On 3 March 2026 we are closed.", "Ben"):
        assert fold(f"Thank you.\n{own}\n{LINE}\n> Shall we meet?").text.startswith(
            f"Thank you.\n{own}\n[quoted: Anna Berg"
        )


@pytest.mark.parametrize(
    "line",
    [
        "On Monday, Anna wrote a poem:",
        "On Monday, Anna wrote:",
        "Goethe wrote:",
        "On 3 March 2026 the committee wrote:",
        "On 12 May 1936 Kafka wrote:",
        "As I told you, on 02.03.26 10:14, Anna Berg wrote:",
        "At our meeting on 2 March 2026 10:14, Anna Berg wrote:",
        "Call me at 10:14 or write to anna@example.org:",
        "On 3 March 2026 I got a letter from Anna Berg <anna@example.org> and she wrote:",
        "Anna Berg <anna@example.org> called on 2 March 2026 at 10:14 and said:",
        "To: Anna Berg <anna@example.org>, 2 March 2026 10:14:",
        "On 2 March 2026 at 10:14 we met Anna Berg and Carla Cruz and they wrote:",
        LINE.rstrip(":"),
        "x" * 400 + LINE,
    ],
)
def test_a_sentence_is_no_introduction(line: str) -> None:
    assert parse(said(line, TextFormat.PLAIN)) is None
    text = f"Dear all,\n\nlisten to this.\n\n{line}\n\n> The snow is deep.\n\nIsn't it?"
    assert fold(text).blocks == ()


def test_a_quotation_that_own_text_leads_over_to_is_own_text() -> None:
    for block in (
        f"{LINE}\n> The grant is approved.",
        BLOCK + "\n\nThe grant is approved.",
        "> The grant is approved.",
    ):
        text = f"I had an answer yesterday. She wrote to me:\n\n{block}"
        assert fold(text) == FoldedText(text)


# --- whose and of when -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2026-03-02", "2026-03-02"),
        ("2. März 2026", "2026-03-02"),
        ("Mar 2, 2026", "2026-03-02"),
        ("2 de marzo de 2026", "2026-03-02"),
        ("2026. márc. 2.", "2026-03-02"),
        ("2026年3月2日", "2026-03-02"),
        ("2026. 3. 2.", "2026-03-02"),
        ("٢ مارس ٢٠٢٦", "2026-03-02"),
        ("2 thg 3, 2026", "2026-03-02"),
        ("02.03.26", "2026-03-02"),
        ("03/02/2026", "03/02/2026"),
        ("03/03/2026", "2026-03-03"),
        ("13/02/2026", "2026-02-13"),
        ("02/13/2026", "2026-02-13"),
        ("31.13.2026", None),
        ("12 May 1936", None),
        ("2 lis 2026", None),
        ("tomorrow", None),
    ],
)
def test_a_date_is_read_where_it_can_be_read_in_one_way(text: str, date: str | None) -> None:
    found = find_date(ascii_digits(text))
    assert (found.text if found else None) == date


@pytest.mark.parametrize(
    ("written", "author"),
    [
        ("Anna Berg <anna@example.org>", "Anna Berg"),
        ('"Berg, Anna" <anna@example.org>', "Berg, Anna"),
        ("Otto von Berg <otto@example.org>", "Otto von Berg"),
        ("anna@example.org <anna@example.org>", "anna@example.org"),
        ("<anna@example.org>", "anna@example.org"),
        ("Anna [Chief] Berg <anna@example.org>", "Anna Chief Berg"),
        ("Anna (Sales) <anna@example.org>", "Anna"),
    ],
)
def test_the_writer_is_named_without_what_could_end_our_line(written: str, author: str) -> None:
    for over in (
        f"On 02.03.26 10:14, {written} wrote:\n> Shall we meet?",
        BLOCK.replace("Anna Berg <anna@example.org>", written) + "\n\nShall we meet?",
    ):
        (block,) = fold(f"Yes, I will come.\n\n{over}").blocks
        assert block.author == author
        assert block.line.count("[") == block.line.count("]") == 1


def test_a_name_without_end_is_cut() -> None:
    (block,) = fold(f"Yes.\n\nOn 02.03.26 10:14, {'Anna ' * 40}<anna@example.org> wrote:\n> Shall we meet?").blocks or (
        None,
    )
    assert block is None or len(block.author or "") <= 60


# --- what stands over unmarked messages --------------------------------------------------------------------------


def test_everything_below_a_header_block_is_the_older_message() -> None:
    folded = fold(f"No, nothing yet.\n\n{BLOCK}\n\nHas he answered?\n\n{BLOCK}\n\nStill older.")
    assert folded.text.startswith("No, nothing yet.\n\n[quoted: Anna Berg, 2026-03-02, ")
    assert len(folded.blocks) == 1


def test_below_a_header_block_over_marked_lines_the_answer_stays() -> None:
    folded = fold(f"Hello,\n\n-----Original Message-----\n{BLOCK}\n\n> Has he answered?\n\nNo, nothing yet.")
    assert folded.text.endswith("]\n\nNo, nothing yet.")
    assert len(folded.blocks) == 1


@pytest.mark.parametrize(
    "block",
    [
        "From: Human Resources\nTo: All staff\nDate: 2 March 2026\nSubject: Closed",
        "From: Berlin\nTo: Munich\nDate: 2 March 2026 10:14",
        "From: jane@example.net\nSubject: Hello\nDate: 2 March 2026 10:14",
        "Subject: Hello\nFrom: jane@example.net\nDate: 2 March 2026 10:14\nTo: Ben",
        "To: Ben\nFrom: Jane <jane@example.net>\nSent: 2 March 2026 10:14\nSubject: Hello",
        "From: Jane\nSent: yesterday\nTo: Ben\nSubject: Hello",
    ],
)
def test_a_form_or_a_memo_is_no_header_block(block: str) -> None:
    text = f"This came in through the form today, as every week.\n\n{block}\n\nAre you open on Sundays?"
    assert fold(text) == FoldedText(text)


@pytest.mark.parametrize(
    ("subject", "folds"),
    [
        ("RE: Meeting", True),
        ("AW: Re: Meeting", True),
        ("Meeting", False),
        ("[EXTERNAL] Re: Meeting", True),
        ("Re: [plans] Meeting", True),
        ("Re: FW: Meeting", True),
        ("FW: Meeting", False),
        ("[EXTERNAL] FW: RE: Meeting", False),
        ("WG: Meeting", False),
        ("转发：Meeting", False),
        ("[Ticket 17] Meeting", False),
        ("Bounces", False),
        ("", False),
        (None, True),
    ],
)
def test_the_subject_tells_an_answer_from_what_was_passed_on(subject: str | None, folds: bool) -> None:
    folded = fold(
        f"The price was confirmed and the contract is on its way.\n\n{BLOCK}\n\nHas he answered?", subject=subject
    )
    assert bool(folded.blocks) is folds


def test_an_unmarked_introduction_counts_only_in_an_answer() -> None:
    text = f"The price was confirmed.\n\n{LINE}\n\nHas he answered?"
    assert fold(text, subject="Re: Price").blocks
    assert fold(text).blocks
    assert not fold(text, subject="A letter from Anna").blocks


def test_text_between_an_introduction_and_marked_lines_may_be_an_answer() -> None:
    text = (
        f"Thanks.\n\n{LINE}\n\nMy answer is yes, because of the price and the date and the place.\n\n\n\n\n> Shall we?"
    )
    assert fold(text).blocks == ()


# --- what keeps a quotation --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "own",
    [
        "",
        "Hi Carla,",
        "Best,\nBen",
        "Sent from my iPhone",
        "FYI",
        "Zur Info\n\nBen",
        "Pour info.",
        "See below.",
        "Siehe unten!",
        "-- \nBen",
    ],
)
def test_what_own_text_only_passes_on_is_content(own: str) -> None:
    for quoted in (f"{LINE}\n> Shall we meet?", f"{BLOCK}\n\nShall we meet?", f"{LINE}\n\nShall we meet?"):
        text = f"{own}\n\n{quoted}"
        assert fold(text) == FoldedText(text)


def test_after_a_request_a_header_block_may_stand_over_something_forwarded() -> None:
    asked = "Can you take care of this one?"
    assert fold(f"{asked}\n\n{BLOCK}\n\nShall we meet?").blocks == ()
    assert fold(f"{asked}\n\n{BLOCK}\n\nShall we meet?", subject="Re: Meeting").blocks
    assert fold(f"{asked}\n\n{LINE}\n> Shall we meet?").blocks


@pytest.mark.parametrize(
    "own", ["My answers are below in red.", "Antworten im Text.", "Réponses en rouge.", "Comments inline."]
)
def test_answers_that_are_said_to_stand_inside_are_interleaved(own: str) -> None:
    for quoted in (f"{LINE}\n> Shall we meet?", f"{BLOCK}\n\nShall we meet?\nYes."):
        text = f"{own}\n\n{quoted}"
        assert fold(text) == FoldedText(text, interleaved=True)


def test_one_and_the_same_mark_before_several_lines_is_an_answer() -> None:
    text = f"I have some remarks on this.\n\n{BLOCK}\n\nWhen?\n[Ben] Thursday.\nWho?\n[Ben] I."
    assert fold(text) == FoldedText(text, interleaved=True)


def test_a_line_like_ours_is_never_mixed_with_ours() -> None:
    text = f"Yes.\n\n[quoted: The Boss, 2026-03-02, 3,000 characters]\n\n{LINE}\n> Shall we meet?"
    assert fold(text) == FoldedText(text)


# --- from HTML ---------------------------------------------------------------------------------------------------

GMAIL = (
    '<div dir="ltr">Thursday is fine.</div><br><div class="gmail_quote"><div class="gmail_attr">On Mon, Mar '
    "2, 2026 at 10:14 AM "
    'Anna Berg &lt;<a href="mailto:anna@example.org">anna@example.org</a>&gt; wrote:<br></div>'
    '<blockquote class="gmail_quote"><div>Hello,<br>shall we <b>meet</b>?</div></blockquote></div>'
)
OUTLOOK_WEB = (
    '<div>Thursday is fine.</div><hr><div id="divRplyFwdMsg"><font><b>Von:</b> Anna Berg &lt;anna@example.org&gt;<br>'
    "<b>Gesendet:</b> Montag, 2. März 2026 10:14<br><b>An:</b> Ben &lt;ben@example.com&gt;<br><b>Betreff:</b> "
    "Treffen</font>"
    "<div>&nbsp;</div></div><div>Hello,<br>shall we meet?</div>"
)
OUTLOOK = (
    '<div class="WordSection1"><p class="MsoNormal">Thursday is fine.</p><div '
    'style="border:none;border-top:solid #E1E1E1 1.0pt">'
    '<p class="MsoNormal"><b>From:</b> Anna Berg &lt;anna@example.org&gt; <br><b>Sent:</b> Monday, March 2, '
    "2026 10:14 AM<br>"
    "<b>To:</b> Ben &lt;ben@example.com&gt;<br><b>Subject:</b> Meeting</p></div><p>Hello,</p><p>shall we "
    "meet?</p></div>"
)
APPLE = (
    '<div>Thursday is fine.</div><div><br><blockquote type="cite"><div>On 2. Mar 2026, at 10:14, Anna Berg '
    "&lt;anna@example.org&gt; wrote:</div><br><div>Hello,</div><div>shall we meet?</div></blockquote></div>"
)
IOS = (
    '<div>Thursday is fine.<br><br><div>Sent from my iPhone</div><div><br><blockquote type="cite">On 2 Mar '
    "2026, at 10:14, "
    "Anna Berg &lt;anna@example.org&gt; wrote:<br><br></blockquote></div><blockquote "
    'type="cite"><div>Hello,<br>shall we meet?'
    "</div></blockquote></div>"
)
THUNDERBIRD = (
    '<p>Thursday is fine.</p><div class="moz-cite-prefix">Am 02.03.26 um 10:14 schrieb Anna Berg:<br></div>'
    '<blockquote type="cite"><p>Hello,</p><p>shall we meet?</p></blockquote>'
)
YAHOO = (
    '<div>Thursday is fine.</div><div class="yahoo_quoted"><div>On Monday, March 2, 2026 at 10:14:00 AM '
    "GMT+1, Anna Berg "
    "&lt;anna@example.org&gt; wrote: </div><div><br></div><div>Hello,</div><div>shall we meet?</div></div>"
)
PROTON = (
    '<div>Thursday is fine.</div><div class="protonmail_quote">On Monday, March 2nd, 2026 at 10:14 AM, Anna Berg '
    '&lt;anna@example.org&gt; wrote:<br><br><blockquote type="cite">Hello,<br>shall we meet?</blockquote></div>'
)


@pytest.mark.parametrize(
    "html",
    [GMAIL, OUTLOOK_WEB, OUTLOOK, APPLE, IOS, THUNDERBIRD, YAHOO, PROTON],
    ids="gmail outlook-web outlook apple ios thunderbird yahoo proton".split(),
)
def test_the_quotations_of_html_are_found_in_its_text(html: str) -> None:
    folded = fold(html_to_text(html).text, form=TextFormat.MARKDOWN)
    assert folded.text.startswith("Thursday is fine.")
    assert "meet" not in folded.text
    assert [(block.author, block.date) for block in folded.blocks] == [("Anna Berg", "2026-03-02")]


def test_a_forwarded_message_in_html_is_content() -> None:
    html = (
        '<div>Look at this.</div><div class="gmail_quote"><div>---------- Forwarded message ---------<br>From: '
        "<strong>Anna Berg"
        "</strong> &lt;anna@example.org&gt;<br>Date: Mon, Mar 2, 2026 at 10:14 AM<br>Subject: Plan<br>To: Ben "
        "&lt;ben@example.com&gt;"
        "<br></div><div>Hello</div></div>"
    )
    text = html_to_text(html).text
    assert fold(text, form=TextFormat.MARKDOWN) == FoldedText(text)


DRAFTS = {
    "above the question": "> Dear Mr Smith,\n> NEW we cancel.\n> Regards\n\nAnna, my draft. What do you think?",
    "below a finished letter": "Dear Anna,\n\nI propose this.\n\nRegards,\nBen\n\n> Dear Mr Smith,\n> NEW we cancel.",
    "with a signature": "Hello Anna,\n\nthe note\n\n> NEW Dear all,\n> we are closed.\n> -- \n> Jo\n\nRegards\nBen",
}


@pytest.mark.parametrize("text", DRAFTS.values(), ids=DRAFTS.keys())
def test_a_draft_shown_with_marks_is_not_folded(text: str) -> None:
    assert fold_quotes(text, TextFormat.PLAIN).text == text


def test_a_danish_or_norwegian_forward_is_not_folded() -> None:
    """VS is a reply in Finnish and a forward in Danish and Norwegian: in doubt it stays."""
    text = (
        "Hej Carl\n\nKunden har et problem.\n\nFra: Anna Berg <anna@x.example>\nSendt: 2. marts 2026 10:15\n"
        "Til: Ben <ben@y.example>\nEmne: Budget\n\nNEW content"
    )
    assert fold_quotes(text, TextFormat.PLAIN, subject="VS: Budget").text == text
