"""`python -m mailgate`."""

from mailgate.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
