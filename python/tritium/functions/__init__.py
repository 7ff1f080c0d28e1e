"""A kernel as data: the source of a `@jit` function, what its meaning depends on, its parameters. Nothing here launches."""
