"""One file a tool: what changes the mailbox, each with exactly one command that does it, never repeated."""
