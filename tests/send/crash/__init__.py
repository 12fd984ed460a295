"""Every place where a send can stop: a real server process, ended by SIGKILL there, and what a repeat is told.

rows_*.py    the rows of docs/crash-points.md, each a short story
run.py       what a story has at hand: servers, a store, an SMTP server, answers
servers.py   server processes; `nursery.py` forks them, `held.py` holds one inside an SQLite step
gate.py      what stands before Redis and Upstash and holds or loses one step
smtp.py      the SMTP server, where final dots are counted
"""
