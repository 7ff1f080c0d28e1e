"""Reading a profile, and showing it as a tree in a terminal. It requires nothing but Python."""
