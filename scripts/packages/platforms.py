"""The platforms that the program is built for, and what each way of packaging calls them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Platform:
    triple: str
    """Rust's name, also of the archive."""
    debian: str
    npm: str
    """`process.arch` of Node."""
    wheel: tuple[str, ...]
    """The program is static: it runs with either C library."""
    shared: str
    """Rust's name with a shared C library, which what Python loads needs."""


ALL = (
    Platform("x86_64-unknown-linux-musl", "amd64", "x64", ("manylinux2014_x86_64", "musllinux_1_1_x86_64"), "x86_64-unknown-linux-gnu"),
    Platform("aarch64-unknown-linux-musl", "arm64", "arm64", ("manylinux2014_aarch64", "musllinux_1_1_aarch64"), "aarch64-unknown-linux-gnu"),
)
