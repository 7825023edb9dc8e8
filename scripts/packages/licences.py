"""The licences of what is in the program, whose texts go with every copy of it."""

from pathlib import Path

import ziglang

# As the files are called in which packages have them.
NAMES = ("licen", "copying", "copyright", "notice", "unlicense")
# What is linked and is no package. The C library's own notice comes with the compiler.
MORE = f"""\
The program also holds the Rust standard library (MIT or Apache-2.0), SQLite (in libsqlite3-sys; in the public domain), and musl:

{(Path(ziglang.__file__).parent / "lib/libc/musl/COPYRIGHT").read_text()}"""


def notices(packages):
    """Each licence's text once, after the names of the packages that have it."""
    having = {}
    for package, _ in packages:
        told = f"{package['name']} {package['version']} ({package.get('license') or 'see below'})"
        for text in texts(Path(package["manifest_path"]).parent) or [""]:
            having.setdefault(text, []).append(told)
    parts = [MORE]
    for text, names in sorted(having.items(), key=lambda it: it[1]):
        parts.append("\n".join(sorted(set(names))) + (f"\n\n{text}" if text else "\n"))
    return f"\n{'-' * 80}\n".join(parts)


def texts(folder):
    files = sorted(it for it in folder.iterdir() if it.is_file() and it.name.lower().startswith(NAMES))
    return [it.read_text(errors="replace").strip() + "\n" for it in files]
