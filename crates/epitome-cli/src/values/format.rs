//! A format and a model, as flags name both.

use std::str::FromStr;

use epitome::wire::Format;

use crate::formats;

/// What is to be written: `FORMAT` or `FORMAT:MODEL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    /// The format.
    pub(crate) format: Format,
    /// The model that is to answer.
    pub(crate) model: Option<String>,
}

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, model) = match text.split_once(':') {
            Some((name, "")) => return Err(format!("no model is named after `{name}:`")),
            Some((name, model)) => (name, Some(model.to_owned())),
            None => (text, None),
        };
        let names = || Format::ALL.map(Format::name).join(", ");
        let format = name.parse::<Format>().map_err(|_| {
            let what = if formats::names().any(|known| known == name) {
                format!("{name} can be read, not written")
            } else {
                format!("there is no format `{name}`")
            };
            format!("{what}; expected FORMAT or FORMAT:MODEL, with one of the formats {}", names())
        })?;
        Ok(Destination { format, model })
    }
}

/// What a request is checked for: `FORMAT`, `FORMAT:MODEL` or `:MODEL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Purpose {
    /// The format; the request's own where none is said.
    pub(crate) format: Option<Format>,
    /// The model; the request's own where none is said.
    pub(crate) model: Option<String>,
}

impl FromStr for Purpose {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, model) = match text.split_once(':') {
            Some((_, "")) => return Err(format!("no model is named after `{text}`")),
            Some((format, model)) => (format, Some(model.to_owned())),
            None => (text, None),
        };
        let format = match format {
            "" if model.is_some() => None,
            name if formats::names().any(|known| known == name)
                && name.parse::<Format>().is_err() =>
            {
                return Err(format!("{name} is an agent's format, not a provider's"));
            }
            name => Some(name.parse::<Format>().map_err(|_| {
                let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
                format!("not FORMAT, FORMAT:MODEL or :MODEL; formats are {}", names.join(", "))
            })?),
        };
        Ok(Purpose { format, model })
    }
}
