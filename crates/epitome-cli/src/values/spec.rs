//! Summarizers by the names that flags and settings give them.

use std::fmt;
use std::str::FromStr;

use super::address::Address;
use super::line::Line;

/// A summarizer, as a flag says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spec {
    /// The program's own code.
    Extractive,
    /// A command: the program and its arguments.
    Command(Line),
    /// A model over HTTP.
    Model(Named),
    /// A whole compactor over gRPC.
    Remote(Address),
    /// The upstream of a proxy's client, asked with the client's own credential: for its model, or for this one.
    Client(Option<String>),
}

/// A model, and who serves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) host: Host,
    pub(crate) model: String,
}

/// Who serves a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// OpenAI's Chat Completions.
    Openai,
    /// OpenAI's Responses.
    OpenaiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// A server that speaks as OpenAI's Chat Completions do, by its base address.
    Url(String),
}

/// What can be said, for errors and help.
pub(crate) const FORMS: &str = "`extractive`, `openai:MODEL`, `openai-responses:MODEL`, `anthropic:MODEL`, \
                                `gemini:MODEL`, `URL#MODEL`, `cmd:PROG`, `grpc:URL#NAME`, \
                                or, for a proxy, `client` or `client:MODEL`";

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "extractive" {
            return Ok(Spec::Extractive);
        }
        if text == "client" {
            return Ok(Spec::Client(None));
        }
        if let Some(line) = text.strip_prefix("cmd:") {
            return Ok(Spec::Command(Line::read(line)?));
        }
        if let Some(address) = text.strip_prefix("grpc:") {
            return match address.parse() {
                Ok(address) => Ok(Spec::Remote(address)),
                Err(error) => Err(error.to_string()),
            };
        }
        let (host, model) = if text.starts_with("http://") || text.starts_with("https://") {
            let (base, model) = text.rsplit_once('#').ok_or("no model is named: URL#MODEL")?;
            (Host::Url(base.to_owned()), model)
        } else {
            let (host, model) = text.split_once(':').unwrap_or((text, ""));
            let host = match host {
                "openai" => Host::Openai,
                "openai-responses" => Host::OpenaiResponses,
                "anthropic" => Host::Anthropic,
                "gemini" => Host::Gemini,
                "client" if model.trim() == model && !model.is_empty() => {
                    return Ok(Spec::Client(Some(model.to_owned())));
                }
                "client" => return Err("no model is named after it".to_owned()),
                _ => return Err(format!("not {FORMS}")),
            };
            (host, model)
        };
        if model.trim() != model || model.is_empty() {
            return Err("no model is named after it".to_owned());
        }
        Ok(Spec::Model(Named { host, model: model.to_owned() }))
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spec::Extractive => f.write_str("extractive"),
            Spec::Command(line) => write!(f, "cmd:{line}"),
            Spec::Model(named) => named.fmt(f),
            Spec::Remote(address) => write!(f, "grpc:{address}"),
            Spec::Client(None) => f.write_str("client"),
            Spec::Client(Some(model)) => write!(f, "client:{model}"),
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = &self.model;
        match &self.host {
            Host::Openai => write!(f, "openai:{model}"),
            Host::OpenaiResponses => write!(f, "openai-responses:{model}"),
            Host::Anthropic => write!(f, "anthropic:{model}"),
            Host::Gemini => write!(f, "gemini:{model}"),
            Host::Url(base) => write!(f, "{base}#{model}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_name_summarizers_or_are_refused() {
        assert_eq!("extractive".parse(), Ok(Spec::Extractive));
        let words = ["python3", "my script.py", "-v"].map(str::to_owned).to_vec();
        assert_eq!("cmd:python3 'my script.py' -v".parse(), Ok(Spec::Command(Line(words))));
        let model = |host, model: &str| Ok(Spec::Model(Named { host, model: model.to_owned() }));
        assert_eq!("openai:gpt-5-mini".parse(), model(Host::Openai, "gpt-5-mini"));
        assert_eq!("openai:ft:gpt:x".parse(), model(Host::Openai, "ft:gpt:x"));
        let base = "http://localhost:11434/v1".to_owned();
        assert_eq!(
            "http://localhost:11434/v1#qwen3:4b".parse(),
            model(Host::Url(base), "qwen3:4b")
        );
        for bad in [
            "",
            "cmd:",
            "cmd:  ",
            "cmd:'x",
            "magic",
            "extractive ",
            "openai",
            "client:",
            "openai:",
            "openai: x",
            "bard:x",
            "http://localhost/v1",
            "http://localhost/v1#",
            "grpc:localhost#x",
            "grpc:http://localhost:1",
            "grpc:http://localhost:1#",
            "grpc:#x",
            "grpc:ftp://localhost:1#x",
        ] {
            assert!(bad.parse::<Spec>().is_err(), "{bad}");
        }
    }

    #[test]
    fn summarizers_are_written_as_they_are_read() {
        for text in [
            "extractive",
            "cmd:python3 'my script.py'",
            "openai-responses:gpt-5-mini",
            "anthropic:claude-haiku-4-5",
            "gemini:gemini-3.5-flash",
            "https://models.example/v1#a/b",
            "grpc:http://127.0.0.1:50051#mine",
            "client",
            "client:claude-haiku-4-5",
        ] {
            assert_eq!(text.parse::<Spec>().expect("good").to_string(), text);
        }
    }
}
