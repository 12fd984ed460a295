"""The read tools, one file each. They are lent folders that have no writing method."""
