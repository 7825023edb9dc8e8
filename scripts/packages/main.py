"""Builds what a release has, for Linux on x86-64 and arm64.

A static program in an archive with manual pages and completions, a Debian package, packages for npm and PyPI that carry it, the
library for Python, the licences of what is in the program, a bill of materials, checksums, and with --key a signature of them:

    ssh-keygen -Y verify -f ALLOWED_SIGNERS -I NAME -n epitome-release -s SHA256SUMS.sig < SHA256SUMS
"""

import argparse
import os
import platform
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import archive
import bom
import debian
import licences
import npm
import platforms
import product
import signature
import wheels


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/release", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = {it.triple: it for it in platforms.ALL}
    parser.add_argument("--out", type=Path, default=product.ROOT / "dist", metavar="FOLDER", help="where it goes (default: dist)")
    parser.add_argument("--key", type=Path, metavar="FILE", help="a private key that ssh-keygen takes; without it nothing is signed")
    parser.add_argument("--target", action="append", choices=names, help="only this platform; may be given again (default: all)")
    words = parser.parse_args()
    return words, [names[it] for it in words.target or names]


def main():
    words, wanted = arguments()
    if words.key and not words.key.is_file():
        raise SystemExit(f"--key: there is no file {words.key}")
    words.out.mkdir(parents=True, exist_ok=True)
    (words.out / f"{signature.SUMS}.sig").unlink(missing_ok=True)
    # Those who read what is made read it whoever made it.
    os.umask(0o022)
    # Each build ends with minutes on one core.
    with ThreadPoolExecutor(max_workers=2) as pool:
        building = [pool.submit(product.built, it) for it in wanted]
        libraries = [pool.submit(wheels.library, it, words.out) for it in wanted]
        programs = {it: one.result() for it, one in zip(wanted, building)}
        files = [one.result() for one in libraries]
    own = next((it for it in wanted if it.triple.startswith(platform.machine())), None)
    if own is None:
        raise SystemExit(f"none of the platforms is this machine's ({platform.machine()}), and its program prints the manual pages")
    told = product.product(programs[own])
    files.append(npm.starter(told, platforms.ALL, words.out))
    files.append(wheels.sources(words.out))
    for it, program in programs.items():
        inside = bom.packages(it)
        notices = licences.notices(inside)
        files.append(archive.archive(told, it, program, notices, words.out))
        files.append(debian.debian(told, it, program, notices, words.out))
        files.append(npm.carrier(told, it, program, notices, words.out))
        files.append(wheels.program(told, it, program, notices, words.out))
        files.append(bom.bill(told, it, inside, words.out))
    done = signature.sums(files, words.out)
    files.append(done)
    if words.key:
        files.append(signature.signature(done, words.key))
    for path in sorted(files):
        print(f"{path.stat().st_size:>11,}  {path}")


if __name__ == "__main__":
    main()
