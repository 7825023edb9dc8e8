//! Whatever stands in a checkpoint's fence: it is read without harm, and what is made of it keeps every law.
#![no_main]

use epitome::checkpoint;
use epitome::transcript::ContentId;
use epitome::wire::{self, Format};
use epitome_fuzz::compactor;
use libfuzzer_sys::fuzz_target;
use testkit::laws;

fuzz_target!(|data: &[u8]| {
    let Ok(body) = str::from_utf8(data) else { return };
    let _ = checkpoint::read(body);
    let nonce = ContentId::of_text(body).short();
    let text = format!("<checkpoint {nonce}>\n{body}</checkpoint {nonce}>");
    checkpoint::read(&text).expect("the fence is intact");
    let long = "and so on ".repeat(400);
    let quoted = serde_json::to_string(&text).expect("a string");
    let request = format!(
        r#"[{{"role":"user","content":"begin"}},{{"role":"user","content":{quoted}}},{{"role":"assistant","content":"{long}"}},{{"role":"user","content":"go on"}}]"#
    );
    let request = wire::parse(Format::OpenaiChat, request).expect("it is JSON");
    let compactor = compactor(25, None);
    laws::check_all(&request, &compactor).unwrap();
});
