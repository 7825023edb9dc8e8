//! What breaks a rule and what just doesn't, side by side: each breach, where it is, and how it is mended.

mod body;
mod objects;

use epitome::wire;
use expect_test::expect_file;
use testkit::page;

#[test]
fn what_is_found_is_as_the_pages_say() {
    for file in
        [expect_file!["bedrock.txt"], expect_file!["gemini.txt"], expect_file!["responses.txt"]]
    {
        page::check(&file, |case| {
            let request = case.request(case.format().0);
            let found = wire::check(&request);
            let verdict = testkit::accepted(&request);
            assert_eq!(found.is_empty(), verdict.is_ok(), "{found:?} but {verdict:?}");
            let told = found.iter().map(|found| {
                let wire::Finding { rule, entry, detail, mend, .. } = found;
                format!("{rule} in {entry}: {detail} {mend:?}\n")
            });
            told.collect()
        });
    }
}
