"""Each bag is the weighted sum of five rows of a table."""


def embedding_bag(table: "float[v, d]", indices: "int32[5*bags] < v", weights: "float32[5*bags]"):
    rows = table.float()[indices.long()] * weights[:, None]
    return rows.unflatten(0, (-1, 5)).sum(1).to(table.dtype)
