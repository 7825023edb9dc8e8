//! What is made from the contract is up to date.

use std::fs;
use std::path::{Path, PathBuf};

/// Runs with `UPDATE_EXPECT=1` to make it anew.
#[test]
fn what_is_made_from_the_contract_is_of_today() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let compiled = protox::compile(["epitome/v1/compactor.proto"], [root.join("proto")]);
    let compiled = compiled.expect("the contract is well-formed");
    let mut described = compiled.clone();
    described.file.iter_mut().for_each(|file| file.source_code_info = None);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    tonic_prost_build::configure()
        .out_dir(&folder)
        .build_transport(true)
        .compile_fds(compiled)
        .expect("it can be written");
    let made = fs::read_to_string(folder.join("epitome.v1.rs")).expect("it was written");
    let (client, server) = (module("client"), module("server"));
    let (messages, rest) = made.split_once(&client).expect("there is a client");
    let (client_body, server_body) = rest.split_once(&server).expect("there is a server");
    let outside = [client, server].map(|line| line.replace(" {\n", ";\n")).concat();
    let source = root.join("src/v1");
    held(&source.join("mod.rs"), format!("{HEAD}{messages}{outside}").as_bytes());
    for (name, body) in [("client", client_body), ("server", server_body)] {
        let body = body.trim_end().strip_suffix('}').expect("the module ends").trim_end();
        held(&source.join(format!("compactor_{name}.rs")), format!("{HEAD}{body}\n").as_bytes());
    }
    let bytes = prost::Message::encode_to_vec(&described);
    held(&source.join("descriptors.bin"), &bytes);
}

const HEAD: &str = "//! Made from proto/epitome/v1/compactor.proto; `UPDATE_EXPECT=1` makes it anew \
                    (tests/it/contract.rs).\n\n";

fn module(name: &str) -> String {
    format!("/// Generated {name} implementations.\npub mod compactor_{name} {{\n")
}

fn held(path: &Path, made: &[u8]) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(path, made).expect("it can be written");
    }
    let is = fs::read(path).expect("it is there");
    let what = path.file_name().unwrap_or_default().to_string_lossy();
    assert!(is == made, "{what} isn't what the contract says: run with UPDATE_EXPECT=1");
}
