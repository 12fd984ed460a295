"""The jobs written by hand with imapclient, as direct as they can be. Runs in an environment of its own."""

from __future__ import annotations

import base64
import email
import hashlib
import json
import os
import ssl
import sys
from email import policy

from imapclient import IMAPClient

STRUCTURE_AND_BEGINNING = ["BODYSTRUCTURE", "RFC822.SIZE", "BODY.PEEK[]<0.65536>"]
client = None
selected = None


def connection():
    """The one connection, opened when it is first needed."""
    global client
    if client is None:
        context = ssl.create_default_context(cafile=os.environ["BENCH_CA"])
        client = IMAPClient("localhost", int(os.environ["BENCH_PORT"]), ssl_context=context)
        client.login(os.environ["BENCH_USER"], os.environ["BENCH_PASSWORD"])
    return client


def select(folder="INBOX"):
    """Select the folder, unless it is."""
    global selected
    if selected != folder:
        connection().select_folder(folder)
        selected = folder


def subjects(uids):
    """The subjects of these messages."""
    rows = connection().fetch(uids, ["ENVELOPE", "FLAGS", "INTERNALDATE", "RFC822.SIZE", "BODYSTRUCTURE"])
    return [str(row[b"ENVELOPE"].subject) for row in rows.values()]


def do_list(_wanted):
    # The library's own method takes no RETURN options; the standard library's, below it, does.
    plain = connection()._imap
    plain._simple_command("LIST", '""', '"*"', "RETURN", "(SPECIAL-USE STATUS (MESSAGES UNSEEN))")
    counts = plain.untagged_responses.pop("STATUS", [])
    return [str(row) for row in plain.untagged_responses.pop("LIST", []) + counts]


def do_newest(_wanted):
    # SELECT again, as cheap as NOOP: it tells UIDNEXT, and what has arrived is in it.
    global selected
    high = connection().select_folder("INBOX")[b"UIDNEXT"] - 1
    selected = "INBOX"
    return subjects(list(range(max(1, high - 24), high + 1)))


def do_filter(wanted):
    select()
    return subjects(connection().search(["FROM", wanted["from"], "SUBJECT", wanted["subject"]]))


def read(uid):
    select()
    row = connection().fetch([uid], STRUCTURE_AND_BEGINNING)[uid]
    return email.message_from_bytes(row[b"BODY[]<0>"], policy=policy.default).get_body(("plain",)).get_content()


def do_read(wanted):
    return read(wanted["small"])


def do_read20m(wanted):
    return read(wanted["large"])


def do_attach2m(wanted):
    select()
    connection().fetch([wanted["large"]], ["BODYSTRUCTURE"])
    row = connection().fetch([wanted["large"]], ["BODY.PEEK[3]"])[wanted["large"]]
    return {"digest": hashlib.sha256(base64.b64decode(row[b"BODY[3]"])).hexdigest()}


def do_mark(wanted):
    select()
    connection().add_flags([wanted["unread"]], [b"\\Seen"])
    return "done"


def do_draft(_wanted):
    connection().append("Drafts", b"Subject: draft\r\n\r\nWords.\r\n", [b"\\Draft"])
    return "done"


for line in sys.stdin:
    request = json.loads(line)
    parameters = request["params"]
    try:
        result = globals()[f"do_{parameters['job']}"](parameters) if request["method"] == "job" else "ready"
        answer = {"id": request["id"], "result": result}
    except Exception as error:
        answer = {"id": request["id"], "error": repr(error)}
    print(json.dumps(answer), flush=True)
