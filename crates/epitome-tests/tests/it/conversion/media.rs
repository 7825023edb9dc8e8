//! Images, sounds and documents: shown where the target has a form for them, noted and listed where it hasn't.

use std::fmt::Write as _;

use epitome::convert::{Extent, Loss, convert};
use epitome::wire::{self, Format};
use expect_test::expect;

use super::by_outcome;

/// What a user shows, in each format's forms for it.
fn shown(format: Format) -> &'static [&'static str] {
    match format {
        Format::OpenaiChat => &[
            r#"{"type":"image_url","image_url":{"url":"https://h/a.png","detail":"low"}}"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/jpg;base64,AAAA","detail":"auto"}}"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/bmp;base64,AAAA"}}"#,
            r#"{"type":"input_audio","input_audio":{"data":"AAAA","format":"mp3"}}"#,
            r#"{"type":"file","file":{"filename":"a b.pdf","file_data":"data:application/pdf;base64,AAAA"}}"#,
            r#"{"type":"file","file":{"file_id":"file-1"}}"#,
        ],
        Format::OpenaiResponses => &[
            r#"{"type":"input_image","detail":"high","image_url":"data:image/png;base64,AAAA"}"#,
            r#"{"type":"input_image","detail":"auto","file_id":"file-1"}"#,
            r#"{"type":"input_file","file_url":"https://h/a.pdf"}"#,
            r#"{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}"#,
            r#"{"type":"input_file","filename":"a.csv","file_data":"data:text/csv;base64,AAAA"}"#,
        ],
        Format::Anthropic => &[
            r#"{"type":"image","source":{"type":"url","url":"https://h/a.png"}}"#,
            r#"{"type":"image","source":{"type":"file","file_id":"file_1"}}"#,
            r#"{"type":"document","title":"Say \"hi\"","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}"#,
            r#"{"type":"document","source":{"type":"url","url":"https://h/a.pdf"}}"#,
            r#"{"type":"document","title":"Say \"hi\"","source":{"type":"text","media_type":"text/plain","data":"Hi."}}"#,
        ],
        Format::Gemini => &[
            r#"{"inlineData":{"mimeType":"audio/mpeg","data":"AAAA"}}"#,
            r#"{"inlineData":{"mimeType":"audio/ogg","data":"AAAA"}}"#,
            r#"{"inline_data":{"mime_type":"video/mp4","data":"AAAA"},"video_metadata":{"fps":1}}"#,
            r#"{"fileData":{"fileUri":"https://h/a.jpg?size=9"}}"#,
            r#"{"fileData":{"fileUri":"https://h/watch"}}"#,
            r#"{"fileData":{"mimeType":"application/pdf","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/1"}}"#,
        ],
        Format::GeminiInteractions => &[
            r#"{"type":"image","mime_type":"image/webp","data":"AAAA","resolution":"high"}"#,
            r#"{"type":"audio","mime_type":"audio/mp3","data":"AAAA"}"#,
            r#"{"type":"video","uri":"https://h/watch","mime_type":"video/mp4"}"#,
            r#"{"type":"document","mime_type":"application/pdf","uri":"https://h/a.pdf"}"#,
        ],
        _ => &[
            r#"{"image":{"format":"webp","source":{"bytes":"AAAA"}}}"#,
            r#"{"document":{"format":"docx","name":"Plan 1","source":{"bytes":"AAAA"}}}"#,
            r#"{"document":{"format":"txt","name":"Notes","source":{"text":"Hi."}}}"#,
            r#"{"document":{"format":"txt","name":"Notes","source":{"content":[{"text":"One."},{"text":"Two."}]}}}"#,
            r#"{"video":{"format":"mp4","source":{"s3Location":{"uri":"s3://b/a.mp4"}}}}"#,
        ],
    }
}

