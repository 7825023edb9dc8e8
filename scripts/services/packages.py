"""What a release has, each installed in bare surroundings and run there.

    packages.py --session FILE --folder FOLDER

FOLDER gets what `scripts/release` makes for this machine's platform. Roots of file systems need root's rights, or `unshare`.
"""

import gzip
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import trials

ROOT = Path(__file__).resolve().parents[2]
# Who isn't root is in a name space of their own.
AS_ROOT = [] if os.geteuid() == 0 else ["unshare", "-r"]
TARGET = f"{platform.machine()}-unknown-linux-musl"
NAME = "somebody@example.org"


def ran(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
    return done.stdout


def released(out, folder):
    """A key, and everything signed with it."""
    key = folder / "key"
    ran("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", NAME, "-f", key)
    ran(ROOT / "scripts/release", "--target", TARGET, "--out", out, "--key", key)
    return key


def one(out, *parts):
    """The file whose name has all of these, the last one at its end."""
    [found] = [it for it in out.iterdir() if all(part in it.name for part in parts) and it.name.endswith(parts[-1])]
    return found


def works(program, session, **more):
    """The README's first command, with this program."""
    ran(*program, "compact", session, "--target", "10%", "-o", "smaller.json", **more)
    ran(*program, "check", "smaller.json", **more)


def bare(root, program, session):
    """Works where there is nothing else: no library, no folder, no variable."""
    shutil.copy(session, root / "session.jsonl")
    works([*AS_ROOT, "chroot", root, program], "/session.jsonl", env={"PATH": os.environ["PATH"]})
    assert (root / "smaller.json").stat().st_size > 1000


def the_sums_and_the_signature_hold(out, session, folder):
    key = released(out, folder)
    ran("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=out)
    allowed = folder / "allowed"
    allowed.write_text(f'{NAME} namespaces="epitome-release" {key.with_suffix(".pub").read_text()}')
    check = ["ssh-keygen", "-Y", "verify", "-f", allowed, "-I", NAME, "-n", "epitome-release", "-s", out / "SHA256SUMS.sig"]
    sums = (out / "SHA256SUMS").read_text()
    ran(*check, input=sums)
    changed = subprocess.run(check, input=sums.replace("0", "1"), capture_output=True, text=True)
    assert changed.returncode != 0, changed
    # The same sources give the same bytes.
    again = folder / "again"
    ran(ROOT / "scripts/release", "--target", TARGET, "--out", again)
    assert (again / "SHA256SUMS").read_text() == sums
    shutil.rmtree(again)


def the_archive_runs_where_nothing_else_is(out, session, folder):
    with tarfile.open(one(out, TARGET, ".tar.gz")) as tar:
        tar.extractall(folder, filter="data")
    [root] = folder.iterdir()
    names = {str(it.relative_to(root)) for it in root.rglob("*") if it.is_file()}
    assert {"epitome", "LICENSE-MIT", "NOTICES.txt", "completions/epitome.bash", "completions/_epitome", "man/epitome-compact.1"} <= names, names
    ran("bash", "-n", root / "completions/epitome.bash")
    bare(root, "/epitome", session)


def the_debian_package_installs(out, session, folder):
    package = one(out, ".deb")
    # A system of its own, in which no other package is.
    (folder / "var/lib/dpkg/updates").mkdir(parents=True)
    for name in ("status", "available"):
        (folder / "var/lib/dpkg" / name).touch()
    dpkg = [*AS_ROOT, "dpkg", f"--root={folder}", "--force-script-chrootless"]
    ran(*dpkg, "--install", package)
    page = gzip.decompress((folder / "usr/share/man/man1/epitome-serve.1.gz").read_bytes())
    assert b".TH" in page
    bare(folder, "/usr/bin/epitome", session)
    ran(*dpkg, "--remove", "epitome")
    assert not (folder / "usr/bin/epitome").exists()


def npm_installs_it(out, session, folder):
    starter, carrier = (one(out, f"epitome-cli-{it}.tgz") for it in (version(out), f"linux-{node()}-{version(out)}"))
    ran("npm", "install", "--offline", "--no-audit", "--no-fund", "--cache", folder / "cache", starter, carrier, cwd=folder)
    program = [folder / "node_modules/.bin/epitome"]
    works(program, session, cwd=folder)
    # It hands on exit codes, and signals.
    assert subprocess.run([*program, "compact", "--nonsense"], capture_output=True).returncode == 2
    with subprocess.Popen([*program, "serve", "--listen", "127.0.0.1:0", "--store", "none"], stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr.readline()
        server.terminate()
        assert server.wait(60) == 0
    shutil.rmtree(folder / f"node_modules/epitome-cli-linux-{node()}")
    missing = subprocess.run([*program, "--version"], capture_output=True, text=True)
    assert missing.returncode == 1 and "--omit=optional" in missing.stderr, missing


def pip_installs_it(out, session, folder):
    venv.create(folder / "venv", with_pip=True)
    ran(folder / "venv/bin/pip", "install", "-q", "--no-index", "--disable-pip-version-check", one(out, "_cli", ".whl"))
    works([folder / "venv/bin/epitome"], session, cwd=folder)


def the_bill_names_what_is_in_the_program(out, session, folder):
    told = json.loads(one(out, ".cdx.json").read_text())
    names = {it["name"] for it in told["components"]}
    assert {"epitome", "tokio", "serde_json", "rusqlite"} <= names, names
    assert not {"proptest", "testkit", "expect-test"} & names, names
    foreign = [it for it in told["components"] if not it["name"].startswith("epitome")]
    assert all(it.get("hashes") and it.get("licenses") for it in foreign), foreign


def version(out):
    return one(out, ".deb").name.split("_")[1]


def node():
    return ran("node", "-p", "process.arch").strip()


def main():
    words = trials.arguments(__doc__, session=trials.program, folder=Path)
    out = words.folder.resolve()
    shutil.rmtree(out, ignore_errors=True)
    tests = [
        the_sums_and_the_signature_hold,
        the_archive_runs_where_nothing_else_is,
        the_debian_package_installs,
        npm_installs_it,
        pip_installs_it,
        the_bill_names_what_is_in_the_program,
    ]
    return trials.run([(f"packages: {trials.named(it)}", lambda folder, it=it: it(out, words.session, folder)) for it in tests])


if __name__ == "__main__":
    sys.exit(main())
