"""The embedded mailbox of `mailgate demo`: a small IMAP server and sample mail. A test double, never the oracle."""
