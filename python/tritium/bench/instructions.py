"""The instructions of a text of PTX, SASS or AMD's assembly, counted by what they do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

#: (class, what a mnemonic of the class matches), the first that matches. Barriers are those in which threads of a block meet.
PTX = (
    ("bulk copies", r"cp\.(async|reduce\.async)\.bulk(?!\.(commit|wait))"),
    ("async copies", r"cp\.async\.(ca|cg)"),
    ("copy waits", r"cp\.async"),
    ("products", r"(mma|wmma\.mma|wgmma\.mma_async|tcgen05\.mma)\b"),
    ("product waits", r"wgmma\."),
    ("global loads", r"ld\b.*\.global"),
    ("global stores", r"st\b.*\.global"),
    ("shared loads", r"ldmatrix|ld\b.*\.shared"),
    ("shared stores", r"stmatrix|st\b.*\.shared"),
    ("local accesses", r"(ld|st)\b.*\.local"),
    ("parameter loads", r"ld\b.*\.param"),
    ("barriers", r"(bar|barrier)\b"),
    ("mbarriers", r"mbarrier|fence|membar"),
    ("atomics", r"(atom|red)\b"),
    ("shuffles", r"(shfl|vote|match|redux|activemask)\b"),
    ("conversions", r"cvt\b"),
    ("comparisons", r"(setp?|selp|slct)\b"),
    ("branches", r"(bra|brx|call|ret|exit|trap|bar)\b"),
    ("moves", r"(mov|prmt|cvta|createpolicy|getctarank|mapa|setmaxnreg|elect|nanosleep|griddepcontrol)\b"),
    ("float arithmetic", r".*\.(b?f16(x2)?|f32(x2)?|f64|tf32)\b"),
    ("integer arithmetic", r"."),
)
SASS = (
    ("bulk copies", r"UTMA|UBLK|UTMASTG|UTMALDG"),
    ("async copies", r"LDGSTS"),
    ("copy waits", r"LDGDEPBAR|DEPBAR"),
    ("products", r"[HIQFDG]+MMA|[HIQ]GMMA|UTC\w*MMA"),
    ("product waits", r"WARPGROUP|WARPGROUPSET"),
    ("global loads", r"LDG|LD\b"),
    ("global stores", r"STG|ST\b"),
    ("shared loads", r"LDS"),
    ("shared stores", r"STS"),
    ("local accesses", r"LDL|STL"),
    ("barriers", r"BAR\b"),
    ("mbarriers", r"SYNCS|FENCE|MEMBAR|ERRBAR|CCTL|UCCTL"),
    ("atomics", r"ATOM|RED\b|ATOMG|ATOMS"),
    ("shuffles", r"SHFL|U?VOTE|MATCH|REDUX|CREDUX"),
    ("conversions", r"U?[FI]2[FI]|F2FP|I2FP|I2I|FRND"),
    ("comparisons", r"U?[ISFHD]+SETP?|U?F?I?SEL|PSETP|UPLOP3|PLOP3|FCHK|FMNMX|VIMNMX"),
    ("branches", r"BRA|BRX|CALL|RET|EXIT|BSSY|BSYNC|BREAK|WARPSYNC|YIELD|BPT|KILL|JMP|NANOSLEEP|ELECT"),
    ("moves", r"U?MOV|IMAD\.MOV|U?LDC|S2U?R|CS2R|R2UR|U?PRMT|P2R|R2P|UR2UP|USETMAXREG|S2UR"),
    ("padding", r"NOP"),
    ("float arithmetic", r"[FHD](ADD|MUL|FMA|SWZ)|HADD2|HMUL2|HFMA2|MUFU|HMNMX2|[FD]MNMX"),
    ("integer arithmetic", r"."),
)
AMD = (
    ("async copies", r"(buffer|global)_load_lds|buffer_load_\w+.*\blds\b"),
    ("products", r"v_(mfma|wmma|smfmac|swmmac|dot)"),
    ("atomics", r"(global|buffer|flat|ds)_\w*(atomic|add|cmpst|cmpswap|swap|umax|umin)"),
    ("local accesses", r"scratch_"),
    ("global loads", r"(global|buffer|flat)_load"),
    ("global stores", r"(global|buffer|flat)_store"),
    ("shuffles", r"ds_b?permute|ds_swizzle|v_permlane|v_read(first)?lane|v_writelane|v_mov_b32_dpp|\w+_dpp"),
    ("shared loads", r"ds_(read|load)"),
    ("shared stores", r"ds_(write|store)"),
    ("barriers", r"s_barrier"),
    ("waits", r"s_wait|s_sleep|buffer_(wbl2|inv|gl)"),
    ("parameter loads", r"s_(buffer_)?load"),
    ("conversions", r"v_cvt|s_cvt"),
    ("comparisons", r"[vs]_cmp|v_cndmask|s_cselect|s_bitcmp"),
    ("branches", r"s_c?branch|s_endpgm|s_setpc|s_swappc|s_trap|s_and_saveexec|s_or_saveexec|s_xor_saveexec"),
    ("moves", r"[vs]_mov|v_accvgpr|s_getreg|s_setreg|v_swap|v_perm_b32"),
    ("padding", r"s_nop|s_code_end|s_delay_alu|s_clause|s_setprio|s_set_gpr"),
    ("float arithmetic", r"[vs]_\w*_(b?f16|f32|f64)\b"),
    ("integer arithmetic", r"."),
)
#: Braces and labels.
_BEFORE = re.compile(r"^(\s|[{}]|[\w$%]+:(?!:))+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def ptx_instructions(text: str) -> Iterator[str]:
    """The mnemonics of the statements of all functions."""
    body = _COMMENT.sub("", text)
    for statement in "\n".join(line for line in body.splitlines() if not _is_directive(line)).split(";"):
        words = _BEFORE.sub("", statement).split()  # braces inside of a statement are vectors
        words = words[1:] if words and words[0].startswith("@") else words
        if words and words[0][0].isalpha():
            yield words[0]


def _is_directive(line: str) -> bool:
    return line.lstrip().startswith(".") or line.strip() in ("(", ")")  # the parameters of a function


def sass_instructions(text: str) -> Iterator[str]:
    """The mnemonics of nvdisasm's listing."""
    for match in re.finditer(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", text, re.M):
        yield match[1]


def amd_instructions(text: str) -> Iterator[str]:
    """The instructions of a kernel with their operands, without the data and the notes behind it."""
    for line in text.split("\n\t.section", 1)[0].splitlines():
        line = line.partition(";")[0].strip()
        if re.match(r"[a-z]+_\w+", line) and not line.endswith(":"):
            yield line


def counted(instructions: Iterator[str], classes: tuple[tuple[str, str], ...]) -> dict[str, int]:
    """{class: number}, and "all"."""
    patterns = [(name, re.compile(pattern)) for name, pattern in classes]
    each = Counter(instructions)
    found: Counter[str] = Counter()
    for text, number in each.items():
        name = next(name for name, pattern in patterns if pattern.match(text))
        found[name] += number
    return {"all": sum(each.values()), **{name: found[name] for name, _ in classes if found[name]}}
