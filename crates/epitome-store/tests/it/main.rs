//! The store: laws of archives, sessions, what is forgotten, what is refused, what survives a crash.

#[cfg(feature = "postgres")]
mod encrypted;
mod folder;
mod forget;
mod laws;
#[cfg(feature = "postgres")]
mod postgres;
mod restored;
mod robust;
mod sessions;
mod states;
mod tenants;

use std::fmt::Write as _;
use std::path::PathBuf;

use epitome::{Options, Outcome, Request, wire};
use epitome_store::{Access, Document, Session, Store, StoreError};
use tempfile::TempDir;

/// Where a store is in a test: a folder that is gone in the end, or a database of a server.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) url: Option<String>,
}

impl Place {
    /// On the server that `EPITOME_POSTGRES` names; where it names none, on the disk.
    pub(crate) fn new() -> Self {
        #[cfg(feature = "postgres")]
        if let Ok(server) = std::env::var("EPITOME_POSTGRES") {
            return Place { url: Some(postgres::new_database(&server)), ..Place::on_disk() };
        }
        Place::on_disk()
    }

    pub(crate) fn on_disk() -> Self {
        Place { folder: tempfile::tempdir().expect("a temporary folder"), url: None }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    pub(crate) fn open(&self) -> Store {
        self.opened(Access::Write).expect("a store")
    }

    pub(crate) fn opened(&self, access: Access) -> Result<Store, StoreError> {
        match &self.url {
            Some(url) => Store::connect(url, None, access),
            None => Store::open(&self.path(), access),
        }
    }

    /// All bytes of all files.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.path()).expect("it is there");
        let read = |file: std::fs::DirEntry| std::fs::read(file.path()).expect("readable");
        files.flat_map(|file| read(file.expect("listed"))).collect()
    }
}

/// A request of `turns` questions and answers, each of which says where it is.
pub(crate) fn talk(about: &str, turns: usize) -> String {
    let mut body = String::from("{\"model\":\"gpt-6-sol\",\"messages\":[");
    body.push_str("{\"role\":\"system\",\"content\":\"Be brief.\"}");
    for turn in 0..turns {
        let filler = "and so on, at some length, as it is in such talks ".repeat(6);
        write!(
            body,
            ",\n{{\"role\":\"user\",\"content\":\"{about} question{turn}: what of marker{turn}x?\"}},\n\
             {{\"role\":\"assistant\",\"content\":\"{about} answer{turn}: {filler}\"}}"
        )
        .expect("a string takes all");
    }
    body.push_str("],\"stream\":true}");
    body
}

pub(crate) fn parsed(body: &str) -> Request {
    wire::detect(body.to_owned()).expect("a request")
}

pub(crate) fn take_in(store: &Store, body: &str) -> Session {
    take_in_of(store, body, "")
}

pub(crate) fn take_in_of(store: &Store, body: &str, project: &str) -> Session {
    let request = parsed(body);
    let document =
        Document { raw: body.as_bytes(), request: &request, source: "talk.json", project };
    store.take_in(&document).expect("kept")
}

pub(crate) fn compact(body: &str, session: &Session) -> Outcome {
    let options = Options { target: "40%".parse().expect("a target"), ..Options::default() };
    let compactor = testkit::compactor(options, "o200k");
    let outcome = compactor.compact_into(&parsed(body), session).expect("compacted");
    assert!(!outcome.view.is_whole());
    outcome
}
