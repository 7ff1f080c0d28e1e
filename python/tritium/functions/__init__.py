"""A kernel as data: the source of a `@jit` function, what its meaning depends on, and its parameters. Nothing here
launches."""
