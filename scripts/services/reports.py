"""The pages of `epitome report --html` and `epitome stats --html`, looked at by a real browser: Chromium, without a network.

    reports.py --epitome FILE --chromium FILE --session FILE

A session is recorded further behind a compaction of the agent's own and one of Epitome's. Each page is drawn as on
a phone and on a desk, light and dark; KEEP in the environment names a folder for the pictures.
"""

import json
import os
import struct
import subprocess
import sys
import zlib

import trials

SIZES = {"phone": (390, 2700), "desk": (1280, 2050)}
# As `preferredColorScheme` counts them, and the colour of the page.
SCHEMES = {"light": (1, (255, 255, 255)), "dark": (0, (13, 17, 23))}


def newest(rows, key):
    return next(row[key] for row in map(json.loads, reversed(rows)) if row.get(key))


def told(rows):
    """Where the session may be cut: before a reply of the model's."""
    return [
        at
        for at in range(1, len(rows))
        if json.loads(rows[at]).get("type") == "assistant" and json.loads(rows[at - 1]).get("type") == "user"
    ]


def behind(rows, part):
    """`part` as it goes on with `rows`, without what the provider reported: it saw no compaction."""
    first = json.loads(part[0])
    first["parentUuid"] = newest(rows, "uuid")
    rows += [json.dumps(first) + "\n"] + part[1:]


def without_usage(line):
    row = json.loads(line)
    if isinstance(row.get("message"), dict):
        row["message"].pop("usage", None)
    return json.dumps(row) + "\n"


def lived(epitome, session, folder):
    """The session, compacted twice on its way."""
    with open(session) as file:
        rows = [without_usage(line) for line in file]
    cuts = told(rows)
    one, two = (next(cut for cut in cuts if cut >= len(rows) * share) for share in (0.45, 0.8))
    out = rows[:one]
    same = {key: newest(out, key) for key in ("sessionId", "cwd", "version")}
    mark = {"type": "system", "subtype": "compact_boundary", "uuid": "c0", "parentUuid": None} | same
    mark |= {"logicalParentUuid": newest(out, "uuid"), "content": "Conversation compacted"}
    said = "This session is being continued. The user asked for a plugin; a specification was written and reviewed."
    summary = {"type": "user", "uuid": "c1", "parentUuid": "c0", "isCompactSummary": True} | same
    summary |= {"message": {"role": "user", "content": said}}
    out += [json.dumps(row) + "\n" for row in (mark, summary)]
    behind(out, rows[one:two])
    path = folder / "session.jsonl"
    path.write_text("".join(out))
    words = ["compact", str(path), "--target", "35%", "--apply", "--archive", str(folder / "store")]
    subprocess.run([epitome, *words], check=True, capture_output=True)
    out = path.read_text().splitlines(keepends=True)
    behind(out, rows[two:])
    path.write_text("".join(out))
    return path


def drawn(chromium, page, picture, size, scheme, folder):
    """What the browser says while it draws the page."""
    words = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr"]
    words += [f"--user-data-dir={folder / 'profile'}", f"--blink-settings=preferredColorScheme={scheme}"]
    words += [f"--window-size={size[0]},{size[1]}", f"--screenshot={picture}", page.as_uri()]
    alone = ["unshare", "-rn"] if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0 else []
    for _ in range(3):
        # On a busy machine it gives up now and then, without a word.
        ran = subprocess.run(alone + words, capture_output=True, text=True, timeout=120)
        if picture.exists():
            return ran.stderr
    raise AssertionError(ran.stderr[-2000:])


def looked_at(picture):
    """Width, height and the colour of the first point of a PNG."""
    data = picture.read_bytes()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind) in ((8, 2), (8, 6)), "as Chromium writes them"
    packed, at = b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        packed += data[at + 8 : at + 8 + length] if name == b"IDAT" else b""
        at += length + 12
    # Behind the filter of the first row, which changes nothing of its first point.
    return width, height, tuple(zlib.decompress(packed)[1:4])


def on_phones_and_desks(words, folder):
    session = lived(words.epitome, words.session, folder)
    told = subprocess.run([words.epitome, "report", str(session), "--json"], check=True, capture_output=True)
    told = json.loads(told.stdout)
    assert [done["by_epitome"] for done in told["compactions"]] == [False, True], told["compactions"]
    assert told["compactions"][0]["human"]["lost"], "the agent's own summary quotes nobody"
    assert not told["compactions"][1]["human"]["lost"], "Epitome's quotes all"
    report = folder / "report.html"
    subprocess.run([words.epitome, "report", str(session), "--html", "-o", str(report)], check=True, capture_output=True)
    stats = folder / "stats.html"
    subprocess.run([words.epitome, "stats", str(session), "--html", str(stats)], check=True, capture_output=True)
    for page in (report, stats):
        for device, size in SIZES.items():
            for scheme, (number, colour) in SCHEMES.items():
                picture = folder / f"{page.stem}-{device}-{scheme}.png"
                said = drawn(words.chromium, page, picture, size, number, folder)
                refused = [line for line in said.splitlines() if "CONSOLE" in line or "Refused" in line]
                assert not refused, refused
                assert looked_at(picture) == (*size, colour), (picture.name, looked_at(picture))
                assert picture.stat().st_size > 20_000, f"{picture.name} is nearly empty"
                if os.environ.get("KEEP"):
                    (trials.pathlib.Path(os.environ["KEEP"]) / picture.name).write_bytes(picture.read_bytes())


def main():
    words = trials.arguments(__doc__, epitome=trials.program, chromium=str, session=trials.program)
    test = ("reports: on phones and desks", lambda folder: on_phones_and_desks(words, folder))
    return trials.run([test])


if __name__ == "__main__":
    sys.exit(main())
