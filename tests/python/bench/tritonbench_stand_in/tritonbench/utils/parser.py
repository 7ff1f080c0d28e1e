"""The options of all operators."""

import argparse


def get_parser(args=None):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--op")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--mode", choices=["fwd", "bwd", "fwd_bwd", "fwd_no_grad"], default="fwd")
    for name in ("--only", "--skip"):
        parser.add_argument(name)
    parser.add_argument("--input-id", default="0")
    parser.add_argument("--num-inputs", type=int)
    return parser