/// A request whose user says a word and shows `medium`.
fn asked(format: Format, medium: &str) -> epitome::Request {
    let word = match format {
        Format::OpenaiResponses => r#"{"type":"input_text","text":"See."}"#,
        Format::Gemini | Format::Bedrock => r#"{"text":"See."}"#,
        _ => r#"{"type":"text","text":"See."}"#,
    };
    let (list, inside) = match format {
        Format::OpenaiResponses | Format::GeminiInteractions => ("input", "content"),
        Format::Gemini => ("contents", "parts"),
        _ => ("messages", "content"),
    };
    let (key, user) = match format {
        Format::GeminiInteractions => ("type", "user_input"),
        _ => ("role", "user"),
    };
    let body = format!(r#"{{"{list}":[{{"{key}":"{user}","{inside}":[{word},{medium}]}}]}}"#);
    wire::parse(format, body).expect("a request")
}

#[test]
fn each_is_shown_where_there_is_a_form_for_it() {
    let mut all = String::new();
    for from in Format::ALL {
        for medium in shown(from) {
            writeln!(all, "{from}: {medium}").expect("a string takes all");
            let others = Format::ALL.into_iter().filter(|to| *to != from);
            all += &by_outcome(others.map(|to| {
                let done = convert(&asked(from, medium), to);
                let written = wire::parse(to, done.text).expect("a request");
                assert_eq!(wire::check(&written), [], "{}", written.source());
                let entry = written.transcript.entry(0);
                // Behind the word.
                let (_, shown) = entry.raw().split_once("See.\"},").expect("a list of two");
                let shown = shown.strip_suffix("]}").expect("it ends with the message");
                // What isn't there as it was is told.
                let is_noted = shown.contains("not carried over");
                let is_told = done.lost.iter().any(|lost| {
                    lost.extent == Extent::Changed
                        && matches!(lost.what, Loss::Medium | Loss::ProviderFile)
                });
                assert_eq!(is_noted, is_told, "{medium} to {to}: {shown}");
                let lost = done.lost.iter().map(|lost| format!(" ({:?} {})", lost.what, lost.name));
                (to, format!("{shown}{}", lost.collect::<String>()))
            }));
        }
    }
    expect![[r#"
        openai-chat: {"type":"image_url","image_url":{"url":"https://h/a.png","detail":"low"}}
          anthropic: {"source":{"type":"url","url":"https://h/a.png"},"type":"image"} (Member detail low of an image)
          gemini: {"fileData":{"fileUri":"https://h/a.png","mimeType":"image/png"}} (Member detail low of an image)
          openai-responses: {"detail":"low","image_url":"https://h/a.png","type":"input_image"}
          bedrock: {"text":"[not carried over: image, https://h/a.png]"} (Member detail low of an image) (Medium image)
          gemini-interactions: {"mime_type":"image/png","type":"image","uri":"https://h/a.png"} (Member detail low of an image)
        openai-chat: {"type":"image_url","image_url":{"url":"data:image/jpg;base64,AAAA","detail":"auto"}}
          anthropic: {"source":{"data":"AAAA","media_type":"image/jpeg","type":"base64"},"type":"image"}
          gemini: {"inlineData":{"data":"AAAA","mimeType":"image/jpeg"}}
          openai-responses: {"detail":"auto","image_url":"data:image/jpeg;base64,AAAA","type":"input_image"}
          bedrock: {"image":{"format":"jpeg","source":{"bytes":"AAAA"}}}
          gemini-interactions: {"data":"AAAA","mime_type":"image/jpeg","type":"image"}
        openai-chat: {"type":"image_url","image_url":{"url":"data:image/bmp;base64,AAAA"}}
          anthropic: {"type":"text","text":"[not carried over: image/bmp, 4 bytes]"} (Medium image/bmp)
          gemini: {"inlineData":{"data":"AAAA","mimeType":"image/bmp"}}
          openai-responses: {"type":"input_text","text":"[not carried over: image/bmp, 4 bytes]"} (Medium image/bmp)
          bedrock: {"text":"[not carried over: image/bmp, 4 bytes]"} (Medium image/bmp)
          gemini-interactions: {"data":"AAAA","mime_type":"image/bmp","type":"image"}
        openai-chat: {"type":"input_audio","input_audio":{"data":"AAAA","format":"mp3"}}
          anthropic: {"type":"text","text":"[not carried over: audio/mp3, 4 bytes]"} (Medium audio/mp3)
          gemini: {"inlineData":{"data":"AAAA","mimeType":"audio/mp3"}}
          openai-responses: {"type":"input_text","text":"[not carried over: audio/mp3, 4 bytes]"} (Medium audio/mp3)
          bedrock: {"audio":{"format":"mp3","source":{"bytes":"AAAA"}}}
          gemini-interactions: {"data":"AAAA","mime_type":"audio/mp3","type":"audio"}
        openai-chat: {"type":"file","file":{"filename":"a b.pdf","file_data":"data:application/pdf;base64,AAAA"}}
          anthropic: {"source":{"data":"AAAA","media_type":"application/pdf","type":"base64"},"title":"a b.pdf","type":"document"}
          gemini: {"inlineData":{"data":"AAAA","mimeType":"application/pdf"}}
          openai-responses: {"file_data":"data:application/pdf;base64,AAAA","filename":"a b.pdf","type":"input_file"}
          bedrock: {"document":{"format":"pdf","name":"a b-pdf","source":{"bytes":"AAAA"}}}
          gemini-interactions: {"data":"AAAA","mime_type":"application/pdf","type":"document"}
        openai-chat: {"type":"file","file":{"file_id":"file-1"}}
          anthropic, gemini-interactions: {"type":"text","text":"[not carried over: a file, file-1]"} (ProviderFile file-1)
          gemini, bedrock: {"text":"[not carried over: a file, file-1]"} (ProviderFile file-1)
          openai-responses: {"type":"input_text","text":"[not carried over: a file, file-1]"} (ProviderFile file-1)
        anthropic: {"type":"image","source":{"type":"url","url":"https://h/a.png"}}
          openai-chat: {"image_url":{"url":"https://h/a.png"},"type":"image_url"}
          gemini: {"fileData":{"fileUri":"https://h/a.png","mimeType":"image/png"}}
          openai-responses: {"detail":"auto","image_url":"https://h/a.png","type":"input_image"}
          bedrock: {"text":"[not carried over: image, https://h/a.png]"} (Medium image)
          gemini-interactions: {"mime_type":"image/png","type":"image","uri":"https://h/a.png"}
        anthropic: {"type":"image","source":{"type":"file","file_id":"file_1"}}
          openai-chat, gemini-interactions: {"type":"text","text":"[not carried over: image, file_1]"} (ProviderFile file_1)
          gemini, bedrock: {"text":"[not carried over: image, file_1]"} (ProviderFile file_1)
          openai-responses: {"type":"input_text","text":"[not carried over: image, file_1]"} (ProviderFile file_1)
        anthropic: {"type":"document","title":"Say \"hi\"","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}
          openai-chat: {"file":{"file_data":"data:application/pdf;base64,AAAA","filename":"Say \"hi\""},"type":"file"}
          gemini: {"inlineData":{"data":"AAAA","mimeType":"application/pdf"}}
          openai-responses: {"file_data":"data:application/pdf;base64,AAAA","filename":"Say \"hi\"","type":"input_file"}
          bedrock: {"document":{"format":"pdf","name":"Say -hi-","source":{"bytes":"AAAA"}}}
          gemini-interactions: {"data":"AAAA","mime_type":"application/pdf","type":"document"}
        anthropic: {"type":"document","source":{"type":"url","url":"https://h/a.pdf"}}
          openai-chat: {"type":"text","text":"[not carried over: application/pdf, https://h/a.pdf]"} (Medium application/pdf)
          gemini: {"fileData":{"fileUri":"https://h/a.pdf","mimeType":"application/pdf"}}
          openai-responses: {"file_url":"https://h/a.pdf","type":"input_file"}
          bedrock: {"text":"[not carried over: application/pdf, https://h/a.pdf]"} (Medium application/pdf)
          gemini-interactions: {"mime_type":"application/pdf","type":"document","uri":"https://h/a.pdf"}
        anthropic: {"type":"document","title":"Say \"hi\"","source":{"type":"text","media_type":"text/plain","data":"Hi."}}
          openai-chat, gemini-interactions: {"type":"text","text":"<document title=\"Say 'hi'\">\nHi.\n</document>"} (Words text/plain)
          gemini: {"text":"<document title=\"Say 'hi'\">\nHi.\n</document>"} (Words text/plain)
          openai-responses: {"type":"input_text","text":"<document title=\"Say 'hi'\">\nHi.\n</document>"} (Words text/plain)
          bedrock: {"document":{"format":"txt","name":"Say -hi-","source":{"text":"Hi."}}}
        gemini: {"inlineData":{"mimeType":"audio/mpeg","data":"AAAA"}}
          openai-chat: {"input_audio":{"data":"AAAA","format":"mp3"},"type":"input_audio"}
          anthropic: {"type":"text","text":"[not carried over: audio/mpeg, 4 bytes]"} (Medium audio/mpeg)
          openai-responses: {"type":"input_text","text":"[not carried over: audio/mpeg, 4 bytes]"} (Medium audio/mpeg)
          bedrock: {"audio":{"format":"mp3","source":{"bytes":"AAAA"}}}
          gemini-interactions: {"data":"AAAA","mime_type":"audio/mp3","type":"audio"}
        gemini: {"inlineData":{"mimeType":"audio/ogg","data":"AAAA"}}
          openai-chat, anthropic: {"type":"text","text":"[not carried over: audio/ogg, 4 bytes]"} (Medium audio/ogg)
          openai-responses: {"type":"input_text","text":"[not carried over: audio/ogg, 4 bytes]"} (Medium audio/ogg)
          bedrock: {"audio":{"format":"ogg","source":{"bytes":"AAAA"}}}
          gemini-interactions: {"data":"AAAA","mime_type":"audio/ogg","type":"audio"}
        gemini: {"inline_data":{"mime_type":"video/mp4","data":"AAAA"},"video_metadata":{"fps":1}}
          openai-chat, anthropic: {"type":"text","text":"[not carried over: video/mp4, 4 bytes]"} (Member video_metadata) (Medium video/mp4)
          openai-responses: {"type":"input_text","text":"[not carried over: video/mp4, 4 bytes]"} (Member video_metadata) (Medium video/mp4)
          bedrock: {"video":{"format":"mp4","source":{"bytes":"AAAA"}}} (Member video_metadata)
          gemini-interactions: {"data":"AAAA","mime_type":"video/mp4","type":"video"} (Member video_metadata)
        gemini: {"fileData":{"fileUri":"https://h/a.jpg?size=9"}}
          openai-chat: {"image_url":{"url":"https://h/a.jpg?size=9"},"type":"image_url"}
          anthropic: {"source":{"type":"url","url":"https://h/a.jpg?size=9"},"type":"image"}
          openai-responses: {"detail":"auto","image_url":"https://h/a.jpg?size=9","type":"input_image"}
          bedrock: {"text":"[not carried over: image/jpeg, https://h/a.jpg?size=9]"} (Medium image/jpeg)
          gemini-interactions: {"mime_type":"image/jpeg","type":"image","uri":"https://h/a.jpg?size=9"}
        gemini: {"fileData":{"fileUri":"https://h/watch"}}
          openai-chat, anthropic, gemini-interactions: {"type":"text","text":"[not carried over: a file, https://h/watch]"} (Medium )
          openai-responses: {"type":"input_text","text":"[not carried over: a file, https://h/watch]"} (Medium )
          bedrock: {"text":"[not carried over: a file, https://h/watch]"} (Medium )
        gemini: {"fileData":{"mimeType":"application/pdf","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/1"}}
          openai-chat, anthropic, gemini-interactions: {"type":"text","text":"[not carried over: application/pdf, https://generativelanguage.googleapis.com/v1beta/files/1]"} (ProviderFile https://generativelanguage.googleapis.com/v1beta/files/1)
          openai-responses: {"type":"input_text","text":"[not carried over: application/pdf, https://generativelanguage.googleapis.com/v1beta/files/1]"} (ProviderFile https://generativelanguage.googleapis.com/v1beta/files/1)
          bedrock: {"text":"[not carried over: application/pdf, https://generativelanguage.googleapis.com/v1beta/files/1]"} (ProviderFile https://generativelanguage.googleapis.com/v1beta/files/1)
        openai-responses: {"type":"input_image","detail":"high","image_url":"data:image/png;base64,AAAA"}
          openai-chat: {"image_url":{"detail":"high","url":"data:image/png;base64,AAAA"},"type":"image_url"}
          anthropic: {"source":{"data":"AAAA","media_type":"image/png","type":"base64"},"type":"image"} (Member detail high of an image)
          gemini: {"inlineData":{"data":"AAAA","mimeType":"image/png"}} (Member detail high of an image)
          bedrock: {"image":{"format":"png","source":{"bytes":"AAAA"}}} (Member detail high of an image)
          gemini-interactions: {"data":"AAAA","mime_type":"image/png","type":"image"} (Member detail high of an image)
        openai-responses: {"type":"input_image","detail":"auto","file_id":"file-1"}
          openai-chat, anthropic, gemini-interactions: {"type":"text","text":"[not carried over: image, file-1]"} (ProviderFile file-1)
          gemini, bedrock: {"text":"[not carried over: image, file-1]"} (ProviderFile file-1)
        openai-responses: {"type":"input_file","file_url":"https://h/a.pdf"}
          openai-chat: {"type":"text","text":"[not carried over: application/pdf, https://h/a.pdf]"} (Medium application/pdf)
          anthropic: {"source":{"type":"url","url":"https://h/a.pdf"},"type":"document"}
          gemini: {"fileData":{"fileUri":"https://h/a.pdf","mimeType":"application/pdf"}}
          bedrock: {"text":"[not carried over: application/pdf, https://h/a.pdf]"} (Medium application/pdf)
          gemini-interactions: {"mime_type":"application/pdf","type":"document","uri":"https://h/a.pdf"}
        openai-responses: {"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}
          openai-chat: {"file":{"file_data":"data:application/pdf;base64,AAAA","filename":"a.pdf"},"type":"file"}
          anthropic: {"source":{"data":"AAAA","media_type":"application/pdf","type":"base64"},"title":"a.pdf","type":"document"}
          gemini: {"inlineData":{"data":"AAAA","mimeType":"application/pdf"}}
          bedrock: {"document":{"format":"pdf","name":"a-pdf","source":{"bytes":"AAAA"}}}
          gemini-interactions: {"data":"AAAA","mime_type":"application/pdf","type":"document"}
        openai-responses: {"type":"input_file","filename":"a.csv","file_data":"data:text/csv;base64,AAAA"}
          openai-chat, anthropic: {"type":"text","text":"[not carried over: text/csv, 4 bytes]"} (Medium text/csv)
          gemini: {"inlineData":{"data":"AAAA","mimeType":"text/csv"}}
          bedrock: {"document":{"format":"csv","name":"a-csv","source":{"bytes":"AAAA"}}}
          gemini-interactions: {"data":"AAAA","mime_type":"text/csv","type":"document"}
        bedrock: {"image":{"format":"webp","source":{"bytes":"AAAA"}}}
          openai-chat: {"image_url":{"url":"data:image/webp;base64,AAAA"},"type":"image_url"}
          anthropic: {"source":{"data":"AAAA","media_type":"image/webp","type":"base64"},"type":"image"}
          gemini: {"inlineData":{"data":"AAAA","mimeType":"image/webp"}}
          openai-responses: {"detail":"auto","image_url":"data:image/webp;base64,AAAA","type":"input_image"}
          gemini-interactions: {"data":"AAAA","mime_type":"image/webp","type":"image"}
        bedrock: {"document":{"format":"docx","name":"Plan 1","source":{"bytes":"AAAA"}}}
          openai-chat, anthropic, gemini-interactions: {"type":"text","text":"[not carried over: application/vnd.openxmlformats-officedocument.wordprocessingml.document, 4 bytes]"} (Medium application/vnd.openxmlformats-officedocument.wordprocessingml.document)
          gemini: {"inlineData":{"data":"AAAA","mimeType":"application/vnd.openxmlformats-officedocument.wordprocessingml.document"}}
          openai-responses: {"type":"input_text","text":"[not carried over: application/vnd.openxmlformats-officedocument.wordprocessingml.document, 4 bytes]"} (Medium application/vnd.openxmlformats-officedocument.wordprocessingml.document)
        bedrock: {"document":{"format":"txt","name":"Notes","source":{"text":"Hi."}}}
          openai-chat, gemini-interactions: {"type":"text","text":"<document title=\"Notes\">\nHi.\n</document>"} (Words text/plain)
          anthropic: {"source":{"data":"Hi.","media_type":"text/plain","type":"text"},"title":"Notes","type":"document"}
          gemini: {"text":"<document title=\"Notes\">\nHi.\n</document>"} (Words text/plain)
          openai-responses: {"type":"input_text","text":"<document title=\"Notes\">\nHi.\n</document>"} (Words text/plain)
        bedrock: {"document":{"format":"txt","name":"Notes","source":{"content":[{"text":"One."},{"text":"Two."}]}}}
          openai-chat, gemini-interactions: {"type":"text","text":"<document title=\"Notes\">\nOne.\nTwo.\n</document>"} (Words text/plain)
          anthropic: {"source":{"data":"One.\nTwo.","media_type":"text/plain","type":"text"},"title":"Notes","type":"document"}
          gemini: {"text":"<document title=\"Notes\">\nOne.\nTwo.\n</document>"} (Words text/plain)
          openai-responses: {"type":"input_text","text":"<document title=\"Notes\">\nOne.\nTwo.\n</document>"} (Words text/plain)
        bedrock: {"video":{"format":"mp4","source":{"s3Location":{"uri":"s3://b/a.mp4"}}}}
          openai-chat, anthropic, gemini-interactions: {"type":"text","text":"[not carried over: video/mp4, s3://b/a.mp4]"} (ProviderFile s3://b/a.mp4)
          gemini: {"text":"[not carried over: video/mp4, s3://b/a.mp4]"} (ProviderFile s3://b/a.mp4)
          openai-responses: {"type":"input_text","text":"[not carried over: video/mp4, s3://b/a.mp4]"} (ProviderFile s3://b/a.mp4)
        gemini-interactions: {"type":"image","mime_type":"image/webp","data":"AAAA","resolution":"high"}
          openai-chat: {"image_url":{"url":"data:image/webp;base64,AAAA"},"type":"image_url"} (Member resolution)
          anthropic: {"source":{"data":"AAAA","media_type":"image/webp","type":"base64"},"type":"image"} (Member resolution)
          gemini: {"inlineData":{"data":"AAAA","mimeType":"image/webp"}} (Member resolution)
          openai-responses: {"detail":"auto","image_url":"data:image/webp;base64,AAAA","type":"input_image"} (Member resolution)
          bedrock: {"image":{"format":"webp","source":{"bytes":"AAAA"}}} (Member resolution)
        gemini-interactions: {"type":"audio","mime_type":"audio/mp3","data":"AAAA"}
          openai-chat: {"input_audio":{"data":"AAAA","format":"mp3"},"type":"input_audio"}
          anthropic: {"type":"text","text":"[not carried over: audio/mp3, 4 bytes]"} (Medium audio/mp3)
          gemini: {"inlineData":{"data":"AAAA","mimeType":"audio/mp3"}}
          openai-responses: {"type":"input_text","text":"[not carried over: audio/mp3, 4 bytes]"} (Medium audio/mp3)
          bedrock: {"audio":{"format":"mp3","source":{"bytes":"AAAA"}}}
        gemini-interactions: {"type":"video","uri":"https://h/watch","mime_type":"video/mp4"}
          openai-chat, anthropic: {"type":"text","text":"[not carried over: video/mp4, https://h/watch]"} (Medium video/mp4)
          gemini: {"fileData":{"fileUri":"https://h/watch","mimeType":"video/mp4"}}
          openai-responses: {"type":"input_text","text":"[not carried over: video/mp4, https://h/watch]"} (Medium video/mp4)
          bedrock: {"text":"[not carried over: video/mp4, https://h/watch]"} (Medium video/mp4)
        gemini-interactions: {"type":"document","mime_type":"application/pdf","uri":"https://h/a.pdf"}
          openai-chat: {"type":"text","text":"[not carried over: application/pdf, https://h/a.pdf]"} (Medium application/pdf)
          anthropic: {"source":{"type":"url","url":"https://h/a.pdf"},"type":"document"}
          gemini: {"fileData":{"fileUri":"https://h/a.pdf","mimeType":"application/pdf"}}
          openai-responses: {"file_url":"https://h/a.pdf","type":"input_file"}
          bedrock: {"text":"[not carried over: application/pdf, https://h/a.pdf]"} (Medium application/pdf)
    "#]].assert_eq(&all);
}

/// An SVG of Anthropic's went to Gemini, which takes no such image either.
#[test]
fn an_image_that_no_model_sees_is_a_note() {
    let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/svg+xml","data":"PHN2Zz4="}}"#;
    let body = format!(r#"[{{"role":"user","content":[{image},{{"type":"text","text":"x"}}]}}]"#);
    let request = wire::parse(Format::Anthropic, body).expect("a request");
    for to in Format::ALL.into_iter().filter(|to| *to != Format::Anthropic) {
        let done = convert(&request, to);
        assert_eq!(done.lost.first().map(|lost| lost.what), Some(Loss::Medium), "{to}");
        let written = wire::parse(to, done.text).expect("a request");
        assert_eq!(wire::inspect(&written, &[]), [], "{to}");
    }
}
