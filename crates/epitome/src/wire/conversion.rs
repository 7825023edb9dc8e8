//! What differs between formats in conversion: how each is read into the neutral form, and written from it.

use serde_json::Value;

use super::neutral::{
    CallOutcome, Instruction, Lost, Medium, Object, Parameters, ShownMedium, Side, Tool,
    ToolAnswer, ToolCall, ToolChoice, ToolReader, list,
};
use super::terms::{Feature, Terms};
use crate::json::{self, quote};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part};

/// A format's side of conversion.
pub(crate) trait Conversion: Sync {
    /// What is plain data.
    fn terms(&self) -> &'static Terms;
    fn has(&self, feature: Feature) -> bool {
        self.terms().features.contains(&feature)
    }
    /// A request of this format for `model` without what that refuses to be told again, and what left.
    fn again(&self, request: &Request, _model: Option<&str>) -> (String, Vec<Lost>) {
        (request.source().to_string(), Vec::new())
    }
    /// How many letters and digits an id has that `model` takes, where it takes no other.
    fn id_length(&self, _model: &str) -> Option<usize> {
        None
    }
    /// What `model` calls a parameter that the format calls `name`.
    fn named_for(&self, _model: &str, name: &'static str) -> &'static str {
        name
    }
    /// Whether the part is an object whose members all say something about it.
    fn is_block(&self, _part: &Part<'_>) -> bool {
        true
    }
    /// What a call is called with.
    fn call_form(&self, _entry: Entry<'_>, _call: &Part<'_>) -> CallForm {
        CallForm::Function
    }
    /// The name of the tool that is called, as its definition has it, too.
    fn call_name(&self, _entry: Entry<'_>, call: &Part<'_>) -> String {
        call.name().into_owned()
    }
    /// Whether the provider made the part.
    fn is_served(&self, part: &Part<'_>) -> bool {
        part.is(Marks::SERVER)
    }
    /// The model's refusal in a part of no known kind.
    fn refusal(&self, _part: &Part<'_>) -> Option<String> {
        None
    }
    /// The text of a part of no known kind in a result.
    fn result_text(&self, _part: &Part<'_>) -> Option<String> {
        None
    }
    /// Reads a medium; `None` if it isn't of a form that is known.
    fn read_medium(&self, value: &Value) -> Option<Medium>;
    /// Reads the definitions of tools.
    fn read_tools(&self, request: &Request, reader: &mut ToolReader<'_>) {
        let older = self.terms().older_tools.and_then(|key| request.value(&[key]));
        for function in older.into_iter().flat_map(list).map(Object::of) {
            reader.function(&function, function.get(&["parameters"]));
        }
        reader.list(self, request.tools().unwrap_or_default());
    }
    /// Reads one of them.
    fn read_tool(&self, item: &Object<'_>, reader: &mut ToolReader<'_>);
    /// Reads which tool is to be called; `None` if it can't be understood.
    fn read_choice(&self, name: &str, value: &Value, parameters: &mut Parameters) -> Option<()>;

    /// A text element for a content list.
    fn text_block(&self, text: &str) -> String {
        format!(r#"{{"type":"text","text":{}}}"#, quote(text))
    }
    /// The same for what the model says.
    fn model_text(&self, text: &str) -> String {
        self.text_block(text)
    }
    /// The system prompt: a member of the body, and messages.
    fn system(&self, system: &[Instruction]) -> (Option<String>, Vec<String>) {
        if self.has(Feature::InstructionMessages) {
            return (None, system.iter().map(Instruction::message).collect());
        }
        let text = match system {
            [only] if self.has(Feature::StringContent) => quote(&only.text),
            system => format!("[{}]", texts(self, system)),
        };
        (Some(format!(r#""system":{text}"#)), Vec::new())
    }
    /// A tool's definition.
    fn definition(&self, tool: &Tool) -> String;
    /// The member of the body that holds the definitions of tools.
    fn tools(&self, list: &str, _choice: Option<&ToolChoice>) -> String {
        format!(r#""tools":[{list}]"#)
    }
    /// Whether it can say, with such a choice, whether several tools may be called at once.
    fn can_limit_calls(&self, _choice: Option<&ToolChoice>) -> bool {
        false
    }
    /// Members of the body that say which tool is to be called, and whether several may be.
    fn choice(&self, _wish: &CallDemand<'_>) -> Members {
        Vec::new()
    }
    /// The messages of a reply; `only` is what it says if that is one text.
    fn reply(&self, reply: Vec<SpokenPiece>, _only: Option<&str>) -> Vec<String> {
        let text = |(SpokenPiece::Element(text) | SpokenPiece::Call(text))| text;
        let elements: Vec<String> = reply.into_iter().map(text).collect();
        message_of(self.terms(), Side::Model, &elements).into_iter().collect()
    }
    /// A medium as an element; `None` where it can't be shown.
    fn medium(&self, shown: &ShownMedium<'_>) -> Option<Value>;
    /// Whether results of calls that went so may have media.
    fn shows_in_results(&self, _outcome: CallOutcome) -> bool {
        true
    }
    fn call(&self, call: &ToolCall, seal: Seal) -> String;
    /// A result: a message, an item or an element.
    fn result(&self, answer: &ToolAnswer, content: &[Inside]) -> String;
}

/// What a tool is called with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallForm {
    /// A function's arguments.
    Function,
    /// Words.
    Words,
    /// A form of its own.
    Own,
}

/// Whether a call has the signature of calls that the model didn't make, if the format has one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seal {
    None,
    Foreign,
}

/// A piece of a reply, as it is written.
pub(crate) enum SpokenPiece {
    Element(String),
    Call(String),
}

/// A piece of a result: words, or a medium as it is written.
pub(crate) enum Inside {
    Text(String),
    Shown(String),
}

/// A result's content as elements, separated by commas.
pub(super) fn elements(to: &impl Conversion, content: &[Inside]) -> String {
    let element = |piece: &Inside| match piece {
        Inside::Text(words) => to.text_block(words),
        Inside::Shown(medium) => medium.clone(),
    };
    content.iter().map(element).collect::<Vec<_>>().join(",")
}

/// A result's content as a string where it is one text, else as a list.
pub(super) fn words(to: &impl Conversion, content: &[Inside]) -> String {
    match content {
        [] => quote(""),
        [Inside::Text(text)] => quote(text),
        _ => format!("[{}]", elements(to, content)),
    }
}

/// Whether a block says that the model refuses.
pub(crate) fn is_refusal(part: &Part<'_>) -> bool {
    let raw = part.raw();
    raw.starts_with('{') && json::text_member(raw, "type").as_deref() == Some("refusal")
}

/// What is to be called.
pub(crate) struct CallDemand<'a> {
    pub(crate) choice: Option<&'a ToolChoice>,
    /// Whether several tools may be called at once.
    pub(crate) parallel: Option<bool>,
    pub(crate) tools: &'a [Tool],
}

/// Members of a body, by their paths.
pub(crate) type Members = Vec<(&'static str, Value)>;

/// A message of these elements.
pub(crate) fn message(terms: &Terms, side: Side, list: &str) -> String {
    if terms.features.contains(&Feature::TypedSteps) {
        let kind = if side == Side::Model { terms.model_role } else { "user_input" };
        return format!(r#"{{"type":"{kind}","{}":[{list}]}}"#, terms.content);
    }
    let is_typed = terms.features.contains(&Feature::TypedMessages);
    let kind = if is_typed { r#""type":"message","# } else { "" };
    let (key, role) = (terms.content, if side == Side::Model { terms.model_role } else { "user" });
    format!(r#"{{{kind}"role":"{role}","{key}":[{list}]}}"#)
}

/// The same if there are any.
pub(crate) fn message_of(terms: &Terms, side: Side, elements: &[String]) -> Option<String> {
    (!elements.is_empty()).then(|| message(terms, side, &elements.join(",")))
}

/// Instructions as elements, separated by commas.
pub(super) fn texts(to: &(impl Conversion + ?Sized), system: &[Instruction]) -> String {
    let texts: Vec<String> = system.iter().map(|said| to.text_block(&said.text)).collect();
    texts.join(",")
}
