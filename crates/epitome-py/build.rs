//! What the linker has to be told of a module whose symbols an interpreter brings: something on macOS only.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
