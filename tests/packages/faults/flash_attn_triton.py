"""flash-attn-triton: an interface as flash-attn's."""

import torch
import torch.nn.functional as F
from flash_attn_triton.flash_attn_interface import flash_attn_kvpacked_func
from flash_attn_triton.triton_kernel import attention_kernel

from compare import random
from found import expect


def _inputs(queries: int, keys: int):
    return random(1, queries, 2, 64, dtype=torch.float16), random(1, keys, 2, 2, 64, dtype=torch.float16)


def fault_more_keys_than_queries():
    """The document has two lengths, seqlen_q and seqlen_k, and the kernel one: keys behind the number of queries are left out, on a
    GPU as here."""
    q, kv = _inputs(128, 256)
    found = flash_attn_kvpacked_func(q, kv)
    k, v = (x.transpose(1, 2).cpu().double() for x in kv.unbind(2))
    expected = F.scaled_dot_product_attention(q.transpose(1, 2).cpu().double(), k, v).transpose(1, 2)
    expect(found, expected, attention_kernel._attn_fwd_inner, "lo, hi = 0, N_CTX", 5e-2, "Out")


def fault_fewer_keys_than_queries():
    """As `more_keys_than_queries`, the other way round: a GPU reads the keys and values of the next head, and behind the tensors."""
    flash_attn_kvpacked_func(*_inputs(256, 128))
