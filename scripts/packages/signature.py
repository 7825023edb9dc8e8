"""Checksums, and a signature of them with an SSH key that is handed in."""

import hashlib

from product import printed

SUMS = "SHA256SUMS"
# What the signature is for: a signature of something else by the same key is none of a release.
SPACE = "epitome-release"


def sums(files, out):
    path = out / SUMS
    lines = (f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(files))
    path.write_text("".join(lines))
    return path


def signature(path, key):
    beside = path.with_name(path.name + ".sig")
    beside.unlink(missing_ok=True)
    printed("ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", SPACE, path)
    return beside
