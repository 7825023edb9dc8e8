//! Requests in which as much is broken as there is.

use epitome::{Format, Request, wire};

/// One request for each way to be broken, with `n` of what is broken.
pub fn requests(format: Format, n: usize) -> Vec<Request> {
    let broken = |shape: &Shape| {
        let body = format!(r#"{{"{}":[{}]}}"#, format.list(), shape(format, n).join(","));
        wire::parse(format, body).expect("it can be read")
    };
    SHAPES.iter().map(broken).collect()
}

type Shape = fn(Format, usize) -> Vec<String>;

const SHAPES: [Shape; 6] = [
    // Results alone.
    |format, n| {
        let results: Vec<_> = each(n, |at| Piece::Result(format!("c{at}")));
        [user(format, &[text("x")]), user(format, &results)].concat()
    },
    // Texts that are empty.
    |format, n| {
        [
            user(format, &[text("x")]),
            model(format, &[text("y")]),
            user(format, &each(n, |_| text(""))),
        ]
        .concat()
    },
    // Results too late.
    |format, n| {
        let mut all = user(format, &[text("x")]);
        for at in 0..n {
            all.extend(model(format, &[Piece::Call(format!("c{at}"))]));
            all.extend(user(format, &[text("q")]));
        }
        all.extend(user(format, &each(n, |at| Piece::Result(format!("c{at}")))));
        all
    },
    // Results of others.
    |format, n| {
        let calls: Vec<_> = each(n, |at| Piece::Call(format!("c{at}")));
        let results: Vec<_> = each(n, |at| Piece::Result(format!("d{at}")));
        [user(format, &[text("x")]), model(format, &calls), user(format, &results)].concat()
    },
    // Calls without an id.
    |format, n| {
        let calls: Vec<_> = each(n, |_| Piece::Call(String::new()));
        let results: Vec<_> = each(n / 2, |_| Piece::Result(String::new()));
        [user(format, &[text("x")]), model(format, &calls), user(format, &results)].concat()
    },
    // Calls of one id.
    |format, n| {
        let calls: Vec<_> = each(n, |_| Piece::Call("c".to_owned()));
        let results: Vec<_> = each(n, |_| Piece::Result("c".to_owned()));
        // Whatever the id is, the last one is too much.
        let more = Piece::Result("d".to_owned());
        [
            user(format, &[text("x")]),
            model(format, &calls),
            user(format, &results),
            user(format, &[more]),
        ]
        .concat()
    },
];

/// What an entry says.
enum Piece {
    Text(&'static str),
    Call(String),
    Result(String),
}

fn text(words: &'static str) -> Piece {
    Piece::Text(words)
}

fn each(n: usize, piece: impl Fn(usize) -> Piece) -> Vec<Piece> {
    (0..n).map(piece).collect()
}

fn user(format: Format, pieces: &[Piece]) -> Vec<String> {
    entries(format, "user", pieces)
}

fn model(format: Format, pieces: &[Piece]) -> Vec<String> {
    entries(format, if format == Format::Gemini { "model" } else { "assistant" }, pieces)
}

/// One message, or one for each piece where the format has it so.
fn entries(format: Format, role: &str, pieces: &[Piece]) -> Vec<String> {
    let written: Vec<String> = pieces.iter().map(|piece| element(format, piece)).collect();
    let all = written.join(",");
    let member = match (format, &pieces[0]) {
        (
            Format::OpenaiResponses | Format::GeminiInteractions,
            Piece::Call(_) | Piece::Result(_),
        ) => return written,
        (Format::GeminiInteractions, Piece::Text(_)) => {
            let kind = if role == "user" { "user_input" } else { "model_output" };
            return vec![format!(r#"{{"type":"{kind}","content":[{all}]}}"#)];
        }
        (Format::OpenaiChat, Piece::Result(_)) => return written,
        (Format::OpenaiChat, Piece::Call(_)) => "tool_calls",
        (Format::Gemini, _) => "parts",
        _ => "content",
    };
    vec![format!(r#"{{"role":"{role}","{member}":[{all}]}}"#)]
}

fn element(format: Format, piece: &Piece) -> String {
    match (format, piece) {
        // An empty text is one here, so something that is no part stands for it.
        (Format::OpenaiChat | Format::GeminiInteractions, Piece::Text("")) => "7".to_owned(),
        // The type is the wrong one for Responses.
        (Format::Gemini | Format::Bedrock, Piece::Text(text)) => format!(r#"{{"text":"{text}"}}"#),
        (_, Piece::Text(text)) => format!(r#"{{"type":"text","text":"{text}"}}"#),
        (Format::OpenaiChat, Piece::Call(id)) => {
            format!(
                r#"{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#
            )
        }
        (Format::OpenaiChat, Piece::Result(id)) => {
            format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"r"}}"#)
        }
        (Format::Anthropic, Piece::Call(id)) => {
            format!(r#"{{"type":"tool_use","id":"{id}","name":"f","input":{{}}}}"#)
        }
        (Format::Anthropic, Piece::Result(id)) => {
            format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"r"}}"#)
        }
        (Format::Gemini, Piece::Call(id)) => {
            format!(r#"{{"functionCall":{{"id":"{id}","name":"f","args":{{}}}}}}"#)
        }
        (Format::Gemini, Piece::Result(id)) => {
            format!(r#"{{"functionResponse":{{"id":"{id}","name":"g","response":{{}}}}}}"#)
        }
        (Format::GeminiInteractions, Piece::Call(id)) => {
            format!(r#"{{"type":"function_call","id":"{id}","name":"f","arguments":{{}}}}"#)
        }
        (Format::GeminiInteractions, Piece::Result(id)) => {
            format!(r#"{{"type":"function_result","call_id":"{id}","name":"f","result":"r"}}"#)
        }
        (Format::OpenaiResponses, Piece::Call(id)) => {
            format!(r#"{{"type":"function_call","call_id":"{id}","name":"f","arguments":"{{}}"}}"#)
        }
        (Format::OpenaiResponses, Piece::Result(id)) => {
            format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"r"}}"#)
        }
        (_, Piece::Call(id)) => {
            format!(r#"{{"toolUse":{{"toolUseId":"{id}","name":"f","input":{{}}}}}}"#)
        }
        (_, Piece::Result(id)) => {
            format!(r#"{{"toolResult":{{"toolUseId":"{id}","content":[{{"text":"r"}}]}}}}"#)
        }
    }
}
