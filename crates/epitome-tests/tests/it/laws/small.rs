//! Small cases in which a law was broken, found by chance.

#![expect(clippy::invisible_characters, reason = "texts are as chance wrote them")]

use epitome::{Format, Options, Pin, Tail, Task};

use super::hold;

fn lines(n: usize) -> String {
    "lorem elit labore veniam amet tempor\\n".repeat(n)
}

/// The note in place of a picture was a text beside the person's words only for the next compaction, which cut these to less.
#[test]
fn words_beside_a_picture_share_their_room_with_its_note() {
    let words = "veniam amet tempor aliqua ipsum sed et quis ".repeat(8);
    let body = format!(
        r#"{{"previous_response_id":"r","input":[
{{"role":"user","content":"L"}},
{{"role":"user","content":[{{"type":"input_image","image_url":"d"}},{{"type":"input_text","text":"{words}"}}]}},
{{"role":"user","content":"o"}}]}}"#
    );
    hold(Format::OpenaiResponses, &body, 1..60, &Options::default());
    let words = "繀ֵж窌Є;Ц鸀‍‎辿ֻЌ​ַЫ‏🕻睱‌‌秔5🥲ש‌𤧙奡𨑚🦕💏ז🧪п🥝渹𨪾‍荴Àц";
    let body = format!(
        r#"{{"messages":[
{{"role":"user","content":[{{"image":{{}}}},{{"text":"{words}"}}]}},
{{"role":"assistant","content":[{{"toolUse":{{}}}}]}},
{{"role":"user","content":[{{"text":"o"}}]}}]}}"#
    );
    let options = Options { task: Task::Fold, ..Options::default() };
    hold(Format::Bedrock, &body, 1..60, &options);
}

/// The checkpoint was among the newest tokens only once it stood, so that arguments before it were old only then.
#[test]
fn a_checkpoint_makes_nothing_older() {
    let body = format!(
        r#"{{"model":"claude-opus-4-8","messages":[
{{"role":"user","content":"Begin."}},
{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_01","name":"Read","input":{{}}}}]}},
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_01","content":[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"i"}}}}]}}]}},
{{"role":"assistant","content":[{{"type":"compaction","content":"x"}}]}},
{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_02","name":"Read","input":{{"q":"{}"}}}}]}},
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_02","content":"ok"}}]}},
{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_03","name":"Read","input":{{}}}}]}},
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_03","content":"upload_chunk(LruCache: &str) -> Result<u32, Error> {{\n{}"}}]}},
{{"role":"assistant","content":"D"}}]}}"#,
        "д𡌖ד̽э֦𩓬𡅞🤥𧚶🦍תbм🌕".repeat(4),
        "    2\\t let is_expired = TokenStream(\\\"lib/http/retry.py\\\", 569)?;\\n".repeat(6),
    );
    let options = Options { tail: Tail::Tokens(177), ..Options::default() };
    hold(Format::Anthropic, &body, 5..90, &options);
}

/// An excerpt of what a failed command wrote left a shorter stub than all of it, so that it became one only later.
#[test]
fn an_excerpt_of_a_failure_is_no_stub_later() {
    let body = format!(
        r#"{{"model":"gpt-5.4","input":[
{{"type":"shell_call","action":{{"commands":["Use 2 retries, never 3."],"timeout_ms":null}},"call_id":"shell_1"}},
{{"role":"user","content":"<"}},
{{"type":"shell_call_output","call_id":"shell_1","output":[{{"stdout":"","stderr":"1: {}","outcome":{{"type":"exit","exit_code":1}}}},{{"stdout":"done","stderr":"","outcome":{{"type":"exit","exit_code":1}}}}]}},
{{"type":"compaction_trigger"}}]}}"#,
        lines(40)
    );
    hold(Format::OpenaiResponses, &body, 1..60, &Options::default());
}

/// A pin was taken for the words of the checkpoint that quoted it, so that the message that had been held for it left, and the
/// checkpoint with it.
#[test]
fn a_pin_holds_no_checkpoint_that_quotes_it() {
    let call = |id: u32, query: &str| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"{query}"}},{{"type":"tool_use","id":"toolu_{id}","name":"search","input":{{"q":["{query}"]}}}}]}}"#
        )
    };
    let result = |id: u32, text: &str| {
        format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{id}","content":"{text}"}}]}}"#
        )
    };
    let said = "Use 2 retries, never 3.";
    let body = format!(
        r#"{{"model":"claude-opus-4-8","messages":[
{{"role":"user","content":[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"i"}}}},{{"type":"text","text":"ok"}}]}},
{},{},{},{},
{{"role":"user","content":"Fix the build."}},
{{"role":"user","content":"see?"}}]}}"#,
        call(1, said),
        result(1, &lines(3)),
        call(2, said),
        result(2, &lines(90)),
    );
    let options = Options {
        pins: vec![Pin::Text("Use 2 retrie".to_owned())],
        tail: Tail::Turns(0),
        ..Options::default()
    };
    hold(Format::Anthropic, &body, 3..80, &options);
}

