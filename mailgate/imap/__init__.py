"""IMAP: grammar and values first, doors last.

`connection.py` and `mailbox.py` (with `tls.py`) are the only modules here that know a socket. All others turn bytes
into values or values into bytes, and can be read and tested without a server.
"""
