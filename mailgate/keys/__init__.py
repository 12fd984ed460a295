"""The keys of the one issuer whose tokens are believed: how they are found, fetched, read and kept."""
