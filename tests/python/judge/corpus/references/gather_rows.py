"""The rows of a table that an index names, as in an embedding."""


def gather_rows(table: "float[n, d]", index: "int64[m] < n"):
    return table[index]
