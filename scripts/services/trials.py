"""What the tests of this folder have in common: programs as arguments, and their results as lines."""

import argparse
import pathlib
import tempfile
import traceback


def program(path):
    """A program's or file's path that holds from any folder."""
    return str(pathlib.Path(path).resolve())


def arguments(doc, **flags):
    """What the command line says of `flags`, each of them wanted, with how its word is read."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag, read in flags.items():
        parser.add_argument(f"--{flag}", required=True, type=read)
    return parser.parse_args()


def named(test):
    return test.__name__.replace("_", " ")


def run(tests):
    """Runs each of the tests, pairs of a name and a function of an empty folder; the exit code."""
    failed = 0
    for name, test in tests:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(pathlib.Path(folder))
                print(f"test {name} ... ok", flush=True)
            except Exception:
                traceback.print_exc()
                print(f"test {name} ... FAILED", flush=True)
                failed += 1
    state = "FAILED" if failed else "ok"
    print(f"\ntest result: {state}. {len(tests) - failed} passed; {failed} failed")
    return 1 if failed else 0