/// A checkpoint that had to lead what stayed was taken out of its message, which was nothing else, and nobody took it on.
#[test]
fn a_checkpoint_that_is_all_of_a_held_message_is_taken_on() {
    let body = r#"{"messages":[
{"role":"system","content":[{"text":"O"}]},
{"role":"assistant","content":[{"toolUse":{"toolUseId":"c"}}]},
{},
{"role":"assistant","content":[{"toolUse":{}}]},
{"role":"user","content":[{"text":"f"}]},
{"role":"assistant","content":[{"text":"D"}]},
{"role":"user","content":[{"text":"׈íאж̬🦬װͫͧ鰕𦃲🤷̙挟̖‎XЙ‏📤¦鯲֑э̀𠡿‏闡湢🙅‌​𠊗Љ🖵d咩ÓЫ茭🧭😽🧃🌀ОВ"}]}]}"#;
    hold(Format::Bedrock, body, 1..60, &Options::default());
}

/// How a call had failed was longer than the room for its line, so that nothing named it.
#[test]
fn a_deed_is_named_however_long_its_failure() {
    let body = r#"{"model":"gpt-5.4","input":[
{"id":"p"},
{"call_id":"cust_5","type":"custom_tool_call","name":"Edit","input":"Why does test_upload fail?"},
{"call_id":"cust_5","output":"v0.494.0 (lib/http/retry.py)\n   Compiling max_retries v0.855.0 (src/main.rs)\n\u001b[31mFAILED\u001b[0m internal/cache/lru.go::test_parseHeader - AssertionError: 193 ","type":"custom_tool_call_output"},
{"type":"compaction_trigger"}]}"#;
    hold(Format::OpenaiResponses, body, 1..100, &Options::default());
}

/// Found by chance: secrets were looked for in the JSON of a result, where an escape in a word passed for one, so that a name
/// was cut before it.
#[test]
fn a_name_with_an_escape_in_it_is_whole() {
    let line = r#"log.debug(\"request\", TokenS\u0074ream[502])\n"#;
    let body = format!(
        r#"{{"contents":[
{{"role":"user","parts":[{{"text":"Go."}}]}},
{{"role":"model","parts":[{{"functionCall":{{"name":"Read","args":{{"code":"{line}"}}}}}}]}},
{{"role":"user","parts":[{{"functionResponse":{{"name":"Read","response":{{"lines":1,"result":"{line}{}"}}}}}}]}},
{{"role":"user","parts":[{{"text":"Go on."}}]}}]}}"#,
        lines(20)
    );
    hold(Format::Gemini, &body, 1..100, &Options::default());
}

/// Found by chance: a checkpoint had as much room as the least of one was thought to need, though less was left and was enough;
/// the next compaction, which knew better what the least is, wrote it anew.
#[test]
fn a_checkpoint_takes_what_is_left_where_that_is_enough() {
    let body = r#"{"model":"gemini-3.8-flash","system_instruction":"lorem elit labore veniam amet tempor aliqua ipsum sed et quis consectetur incididunt enim dolor do dolore nostrud adipiscing ut minim sit eiusmod magna ipsum sed et quis consectetur incididunt enim dolor do dolore",
"store":false,"tools":[{"type":"function","name":"Read","description":"Reads a file.","parameters":{"type":"object"}}],"input":[
{"type":"model_output","content":[{"type":"text","text":"Fix the build."}]},
{"type":"function_call","id":"call_02","name":"Read","arguments":{"file_path":"\u000b\u0000𐀀¡\u0000","limit":1.0e2}},
{"type":"function_call","id":"call_01","name":"Edit","arguments":{}},
{"type":"function_result","call_id":"call_02","result":"ok"},
{"type":"function_call","id":"call_03","name":"Read","arguments":{"file_path":"Use 2 retries, never 3.","limit":1.0e2}},
{"type":"function_result","call_id":"call_03","result":"Fix the build."},
{"type":"user_input","content":[{"type":"text","text":"<system-reminder>ok</system-reminder>"},{"type":"text","text":"𐀀𐀀 $0\u000b￼!𐀀A0\u000br¡¢!￼\u000ba𐀀!a\u000b#0𐀀￼ 򀀀A^ 򀀀0\u000b0ા;\u0000 򀀀𑬀0¡"}]}],"generation_config":{"temperature":1.0,"thinking_level":"high"}}"#;
    hold(Format::GeminiInteractions, body, 80..90, &Options::default());
}

/// Found by chance: a checkpoint with room for a long tool's name alone had a head of the long form, and no room for the name.
#[test]
fn a_long_tools_name_is_said() {
    let tool = "n".repeat(3_000);
    let body = format!(
        r#"{{"model":"gpt-5.4","messages":[
{{"role":"user","content":"Go."}},
{{"role":"assistant","content":null,"tool_calls":[{{"id":"a","type":"function","function":{{"name":"{tool}","arguments":"{{}}"}}}}]}},
{{"role":"tool","tool_call_id":"a","content":"{}"}},
{{"role":"assistant","content":"Done."}},
{{"role":"user","content":"Go on."}}]}}"#,
        lines(80)
    );
    hold(Format::OpenaiChat, &body, 1..30, &Options::default());
}
