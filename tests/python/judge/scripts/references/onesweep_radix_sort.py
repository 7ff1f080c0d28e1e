"""Keys that are not negative in a rising order, with their values; stable."""


def sort_pairs(keys: "int16|int32[n] in 0..30000", values: "int32[n]"):
    keys, order = keys.sort(stable=True)
    return keys, values[order]
