"""A Debian package. The program is static and needs no other package."""

import gzip
import hashlib
import os
import tempfile
from pathlib import Path

from product import ROOT, printed

PLACES = {
    "bash": "usr/share/bash-completion/completions/epitome",
    "zsh": "usr/share/zsh/vendor-completions/_epitome",
    "fish": "usr/share/fish/vendor_completions.d/epitome.fish",
}
SHORT = "keeps long-running LLM agents inside their context window"
LONG = """\
 A transcript goes in; a smaller one comes out that the provider accepts, that
 says what happened, and from which every removed byte can be restored. It is a
 command line, a proxy, an MCP server and a gRPC service, and needs no model, no
 network and no configuration.
"""
# Where the licence's text stands, as the format for machines wants it.
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2026 The Epitome contributors
License: MIT or Apache-2.0

License: Apache-2.0
 On Debian systems the whole text is in /usr/share/common-licenses/Apache-2.0.

License: MIT
"""


def debian(product, platform, program, notices, out):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        files = {"usr/bin/epitome": program.read_bytes()}
        files |= {PLACES[shell]: text.encode() for shell, text in product.completions.items()}
        for name, text in product.pages.items():
            files[f"usr/share/man/man1/{name}.gz"] = gzip.compress(text.encode(), 9, mtime=0)
        licence = "".join(f" {line or '.'}\n" for line in (ROOT / "LICENSE-MIT").read_text().splitlines())
        files["usr/share/doc/epitome/copyright"] = (COPYRIGHT + licence).encode()
        files["usr/share/doc/epitome/changelog.gz"] = gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), 9, mtime=0)
        files["usr/share/doc/epitome/NOTICES.gz"] = gzip.compress(notices.encode(), 9, mtime=0)
        sums = "".join(f"{hashlib.md5(data).hexdigest()}  {name}\n" for name, data in files.items())
        size = sum(map(len, files.values())) // 1024
        files["DEBIAN/control"] = (
            f"Package: epitome\nVersion: {product.debian}\nArchitecture: {platform.debian}\nSection: utils\nPriority: optional\n"
            f"Maintainer: The Epitome contributors <contributors@epitome.invalid>\nInstalled-Size: {size}\nDescription: {SHORT}\n{LONG}"
        ).encode()
        files["DEBIAN/md5sums"] = sums.encode()
        for name, data in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(0o755 if name == "usr/bin/epitome" else 0o644)
        for place in (root, *filter(Path.is_dir, root.rglob("*"))):
            place.chmod(0o755)
        path = out / f"epitome_{product.debian}_{platform.debian}.deb"
        more = {"SOURCE_DATE_EPOCH": str(product.moment)}
        printed("dpkg-deb", "--root-owner-group", "--build", root, path, env={**os.environ, **more})
    return path
