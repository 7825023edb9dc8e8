"""Whole compactors in other processes: the Python example of the contract, and the binary's own, each asked by the other side.

    sidecars.py --epitome FILE --example FILE --session FILE
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys

import trials


def environment(folder):
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"}


@contextlib.contextmanager
def serving(words, folder):
    """The address of a sidecar that is started with `words`."""
    process = subprocess.Popen(words, env=environment(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        line = process.stdout.readline()
        assert line.startswith("serving grpc:http://127.0.0.1:"), line
        yield line.split()[1]
    finally:
        process.kill()
        process.communicate()


def run(words, folder, *more):
    command = [words.epitome, *more]
    ran = subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def example_compacts(words, folder):
    with serving([sys.executable, words.example, "0"], folder) as address:
        told = run(words, folder, "doctor", "--online", "--summarizer", address)
        assert "it is there, and may take 30 s" in told, told
        asked = ["--summarizer", address, "--receipt", "receipt", "-o", "out"]
        run(words, folder, "compact", words.session, "--target", "40%", *asked)
    run(words, folder, "check", "out")
    receipt = json.loads((folder / "receipt").read_text())
    assert receipt["fallbacks"] == [] and receipt["outcome"] == "target", receipt
    assert receipt["steps"][0]["strategy"] == address, receipt["steps"]
    assert receipt["summary"]["by"] == address, receipt["summary"]
    assert "The tools used in it: " in (folder / "out").read_text()


def binary_answers_others(words, folder):
    import grpc

    contract = pathlib.Path(words.example).parent.parent / "proto"
    sys.path.insert(0, str(contract))
    pb2, service = grpc.protos_and_services("epitome/v1/compactor.proto")
    with serving([words.epitome, "sidecar", "--listen", "127.0.0.1:0"], folder) as address:
        base, name = address.removeprefix("grpc:http://").split("#")
        with grpc.insecure_channel(base) as channel:
            stub = service.CompactorStub(channel)
            (offer,) = stub.Describe(pb2.DescribeRequest(), timeout=5).compactors
            assert (offer.name, offer.timeout_ms) == (name, 120_000), offer
            try:
                stub.Compact(pb2.CompactRequest(name=name, format="anthropic", body="{}"), timeout=5)
                raise AssertionError("a job without a target was taken")
            except grpc.RpcError as error:
                assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error


TESTS = [example_compacts, binary_answers_others]


def main():
    words = trials.arguments(__doc__, epitome=trials.program, example=trials.program, session=trials.program)
    tests = [(f"sidecars: {trials.named(test)}", lambda folder, test=test: test(words, folder)) for test in TESTS]
    return trials.run(tests)


if __name__ == "__main__":
    sys.exit(main())
