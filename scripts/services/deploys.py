"""The files of `deploy`: each is what its program takes, as far as the program is on this machine.

    deploys.py --epitome FILE
"""

import pathlib
import re
import shutil
import subprocess
import sys

import trials
import yaml

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"


def ran(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def flags(epitome):
    """The flags that `serve` knows."""
    return set(re.findall(r"--[a-z-]+", ran(epitome, "serve", "--help")))


def used(text):
    """The flags of a text that names some of `serve`."""
    return {flag.split("=")[0] for flag in re.findall(r"--[a-z-]+=?", text)}


def the_unit_is_one(words, folder):
    unit = (DEPLOY / "epitome.service").read_text()
    start = re.search(r"^ExecStart=(\S+) (.*)$", unit, re.M)
    assert used(start[2]) <= flags(words.epitome), start[0]
    if not shutil.which("systemd-analyze"):
        return
    # The program is where this machine has it.
    path = folder / "epitome.service"
    path.write_text(unit.replace(start[1], str(words.epitome)))
    said = ran("systemd-analyze", "verify", "--man=no", path)
    assert "epitome.service" not in said, said


def the_chart_is_one(words, folder):
    chart = DEPLOY / "helm" / "epitome"
    for name in ("Chart.yaml", "values.yaml"):
        assert isinstance(yaml.safe_load((chart / name).read_text()), dict), name
    deployment = (chart / "templates" / "deployment.yaml").read_text()
    # Those of the program alone stand in its list.
    assert used("\n".join(re.findall(r"^ +- (--.*)$", deployment, re.M))) <= flags(words.epitome)
    if shutil.which("helm"):
        ran("helm", "lint", "--strict", chart)
        for values in ([], ["--set", "tlsSecret=a,tokenSecret=b,flags={--window,32k}"]):
            told = list(yaml.safe_load_all(ran("helm", "template", "one", chart, *values)))
            assert {it["kind"] for it in told if it} == {"Deployment", "Service"}


def two_proxies_and_a_balancer(words, folder):
    told = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    proxies = {name: it for name, it in told["services"].items() if name.startswith("proxy-")}
    assert len(proxies) == 2, proxies
    balancer = (DEPLOY / "balancer.cfg").read_text()
    for name, proxy in proxies.items():
        assert f"server {name} {name}:7411" in balancer, name
        assert used(" ".join(proxy["command"])) <= flags(words.epitome), proxy["command"]
    if shutil.which("haproxy"):
        # Names of a network that isn't there.
        path = folder / "haproxy.cfg"
        path.write_text(re.sub(r"(server proxy-\d) proxy-\d", r"\1 127.0.0.1", balancer))
        ran("haproxy", "-c", "-f", path)


def the_image_runs_what_there_is(words, folder):
    lines = (DEPLOY / "Containerfile").read_text()
    assert used(re.search(r"^CMD (.*)$", lines, re.M)[1]) <= flags(words.epitome)
    assert re.findall(r"^(?:FROM|USER) (\S+)", lines, re.M)[1:] == ["scratch", "65532:65532"], lines


def main():
    words = trials.arguments(__doc__, epitome=trials.program)
    tests = [the_unit_is_one, the_chart_is_one, two_proxies_and_a_balancer, the_image_runs_what_there_is]
    return trials.run([(f"deploys: {test.__name__.replace('_', ' ')}", lambda folder, test=test: test(words, folder)) for test in tests])


if __name__ == "__main__":
    sys.exit(main())
