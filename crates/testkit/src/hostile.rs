//! Texts that were made to take long.

use serde_json::json;

/// Where a text may stand: in the words of a human, in a result, in a reply.
pub const PLACES: [&str; 3] = ["words", "result", "reply"];

/// What nobody writes, and each is awkward for something.
pub fn texts() -> Vec<(&'static str, String)> {
    let random = |alphabet: &str| random(alphabet, 1 << 20);
    let base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    vec![
        ("one letter", "a".to_owned()),
        ("one sign", "=".to_owned()),
        ("one quote", "\"".to_owned()),
        ("one backslash", "\\".to_owned()),
        ("one digit", "7".to_owned()),
        ("one emoji", "😀".to_owned()),
        ("one accent", "\u{301}".to_owned()),
        ("one joiner", "\u{200d}".to_owned()),
        ("spaces", " ".to_owned()),
        ("tabs", "\t".to_owned()),
        ("line ends", "\n".to_owned()),
        ("carriage returns", "\r\n".to_owned()),
        ("zero bytes", "\0".to_owned()),
        ("one random word", random("abcdefghijklmnopqrstuvwxyz")),
        ("base64", random(base64)),
        ("base64 in lines", lines(&random(base64), 76)),
        ("hexadecimal", random("0123456789abcdef")),
        ("digits", random("0123456789")),
        ("punctuation", random("!@#$%^&*()-=+[]{};:,.<>?/\\|\"'`~_")),
        ("white space", random(" \t\n\r")),
        ("one word a line", lines(&random("abcdefghijklmnopqrstuvwxyz"), 7)),
        ("one letter a line", "a\n".to_owned()),
        ("one letter, a space", "a ".to_owned()),
        ("full stops", "A. ".to_owned()),
        ("brackets open", "[".to_owned()),
        ("objects open", "{\"a\":".to_owned()),
        ("paths", "/a".to_owned()),
        ("long paths", "/usr/lib/x.rs:1:2: error: ".to_owned()),
        ("links", "https://a.b/".to_owned()),
        ("ids", "0f8fad5b-d9cb-469f-a165-70867728950e ".to_owned()),
        ("tags", "<a>".to_owned()),
        ("fences", "```\n".to_owned()),
        ("secrets begun", "sk-ant-".to_owned()),
        (
            "Chinese",
            random("的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子"),
        ),
        ("scripts mixed", random("aяא的あ한ไ😀éß漢ع़ð🏳️‍🌈🇩🇪 ")),
        ("emoji", random("😀😁😂🤣😃😄😅😆😉😊😋😎😍😘🥰😗😙😚🙂🤗🤩🤔🤨😐😑😶🙄😏😣😥")),
        ("rules", "You must never do it. ".to_owned()),
        ("questions", "Why? ".to_owned()),
        ("rules of their own", each(|n| format!("Never push to branch b{n} without asking.\n"))),
        ("labelled rules", each(|n| format!("RULE: keep port {n} open.\n"))),
        ("names of their own", each(|n| format!("fooBar{n} get_value_{n}\n"))),
        ("variables", each(|n| format!("EXPORT_VAR_{n}=value{n}\n"))),
        ("links of their own", each(|n| format!("https://example.com/p/{n}?q={n}\n"))),
        (
            "errors of their own",
            each(|n| format!("error[E{n}]: mismatched types at src/x{n}.rs:{n}:7\n")),
        ),
        ("changes", each(|n| format!("@@ -{n},7 +{n},8 @@\n-old {n}\n+new {n}\n"))),
        ("checkpoints open", "<checkpoint abc123>\n".to_owned()),
        ("marks of recalls", "[recalled 3f2a9c1b7d20] x\n".to_owned()),
        ("corrections", (1000..).map(|n| format!("No, {n}. ")).take(100_000).collect()),
    ]
}

/// A short session of OpenAI Chat in which `text` stands in the middle, at one of [`PLACES`] by its index.
pub fn request(place: usize, text: &str) -> String {
    let at = |which: usize, usual: &'static str| if which == place { text } else { usual };
    let call = json!({"id": "c1", "type": "function",
        "function": {"name": "Bash", "arguments": "{\"command\":\"make\"}"}});
    json!([
        {"role": "user", "content": "Make the build work, and keep src/main.rs as it is."},
        {"role": "assistant", "content": "I'll look at it."},
        {"role": "user", "content": at(0, "Here is what I have.")},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": at(1, "ok")},
        {"role": "assistant", "content": at(2, "It was built.")},
        {"role": "user", "content": "What is left?"},
        {"role": "assistant", "content": "Nothing that I know of."},
        {"role": "user", "content": "Go on."},
    ])
    .to_string()
}

/// `text` again and again, up to so many bytes.
pub fn filled(text: &str, size: usize) -> String {
    let mut filled = text.repeat(size / text.len() + 1);
    let end = (0..=size).rev().find(|end| filled.is_char_boundary(*end)).unwrap_or(0);
    filled.truncate(end);
    filled
}

/// A megabyte of lines that differ by a number.
fn each(line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for at in 1000.. {
        text += &line(at);
        if text.len() >= 1 << 20 {
            break;
        }
    }
    text
}

fn lines(text: &str, width: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(width).map(|line| line.iter().collect::<String>() + "\n").collect()
}

/// `size` bytes of characters of an alphabet, the same in every run.
fn random(alphabet: &str, size: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = 88_172_645_463_325_252_u64;
    let mut text = String::new();
    while text.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push(letters[(state >> 20) as usize % letters.len()]);
    }
    text
}
