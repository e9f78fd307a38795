"""Finds kernel splats in a console log.

A splat is a failure though every test passed. Each pattern says what it is; an
allowed line is kept in console-allow.toml with its reason and must match whole.
"""

import re
import tomllib
from pathlib import Path

# (pattern, what it means). Looked for in the message, after the time stamp.
PATTERNS = [
    (r"\[ cut here \]", "a WARN or BUG report starts"),
    (r"\bWARNING:", "WARN(), or a lockdep report"),
    (r"\bBUG:", "BUG(), bad page state, sleeping in atomic, soft lockup"),
    (r"\bOops\b", "the kernel used a bad pointer"),
    (r"[Uu]nable to handle (kernel|page fault|NULL)", "the kernel used a bad pointer"),
    (r"[Gg]eneral protection fault", "the kernel used a bad pointer (x86)"),
    (r"Internal error:", "exception inside the kernel (arm64)"),
    (r"Kernel panic", "the kernel gave up"),
    (r"rust_kernel: panicked", "Rust code panicked"),
    (r"KASAN:", "memory-safety report"),
    (r"KFENCE:", "memory-safety report"),
    (r"KCSAN:", "data race"),
    (r"UBSAN:", "undefined behaviour"),
    (r"(possible (recursive|circular|irq)|inconsistent) lock", "lockdep: locks can deadlock"),
    (r"possible circular locking dependency", "lockdep: locks can deadlock"),
    (r"held lock freed|still has locks held|lock held when returning", "lockdep: lost lock"),
    (r"bad unlock balance", "lockdep: unlock without lock"),
    (r"suspicious RCU usage", "RCU pointer read without protection"),
    (r"rcu:? .*(detected|self-detected) stall|rcu.*detected stalls", "a processor was stuck"),
    (r"rcu_.* kthread starved", "RCU got no time to run"),
    (r"INFO: task .* blocked for more than", "a task hung"),
    (r"[Ss]oft lockup|[Hh]ard LOCKUP", "a processor was stuck"),
    (r"refcount_t: ", "reference count misused"),
    (r"kmemleak: .*new suspected memory leaks", "memory leak"),
    (r"kmemleak: .*(disabled|[Cc]annot)", "the leak detector stopped working"),
    (r"[Bb]ad page (state|map|cache)|Bad rss-counter state", "page accounting is wrong"),
    (r"sleeping function called from invalid context", "slept where it must not"),
    (r"scheduling while atomic", "slept where it must not"),
    (r"non-zero nr_ptes|non-zero pgtables_bytes", "page tables leaked"),
    (r"list_(add|del) corruption", "linked list corrupted"),
    (r"[Oo]ut of memory: Killed process|oom-kill:", "the guest ran out of memory"),
    (r"Object .*(Poison|padding) overwritten|Redzone overwritten", "slab corrupted"),
]

SPLAT = re.compile("|".join(f"(?P<p{i}>{p})" for i, (p, _) in enumerate(PATTERNS)))
STAMP = re.compile(r"^\[\s*\d+\.\d+\](\[\s*[TC]\d+\])? ?")
CONTEXT = 14  # lines shown after the first of a report


class AllowError(Exception):
    """The allow-list cannot be used; the text says why."""


def load_allow(path):
    """Returns {line: reason}."""
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as e:
        raise AllowError(f"cannot read {path}: {e.strerror}") from e
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise AllowError(f"{path} is not TOML: {e}") from e
    allowed = {}
    for n, entry in enumerate(data.get("allow", []), 1):
        line, reason = entry.get("line", ""), entry.get("reason", "").strip()
        if not line or not reason:
            raise AllowError(f"{path}: entry {n} needs both a line and a reason")
        allowed[line] = reason
    return allowed


def printable(line):
    """A line safe to print: no control characters, whatever the guest wrote."""
    return "".join(c if c.isprintable() or c == "\t" else "?" for c in line)


def scan(path, allowed):
    """Returns (splats, lines): splats is a list of (line number, meaning, text)."""
    text = Path(path).read_bytes().decode("utf-8", "replace")
    lines = [printable(line) for line in re.split(r"\r*\n", text)]
    splats = []
    shown_to = 0
    for i, line in enumerate(lines):
        message = STAMP.sub("", line)
        match = SPLAT.search(message)
        if not match or message in allowed:
            continue
        if i < shown_to:  # part of the report just shown
            continue
        shown_to = i + CONTEXT
        meaning = PATTERNS[int(match.lastgroup[1:])][1]
        splats.append((i + 1, meaning, "\n".join(lines[i:shown_to])))
    return splats, lines
