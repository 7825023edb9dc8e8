//! The sessions that are shipped in `examples`.

use std::path::{Path, PathBuf};

/// One of them.
#[derive(Clone, Debug)]
pub struct Example {
    /// Its folder, which is named for the reader of it, and its file.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

impl Example {
    /// The name of the reader.
    pub fn kind(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// What is in the file.
    ///
    /// # Panics
    /// If it can't be read.
    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

/// All of them, by name.
///
/// # Panics
/// If the folder can't be read.
pub fn examples() -> Vec<Example> {
    let list = |folder: &Path| {
        let entries = folder.read_dir().expect("examples are part of the repository");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("listed").path()).collect();
        paths.sort();
        paths
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = list(&root).into_iter().filter(|path| path.is_dir()).flat_map(|path| list(&path));
    let example = |path: PathBuf| {
        let name = path.strip_prefix(&root).expect("it is in there").display().to_string();
        Example { name, path }
    };
    let all: Vec<Example> =
        files.map(example).filter(|example| !example.name.contains("/LICENSE")).collect();
    assert!(all.len() > 20, "{all:?}");
    all
}
