use epitome_recordings::{Kind, Options, Reach, Run, read};
#[test]
fn look() {
    for f in ["session-9eda1058", "session-3fe1b6bc", "agent-a485154", "edge_cases"] {
        let s = std::fs::read_to_string(format!(
            "{}/../../examples/claude-code/{f}.jsonl",
            env!("CARGO_MANIFEST_DIR")
        ))
        .unwrap();
        let t = std::time::Instant::now();
        let n = s.len();
        let r = read(Kind::ClaudeCode, s, Options { reach: Reach::Whole, run: Run::Only }).unwrap();
        println!("{f} {:?} for {n}", t.elapsed());
        println!(
            "{f} entries {} sides {} comp {} model {:?}",
            r.request.transcript.len(),
            r.sidechains.len(),
            r.compactions,
            r.request.model()
        );
        for s in &r.skipped {
            println!("  {} {}", s.row, s.why);
        }
        for x in epitome::wire::check(&r.request) {
            println!("  CHECK {} {:?} {}", x.entry, x.rule, x.detail);
        }
        for e in r.request.transcript.entries() {
            println!(
                "   {:?} {:?} {:?} {}",
                e.role(),
                e.origin(),
                e.parts().map(|p| p.kind()).collect::<Vec<_>>(),
                e.raw().chars().take(80).collect::<String>()
            );
        }
    }
}
