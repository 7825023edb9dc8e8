"""Wheels: `epitome-cli` has the program, `epitome-context` is the library for Python, whose module is `epitome`."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from product import LICENSE, README, ROOT, SUMMARY, moment, printed, surroundings


def program(product, platform, binary, notices, out):
    stem = f"epitome_cli-{product.python}"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / stem
        scripts, about = root / f"{stem}.data" / "scripts", root / f"{stem}.dist-info"
        (about / "licenses").mkdir(parents=True)
        scripts.mkdir(parents=True)
        (scripts / "epitome").write_bytes(binary.read_bytes())
        (scripts / "epitome").chmod(0o755)
        for name in ("LICENSE-MIT", "LICENSE-APACHE"):
            (about / "licenses" / name).write_bytes((ROOT / name).read_bytes())
        (about / "licenses" / "NOTICES.txt").write_text(notices)
        tags = "".join(f"Tag: py3-none-{tag}\n" for tag in platform.wheel)
        (about / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: epitome\nRoot-Is-Purelib: false\n{tags}")
        head = f"Metadata-Version: 2.4\nName: epitome-cli\nVersion: {product.python}\nSummary: {SUMMARY}\n"
        files = "License-File: LICENSE-MIT\nLicense-File: LICENSE-APACHE\nLicense-File: NOTICES.txt\n"
        kind = "Description-Content-Type: text/markdown\n"
        text = f"{head}License-Expression: {LICENSE}\n{files}{kind}\n{README.read_text()}"
        (about / "METADATA").write_text(text)
        more = {"SOURCE_DATE_EPOCH": str(product.moment)}
        told = printed(sys.executable, "-m", "wheel", "pack", root, "--dest-dir", out, env={**os.environ, **more})
    # `Repacking wheel as FILE...OK`
    return Path(told.strip().removesuffix("...OK").split(" as ", 1)[1])


def library(platform, out):
    """For every CPython from 3.10."""
    with tempfile.TemporaryDirectory() as folder:
        crate = ROOT / "crates/epitome-py"
        asked = ["maturin", "build", "--release", "--locked", "--zig", "--compatibility", "manylinux2014", "--target", platform.shared]
        # In a folder of its own: in one, it would wait until the program is built.
        target = os.environ.get("CARGO_TARGET_DIR") or ROOT / "target"
        more = {"SOURCE_DATE_EPOCH": str(moment()), "CARGO_TARGET_DIR": str(Path(target) / "library")}
        printed(*asked, "-m", crate / "Cargo.toml", "--out", folder, cwd=crate, env=surroundings(platform.shared) | more)
        return taken(folder, out)


def sources(out):
    """The library's sources, for platforms that have no wheel."""
    with tempfile.TemporaryDirectory() as folder:
        printed("maturin", "sdist", "-m", ROOT / "crates/epitome-py/Cargo.toml", "--out", folder)
        return taken(folder, out)


def taken(folder, out):
    [file] = Path(folder).iterdir()
    return Path(shutil.copy(file, out))
