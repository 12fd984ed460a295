"""The sample mail, a module per theme. All of it is made up; every address is of a reserved domain (RFC 2606)."""
