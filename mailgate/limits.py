"""Every number that mailgate promises or relies on, named once, with the reason for it.

Sizes are octets unless the name says otherwise; times are seconds. Numbers that an operator can change live in
`settings.py`; their defaults and ranges are here.
"""

from __future__ import annotations

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

# --- what one IMAP response may cost (R14: bounded in length, number, size and nesting) -------------------------

MAX_LINE: Final = 512 * KIB
"""One line without its literals. A SEARCH answer for the widest window (40,000 UIDs of up to ten digits) fits."""
MAX_LITERAL: Final = 64 * MIB
"""Largest literal a server may announce: some servers answer a partial fetch with the whole message."""
MAX_NESTING: Final = 64
"""Depth of parenthesised lists. BODYSTRUCTURE of a message at our own MIME depth limit needs far less."""
MAX_RESPONSES: Final = 20_000
"""Untagged responses to one command."""
MAX_RESPONSE_BYTES: Final = 96 * MIB
"""All octets received for one command, discarded ones included."""

# --- searching --------------------------------------------------------------------------------------------------

SEARCH_LIMIT_DEFAULT: Final = 25
SEARCH_LIMIT_MAX: Final = 100
SCAN_UIDS_DEFAULT: Final = 1000
SCAN_UIDS_MAX: Final = 40_000
"""Widest window, also after widening over empty stretches: its answer still fits `MAX_LINE`."""
SEARCH_BUDGET_DEFAULT: Final = 5.0
SEARCH_BUDGET_MAX: Final = 60.0
SEARCH_TERM_MAX: Final = 512
"""Octets of one search term in UTF-8; servers are only known to be reliable well below their line limits."""
SUMMARY_HEADER_BYTES: Final = 32 * KIB
"""Header octets fetched for one row of a search page."""

# --- folders ----------------------------------------------------------------------------------------------------

FOLDERS_MAX: Final = 2000
FOLDER_NAME_MAX: Final = 1000
"""Octets of a folder name on the wire; longer ones are refused before anything is sent."""
STATUS_MAX: Final = 200
"""STATUS commands in one call where the server lacks LIST-STATUS."""

# --- reading a message ------------------------------------------------------------------------------------------

SOURCE_BYTES_MAX: Final = 5 * MIB
"""Raw source examined per message."""
FIRST_BYTES: Final = 48 * KIB
"""Octets of a message fetched before anything is known of it: most messages are whole in that, and so is the text of
most that carry large files."""
PART_HEADER_BYTES: Final = 16 * KIB
"""Header octets of one part, where parts are fetched by themselves."""
PLACES_KNOWN: Final = 256
"""Messages of which it is remembered under which number the server keeps each attachment."""
TEXT_BYTES_MAX: Final = 256 * KIB
"""Extracted text kept per message, octets of UTF-8."""
READ_CHARS_DEFAULT: Final = 32_768
READ_CHARS_MAX: Final = 262_144
READ_BATCH_MAX: Final = 10
"""Messages of one mail_read."""
BATCH_SOURCE_BYTES: Final = 512 * KIB
"""Messages below this size are fetched together; ten of them are no more than one large message."""
QUOTED_BLOCKS_MAX: Final = 100
"""Folded blocks described in one result; the text has a line for each."""
PREVIEW_CHARS: Final = 160
"""Characters of a row's preview."""
PREVIEW_SOURCE_BYTES: Final = 4 * KIB
"""Octets of a message's text fetched for its preview: a plain alternative comes first and is well within them."""
PREVIEW_SECONDS: Final = 10.0
"""How long a page waits for its previews before it is given without."""
PREVIEW_HEADER_BYTES: Final = 4 * KIB
"""Octets of the fields that say how to read that text."""
MIME_DEPTH_MAX: Final = 12
MIME_PARTS_MAX: Final = 100
HEADER_BYTES_MAX: Final = 256 * KIB
"""One header block; what follows is treated as cut."""
HEADER_FIELDS_MAX: Final = 1000
HEADER_VALUE_CHARS_MAX: Final = 4000
"""Characters of one decoded header value in a result (a References chain fits; a bomb does not)."""
ADDRESSES_MAX: Final = 200
"""Addresses of one header field in a result."""
FILENAME_CHARS_MAX: Final = 200
PARSE_SECONDS: Final = 10.0
"""Wall clock for parsing one message off the event loop."""

