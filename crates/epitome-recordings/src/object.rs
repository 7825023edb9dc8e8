//! An object's members by name, as they stand in the text.

use std::borrow::Cow;

use epitome::wire::json::{JsonError, Scanner, quote, unquote};

/// The members of an object, each value as it stands. Of duplicates the last one counts.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Object<'a> {
    /// Reads a text that is nothing but an object.
    ///
    /// # Errors
    /// It isn't JSON. JSON of another kind reads as `None`.
    pub(crate) fn read(text: &'a str) -> Result<Option<Self>, JsonError> {
        let mut scanner = Scanner::new(text);
        let object = match scanner.peek() {
            Some(b'{') => Some(Self::scan(&mut scanner)?),
            _ => scanner.value().map(|_| None)?,
        };
        scanner.end()?;
        Ok(object)
    }

    /// The object that a value is; without members if it is something else.
    pub(crate) fn of(value: &'a str) -> Self {
        Self::read(value).ok().flatten().unwrap_or_default()
    }

    /// The members as far as the text is good; a value that breaks off counts up to its end.
    pub(crate) fn start(text: &'a str) -> Self {
        let mut members = Vec::new();
        let mut scanner = Scanner::new(text);
        let _break = scanner.object(|scanner, key| {
            let start = scanner.peek().map(|_| scanner.position());
            let value = scanner.value();
            let end = value.as_ref().map_or(text.len(), |value| value.end as usize);
            members.push((unquote(key.of(text)), &text[start.unwrap_or(end)..end]));
            value.map(|_| ())
        });
        Object { members }
    }

    fn scan(scanner: &mut Scanner<'a>) -> Result<Self, JsonError> {
        let text = scanner.text();
        let mut members = Vec::new();
        scanner.object(|scanner, key| {
            members.push((unquote(key.of(text)), scanner.value()?.of(text)));
            Ok::<_, JsonError>(())
        })?;
        Ok(Object { members })
    }

    /// The members in their order.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.members.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// The value called `name`; `null` is none.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let named = self.members.iter().rev().find(|(known, _)| known == name);
        named.map(|(_, value)| *value).filter(|value| *value != "null")
    }

    /// The string called `name`, as a literal.
    pub(crate) fn literal(&self, name: &str) -> Option<&'a str> {
        self.get(name).filter(|value| value.starts_with('"'))
    }

    /// The string called `name`, decoded.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.literal(name).map(unquote)
    }

    /// Whether the value called `name` begins so.
    pub(crate) fn opens(&self, name: &str, opening: char) -> bool {
        self.get(name).is_some_and(|value| value.starts_with(opening))
    }

    /// Whether there is a member with one of these names, even if it is `null`.
    pub(crate) fn has_any(&self, names: &[&str]) -> bool {
        self.members.iter().any(|(known, _)| names.contains(&known.as_ref()))
    }

    /// The first elements of the list called `name` as objects, as far as the text is good.
    pub(crate) fn start_of_list(&self, name: &str, most: usize) -> Vec<Object<'a>> {
        self.get(name).map(|list| start_of_list(list, most)).unwrap_or_default()
    }

    /// Whether `name` is the string `value`.
    pub(crate) fn says(&self, name: &str, value: &str) -> bool {
        self.text(name).is_some_and(|text| text == value)
    }

    /// Whether `name` is `true`.
    pub(crate) fn holds(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    /// The object called `name`; without members if there is none.
    pub(crate) fn object(&self, name: &str) -> Object<'a> {
        self.get(name).map(Object::of).unwrap_or_default()
    }

    /// The elements of the list called `name`; `None` if there is no list.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<&'a str>> {
        self.get(name).and_then(elements)
    }

    /// All of it, written anew.
    pub(crate) fn whole(&self) -> String {
        let members = self.members().map(|(name, value)| format!("{}:{value}", quote(name)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }

    /// Whether there are no members.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

/// An object with these members; values are JSON.
pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let members = members.into_iter().map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// The elements of a list as they stand; `None` if the value is no list.
pub(crate) fn elements(value: &str) -> Option<Vec<&str>> {
    let mut scanner = Scanner::new(value);
    if scanner.peek() != Some(b'[') {
        return None;
    }
    let mut found = Vec::new();
    let read = scanner.array(|scanner| {
        found.push(scanner.value()?.of(value));
        Ok::<_, JsonError>(())
    });
    read.is_ok().then_some(found)
}

/// The first elements of a list as objects, as far as the text is good.
pub(crate) fn start_of_list(list: &str, most: usize) -> Vec<Object<'_>> {
    let mut found = Vec::new();
    let mut scanner = Scanner::new(list);
    if scanner.peek() != Some(b'[') {
        return found;
    }
    let _break = scanner.array(|scanner| {
        scanner.peek();
        found.push(Object::start(&list[scanner.position()..]));
        if found.len() == most {
            return Err(scanner.error("seen enough"));
        }
        scanner.value().map(|_| ())
    });
    found
}

/// One literal for the concatenated `pieces`, which are literals.
pub(crate) fn joined<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
    let mut whole = String::from("\"");
    for piece in pieces {
        let inner = piece.strip_prefix('"').and_then(|piece| piece.strip_suffix('"'));
        whole.push_str(inner.unwrap_or_default());
    }
    whole.push('"');
    whole
}
