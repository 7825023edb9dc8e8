//! Readers of recordings, against real files and hand-made ones.

mod branches;
mod compactions;
mod damage;
mod notation;
mod openai;
mod opening;
mod real_sessions;

use epitome_recordings::{Kind, Options, Reach, Recording, Run, read};

const LAST: Options = Options { reach: Reach::SinceLastCompaction, run: Run::Only };
const WHOLE: Options = Options { reach: Reach::Whole, run: Run::Only };

/// A shipped session.
fn example(path: &str) -> String {
    let path = format!("{}/../../examples/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).expect("examples are shipped")
}

fn recording(kind: Kind, source: String, options: Options) -> Recording {
    read(kind, source, options).expect("a good recording")
}
