"""The tests of mailgate."""