HTML_BYTES_MAX: Final = 1 * MIB
HTML_TOKEN_BYTES_MAX: Final = 64 * KIB
HTML_TOKENS_MAX: Final = 20_000
HTML_OPEN_ELEMENTS_MAX: Final = 128

ATTACHMENT_BYTES_MAX: Final = 2 * MIB
"""Decoded octets of one attachment handed to a caller."""

# --- changing mail ----------------------------------------------------------------------------------------------

FLAGS_MAX: Final = 20
"""Flags of one change."""
KEYWORD_CHARS_MAX: Final = 64
"""Characters of a keyword; servers keep a bounded number of them, some of them in file names."""

# --- the mail server --------------------------------------------------------------------------------------------

IMAP_CONNECTIONS_DEFAULT: Final = 2
IMAP_CONNECTIONS_MAX: Final = 10
"""Providers cap simultaneous connections at ten to fifteen for all of an owner's clients together."""
KEPT_OPEN_MESSAGES: Final = 5000
"""From so many messages on a folder stays open for the next call: opening a large one takes some servers long."""
CONNECTION_IDLE_SECONDS: Final = 60.0
"""A pooled connection unused for longer is closed, not used: well below RFC 9051's 30 minutes (5.4)."""
CONNECTION_TRUSTED_SECONDS: Final = 5.0
"""A pooled connection used more recently than this is used without asking it first."""
LIVENESS_SECONDS: Final = 1.0
"""How long a pooled connection may take to answer the NOOP that asks whether it still lives."""
QUEUE_SECONDS: Final = 10.0
"""How long a call waits for a free connection before it is told `upstream_busy`."""
CONNECT_SECONDS: Final = 10.0
UPSTREAM_TIMEOUT_DEFAULT: Final = 30.0
UPSTREAM_TIMEOUT_MAX: Final = 300.0

# --- the endpoint -----------------------------------------------------------------------------------------------

REQUEST_BYTES_DEFAULT: Final = 8 * MIB
"""Admits the largest legal composition: 3 MiB of attachments in base64 and 1 MiB of escaped text."""
REQUEST_BYTES_MIN: Final = 1 * KIB
REQUEST_BYTES_MAX: Final = 64 * MIB
RESULT_BYTES_DEFAULT: Final = 4 * MIB
"""Below the 4.5 MB that the strictest serverless host returns."""
RESULT_ENVELOPE_BYTES: Final = 512
"""Part of the result budget: the JSON-RPC response around both halves, its id (at most 256 octets) included."""
RESULT_BYTES_MIN: Final = 16 * KIB
"""Room for what a changing call has to answer, whatever the folder's name: once done, it cannot be called too large."""
RESULT_BYTES_MAX: Final = 64 * MIB
CALLER_PER_SECOND: Final = 50.0
"""Requests of one caller in the long run. An assistant makes one or two; a loop that ran away makes hundreds."""
CALLER_BURST: Final = 2000.0
"""Requests of one caller at once, before `CALLER_PER_SECOND` counts."""
STRANGER_PER_SECOND: Final = 5.0
"""Requests without a valid token from one peer address, in the long run."""
STRANGER_BURST: Final = 100.0
"""And at once: several clients that connect anew, each with a few tries."""
CALLS_AT_ONCE: Final = 32
"""Requests that one process carries out at a moment; each may hold a body of the largest size."""
CALLS_AT_ONCE_EACH: Final = 24
"""And for one caller, so that a caller whose calls are all stuck leaves room for another."""
BUSY_RETRY_SECONDS: Final = 1
"""What who finds no place, or a process about to end, is told to wait."""
THROTTLE_KEYS_MAX: Final = 1024
"""Callers and peers remembered for counting; it bounds memory, a flood from many addresses included."""
JSON_DEPTH_MAX: Final = 32
"""Nesting of a request body; the deepest legal call needs 5."""

