"""A whole compactor in about fifty lines: folds everything but the newest messages, and says what was asked.

    pip install grpcio grpcio-tools
    python sidecar.py 50051
    epitome compact session.jsonl --summarizer grpc:http://127.0.0.1:50051#newest
"""

import concurrent.futures
import pathlib
import sys

import grpc

CONTRACT = pathlib.Path(__file__).resolve().parent.parent / "proto"
sys.path.insert(0, str(CONTRACT))
pb2, service = grpc.protos_and_services("epitome/v1/compactor.proto")


def newest(asked):
    """Fates: what may leave is folded, oldest first, until the rest takes two thirds of the target."""
    fates = [pb2.FATE_KEEP] * len(asked.entries)
    units = {}
    for at, entry in enumerate(asked.entries):
        units.setdefault(entry.unit, []).append(at)
    tokens = asked.budget.tokens
    for entries in units.values():
        if tokens <= asked.budget.target * 2 // 3:
            break
        if all(asked.entries[at].may_leave for at in entries):
            for at in entries:
                fates[at] = pb2.FATE_FOLD
                tokens -= asked.entries[at].tokens
    folded = [entry for entry, fate in zip(asked.entries, fates) if fate == pb2.FATE_FOLD]
    tools = sorted({part.name for entry in folded for part in entry.parts if part.kind == "call"})
    summary = f"Earlier work on the task is folded. The tools used in it: {', '.join(tools) or 'none'}."
    return pb2.Compacted(fates=fates, summary=summary if folded else "")


class Compactor(service.CompactorServicer):
    def Describe(self, request, context):
        about = "keeps the newest messages"
        return pb2.DescribeResponse(compactors=[pb2.Described(name="newest", timeout_ms=30_000, about=about)])

    def Compact(self, request, context):
        if request.name != "newest":
            context.abort(grpc.StatusCode.NOT_FOUND, "there is only one: newest")
        return pb2.CompactResponse(compacted=newest(request))


def main():
    sizes = [("grpc.max_receive_message_length", 64 << 20), ("grpc.max_send_message_length", 64 << 20)]
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), options=sizes)
    service.add_CompactorServicer_to_server(Compactor(), server)
    port = server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}")
    server.start()
    print(f"serving grpc:http://127.0.0.1:{port}#newest", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
