"""The Python package, as it is released: put into a fresh environment, tested with every library, and timed.

    python.py --epitome FILE --folder FOLDER --wanted FILE --packages FOLDER

`--folder` keeps the environment from one run to the next. `--wanted` are the libraries. `--packages` has the wheel, which is
built where none is there.
"""

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import trials

ROOT = Path(__file__).resolve().parents[2]
CRATE = ROOT / "crates/epitome-py"
MOST = 15_000_000


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, **more)


def environment(folder, wanted):
    """The program `python` of an environment with the libraries that are wanted."""
    python = folder / "bin/python"
    noted = folder / "wanted.txt"
    if not noted.is_file() or noted.read_bytes() != Path(wanted).read_bytes():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", wanted)
        shutil.copy(wanted, noted)
    return python


def install(python, wheel):
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--force-reinstall", wheel)


def made(python, out):
    """The wheel, where no release could be built."""
    shutil.rmtree(out, ignore_errors=True)
    run(python, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps", "-w", out, CRATE)
    return out.glob("*.whl")


def apart(folder):
    """The tests and papers in a folder of their own, so that what is tested is what was installed."""
    for name in ("tests", "README.md", "pyproject.toml"):
        source = CRATE / name
        shutil.copytree(source, folder / name) if source.is_dir() else shutil.copy(source, folder / name)
    return folder


def tests(python, epitome, folder):
    """All tests, and the examples of the README and of every module."""
    package = run(python, "-c", "import epitome; print(epitome.__path__[0])", capture_output=True, text=True).stdout.strip()
    assert Path(package).is_relative_to(python.parent.parent), package
    # LiteLLM would ask a server for prices when it is imported.
    offline = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    surroundings = {**os.environ, **offline, "EPITOME": epitome, "EPITOME_ROOT": str(ROOT)}
    surroundings.pop("PYTHONPATH", None)
    pytest = [python, "-m", "pytest", "-q", "-W", "ignore", "-p", "no:cacheprovider"]
    run(*pytest, "README.md", "tests", cwd=apart(folder), env=surroundings)
    run(*pytest, "--import-mode=importlib", package, "-c", folder / "pyproject.toml", cwd=folder, env=surroundings)


def style(python, folder):
    """Types and form."""
    run(python, "-m", "mypy", "python/epitome", "tests", "--cache-dir", folder, cwd=CRATE)
    run(python, "-m", "mypy.stubtest", "epitome._native", cwd=folder)
    run(python, "-m", "ruff", "check", "--no-cache", ".", cwd=CRATE)
    run(python, "-m", "ruff", "format", "--no-cache", "--check", ".", cwd=CRATE)


def small(built):
    """The wheel is small, for every Python from 3.10 on, and nothing that it needs has to be installed."""
    size = built.stat().st_size
    print(f"wheel {size / 1e6:.1f} MB: {built.name}", flush=True)
    assert size < MOST and "cp310-abi3" in built.name, built.name
    with zipfile.ZipFile(built) as files:
        names = files.namelist()
        metadata = next(name for name in names if name.endswith("METADATA"))
        assert "\nName: epitome-context\n" in files.read(metadata).decode()
        assert {name.rsplit("/", 1)[1] for name in names if "/licenses/" in name} == {"LICENSE-MIT", "LICENSE-APACHE"}, names
        assert "epitome/py.typed" in names and "epitome/_native.pyi" in names, names
        assert "Requires-Dist" not in files.read(metadata).decode(), "it needs other packages"


def speed(python):
    """How long it takes, beside LangChain and Python's own `json`."""
    run(python, CRATE / "tests/speed.py")


def lazy(python):
    """No adapter, and no framework, is imported before it is asked for."""
    code = "import sys, json, epitome; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(run(python, "-c", code, capture_output=True, text=True).stdout)
    strange = [name for name in loaded if name.startswith("epitome.adapters") or name.split(".")[0] in ("asyncio", "langchain")]
    assert not strange, strange


def main():
    words = trials.arguments(__doc__, epitome=trials.program, folder=Path, wanted=trials.program, packages=Path)
    folder = words.folder.resolve()
    python = environment(folder, words.wanted)
    released = list(words.packages.resolve().glob("epitome_context-*.whl"))
    [built] = released or made(python, folder / "wheels")
    install(python, built)
    return trials.run(
        [
            ("python: wheel", lambda _: small(built)),
            ("python: style", lambda folder: style(python, folder)),
            ("python: tests", lambda folder: tests(python, words.epitome, folder)),
            ("python: nothing is imported before it is used", lambda _: lazy(python)),
            ("python: speed", lambda _: speed(python)),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
