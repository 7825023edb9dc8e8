//! Requests in which as much is broken as there is: mending all of it takes time like the request, too.

use std::error::Error;

use epitome::{Format, wire};

use super::timed;

/// How many of what is broken.
const SIZES: [usize; 2] = [1_000, 4_000];
/// Time for four times as much. A step to slower memory is in it; what grows with the square takes sixteen times.
const LIMIT: f64 = 8.0;
/// Rounds at first, and at most, while a ratio is over the limit.
const ROUNDS: (usize, usize) = (2, 8);

/// Measures and prints all shapes in all formats; whether all are within the limit.
pub(super) fn report() -> Result<bool, Box<dyn Error>> {
    let mut worst = 0.0_f64;
    println!("{:<22}{:>18}{:>10}{:>10}{:>10}", "mending", "", "1,000", "4,000 ms", "ratio");
    for (name, shape) in SHAPES {
        for format in Format::ALL {
            let (best, ratio) = measured(format, shape)?;
            worst = worst.max(ratio);
            let [small, large] = best.map(|time| time * 1e3);
            println!("{name:<22}{:>18}{small:>10.2}{large:>10.2}{ratio:>10.1}", format.name());
        }
    }
    let is_within = worst <= LIMIT;
    let verdict = if is_within { "within" } else { "OVER" };
    println!("largest ratio of mending: {worst:.1}, {verdict} the limit of {LIMIT}\n");
    Ok(is_within)
}

/// The best times of both sizes, and their ratio.
fn measured(format: Format, shape: Shape) -> Result<([f64; 2], f64), Box<dyn Error>> {
    let mut requests = Vec::new();
    for size in SIZES {
        let body = format!(r#"{{"{}":[{}]}}"#, list(format), shape(format, size).join(","));
        requests.push(wire::parse(format, body)?);
    }
    let mut best = [f64::INFINITY; 2];
    let mut ratio = f64::INFINITY;
    for round in 0..ROUNDS.1 {
        if round >= ROUNDS.0 && ratio <= LIMIT {
            break;
        }
        for (best, request) in best.iter_mut().zip(&requests) {
            let (time, repaired) = timed(|| wire::repair(request));
            assert!(!repaired.mended.is_empty(), "{format}: nothing was broken");
            *best = best.min(time);
        }
        ratio = best[1] / best[0];
    }
    Ok((best, ratio))
}

type Shape = fn(Format, usize) -> Vec<String>;

const SHAPES: [(&str, Shape); 6] = [
    ("results alone", |format, n| {
        let results: Vec<_> = each(n, |at| Piece::Result(format!("c{at}")));
        [user(format, &[text("x")]), user(format, &results)].concat()
    }),
    ("texts that are empty", |format, n| {
        [
            user(format, &[text("x")]),
            model(format, &[text("y")]),
            user(format, &each(n, |_| text(""))),
        ]
        .concat()
    }),
    ("results too late", |format, n| {
        let mut all = user(format, &[text("x")]);
        for at in 0..n {
            all.extend(model(format, &[Piece::Call(format!("c{at}"))]));
            all.extend(user(format, &[text("q")]));
        }
        all.extend(user(format, &each(n, |at| Piece::Result(format!("c{at}")))));
        all
    }),
    ("results of others", |format, n| {
        let calls: Vec<_> = each(n, |at| Piece::Call(format!("c{at}")));
        let results: Vec<_> = each(n, |at| Piece::Result(format!("d{at}")));
        [user(format, &[text("x")]), model(format, &calls), user(format, &results)].concat()
    }),
    ("calls without an id", |format, n| {
        let calls: Vec<_> = each(n, |_| Piece::Call(String::new()));
        let results: Vec<_> = each(n / 2, |_| Piece::Result(String::new()));
        [user(format, &[text("x")]), model(format, &calls), user(format, &results)].concat()
    }),
    ("calls of one id", |format, n| {
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
    }),
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

fn list(format: Format) -> &'static str {
    match format {
        Format::Gemini => "contents",
        Format::OpenaiResponses | Format::GeminiInteractions => "input",
        _ => "messages",
    }
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
