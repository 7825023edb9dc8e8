//! Any text in any format: it is refused, or comes out as it went in, and every law holds of what becomes of it.
#![no_main]

use epitome::view::View;
use epitome::wire;
use epitome_fuzz::{compactor, format};
use libfuzzer_sys::fuzz_target;
use serde_json::{Deserializer, Value};
use testkit::{accepted, laws};

fuzz_target!(|data: &[u8]| {
    let Some((format, rest)) = format(data) else { return };
    let Ok(text) = str::from_utf8(rest) else { return };
    let Ok(request) = wire::parse(format, text.to_owned()) else { return };
    let whole = View::whole(request.transcript.len());
    assert_eq!(wire::render(&request, &whole), text);
    let compactor = compactor(30, None);
    // The scripted provider reads with `serde_json`, which refuses lone surrogates.
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let Ok(outcome) = compactor.compact(&request) else { return };
    if !values.all(|value| value.is_ok()) {
        return;
    }
    if let Err(why) = laws::check_all(&request, &compactor) {
        // It minds more than the library has rules for, so what it refused before it may refuse after.
        let is_old =
            accepted(&outcome.base).is_err() && accepted(&outcome.request) == Err(why.clone());
        assert!(is_old, "{why}");
    }
});
