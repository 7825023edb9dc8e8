"""The archive: the program, its manual pages, completions and licences in one folder."""

import gzip
import io
import tarfile

from product import COMPLETIONS, ROOT

PAPERS = ("README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE")


def archive(product, platform, program, notices, out):
    folder = f"epitome-{product.version}-{platform.triple}"
    files = {"epitome": program.read_bytes()}
    files |= {name: (ROOT / name).read_bytes() for name in PAPERS}
    files["NOTICES.txt"] = notices.encode()
    files |= {f"completions/{COMPLETIONS[shell]}": text.encode() for shell, text in product.completions.items()}
    files |= {f"man/{name}": text.encode() for name, text in product.pages.items()}
    path = out / f"{folder}.tar.gz"
    path.write_bytes(packed({f"{folder}/{name}": data for name, data in files.items()}, {f"{folder}/epitome"}, product.moment))
    return path


def packed(files, programs, moment):
    """A tar of files by their paths, gzipped; those of `programs` may be run."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(data), moment, 0o755 if name in programs else 0o644
            tar.addfile(entry, io.BytesIO(data))
    return gzip.compress(plain.getvalue(), 9, mtime=0)