# --- composing --------------------------------------------------------------------------------------------------

RECIPIENTS_MAX: Final = 50
"""Recipients of one composition, all roles together, repeated ones counted."""
SUBJECT_BYTES_MAX: Final = 512
"""Octets of UTF-8."""
TEXT_WRITE_BYTES_MAX: Final = 1 * MIB
"""Octets of UTF-8, line ends counted as one."""
UPLOADS_MAX: Final = 20
UPLOAD_BYTES_MAX: Final = 3 * MIB
"""Decoded octets of all attachments of one composition together."""
COMPOSED_BYTES_MAX: Final = 5 * MIB
"""One complete message: what can be read back whole (`SOURCE_BYTES_MAX`)."""
MESSAGE_ID_BYTES_MAX: Final = 512
"""Far longer than any honest id, and still one line (RFC 5322, 2.1.1)."""
REFERENCES_MAX: Final = 100
REFERENCES_BYTES_MAX: Final = 8 * KIB
"""All ids of a thread field together; more than a reading ever shows (`HEADER_VALUE_CHARS_MAX`)."""
CONTENT_TYPE_NAME_MAX: Final = 127
"""Characters on either side of the slash (RFC 6838, 4.2)."""

# --- sending ----------------------------------------------------------------------------------------------------

SEND_DEADLINE_DEFAULT: Final = 120.0
SEND_DEADLINE_MAX: Final = 900.0
SEND_LIMIT_MAX: Final = 10_000
"""Largest hourly cap that can be set; providers stop a mailbox long before."""
SMTP_FAREWELL_SECONDS: Final = 2.0
"""For RSET and QUIT together, after the outcome stands."""
STORE_SECONDS: Final = 5.0
"""One call to the store; after that this call sends nothing."""
STORE_REQUEST_BYTES_MAX: Final = 10_000_000
"""What Upstash takes in one request and gives in one answer; a sealed message of `COMPOSED_BYTES_MAX` fits."""
PREPARED_SECONDS: Final = 15 * 60.0
"""How long a prepared message can be confirmed, by the store's clock."""
RECORD_SECONDS: Final = 7 * 24 * 3600.0
"""How long the record of a send is kept after its last change, by the store's clock."""
SEND_WINDOW_SECONDS: Final = 3600.0
"""What the hourly limit looks back on."""

# --- who is calling ---------------------------------------------------------------------------------------------

TOKEN_CHARS_MAX: Final = 16 * KIB
"""A bearer token; those of issuers that put groups and roles into them reach several KiB. Longer ones are not read."""
TOKEN_LEEWAY_SECONDS: Final = 30.0
"""How far the issuer's clock may be off, for `exp`, `nbf` and `iat`."""
RSA_BITS_MIN: Final = 2048
"""RFC 7518, 3.3: "A key of size 2048 bits or larger MUST be used"."""
RSA_BITS_MAX: Final = 8192
"""Checking a signature with a larger key would hold up the event loop."""
KEY_DOCUMENT_BYTES_MAX: Final = 256 * KIB
"""One document of the issuer: metadata or keys."""
KEYS_MAX: Final = 100
"""Keys of one set that are looked at."""
KEYS_SECONDS: Final = 5.0
"""Everything it takes to get the issuer's keys, discovery included."""
KEYS_FRESH_SECONDS: Final = 300.0
"""Keys older than this are fetched again before they are used; so long a withdrawn key still opens."""
KEYS_KEPT_SECONDS: Final = 3600.0
"""Keys older than this are not used at all: so long the issuer may be out of reach without anybody noticing."""
KEYS_REFETCH_SECONDS: Final = 30.0
"""Between two fetches while there are keys: anybody can name a key that does not exist."""
KEYS_RETRY_SECONDS: Final = 5.0
"""Between two fetches while there are none."""
