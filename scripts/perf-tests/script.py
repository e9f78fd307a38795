"""A script as they are: text, JSON, hashes, and an extension module, for about a second.

What it prints is the same in every run.
"""

import hashlib
import json
import re
import zlib
from collections import Counter

import script_ext

WORDS = re.compile(r"[a-z]+")


def record(number):
    return {
        "id": number,
        "name": f"item {number % 97}",
        "tags": ["red", "green", "blue"][: number % 4],
    }


def main():
    text = json.dumps([record(n) for n in range(2000)])
    tags = Counter()
    digest = hashlib.sha256()
    for _ in range(5):
        records = json.loads(text)
        for r in records:
            tags.update(r["tags"])
        words = Counter(WORDS.findall(text))
        packed = zlib.compress(json.dumps(records).encode())
        digest.update(zlib.decompress(packed))
        digest.update(b"%d" % script_ext.work(50_000_000))
    print(sum(tags.values()), words["item"], digest.hexdigest()[:16])


if __name__ == "__main__":
    main()
