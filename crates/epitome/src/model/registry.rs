//! The table of models, and how one is found in it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::entry::{Bound, Model, Reasoning, Tokenizer};
use super::name;

/// The version of the file's form that is read here.
pub const SCHEMA: u32 = 1;

/// The table that is built in, made by `scripts/models.py`.
const BUILT_IN: &str = include_str!("../../data/models.json");

/// Everything that is known of models.
#[derive(Clone, Debug)]
pub struct Registry {
    models: Vec<Model>,
    /// Where each id and alias leads.
    index: BTreeMap<String, usize>,
    families: Vec<Family>,
    vendors: BTreeMap<String, String>,
    sources: Vec<FactSource>,
    made: String,
}

/// The facts about a model that isn't in the table, by the start of its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// How such names start.
    pub starts: Vec<String>,
    /// Who makes them.
    pub vendor: String,
    /// The family of their tokenizer.
    pub tokenizer: Tokenizer,
    /// What becomes of their reasoning when its prefix is edited.
    #[serde(default)]
    pub binding: Bound,
}

/// What the table was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactSource {
    /// How models name it.
    pub name: String,
    /// What it is.
    pub what: String,
    /// Its licence, where it isn't this project's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// Its day.
    pub date: String,
}

/// The form of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RegistryFile {
    schema: u32,
    made: String,
    #[serde(default)]
    sources: Vec<FactSource>,
    #[serde(default)]
    vendors: BTreeMap<String, String>,
    #[serde(default)]
    families: Vec<Family>,
    models: BTreeMap<String, Model>,
}

/// The form of a user's file: the same, and nothing must be there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Overlay {
    schema: Option<u32>,
    #[serde(default)]
    vendors: BTreeMap<String, String>,
    #[serde(default)]
    families: Vec<Family>,
    #[serde(default)]
    models: BTreeMap<String, Map<String, Value>>,
}

/// A table that can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Not JSON, not of this form, or with a key that means nothing.
    #[error("{0}")]
    Form(#[from] serde_json::Error),
    /// A model's facts are not of this form.
    #[error("model {model}: {error}")]
    Model {
        /// The model.
        model: String,
        /// The error.
        error: serde_json::Error,
    },
    /// Written for another version of this library.
    #[error("the schema is {found}; {SCHEMA} can be read")]
    Schema {
        /// What the file says.
        found: u32,
    },
    /// Two models share a name.
    #[error("{name} is an alias of both {first} and {second}")]
    Ambiguous {
        /// The name.
        name: String,
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
}

/// No model is called so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model {name:?} isn't known{}", hinted(.nearest))]
pub struct UnknownModel {
    /// The requested name.
    pub name: String,
    /// Known ids like it, the nearest first.
    pub nearest: Vec<String>,
}

fn hinted(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; nearest: {}", nearest.join(", ")) }
}

impl Registry {
    /// The table that is built in; read when it is first asked for.
    pub fn built_in() -> &'static Registry {
        static TABLE: LazyLock<Registry> =
            LazyLock::new(|| Registry::parse(BUILT_IN).expect("a test reads it"));
        &TABLE
    }

    /// Reads a whole table.
    ///
    /// # Errors
    /// See [`RegistryError`]; an unknown key is one.
    pub fn parse(text: &str) -> Result<Self, RegistryError> {
        let written: RegistryFile = serde_json::from_str(text)?;
        if written.schema != SCHEMA {
            return Err(RegistryError::Schema { found: written.schema });
        }
        let named = |(id, model)| Model { id, ..model };
        let mut registry = Registry {
            models: written.models.into_iter().map(named).collect(),
            index: BTreeMap::new(),
            families: written.families,
            vendors: written.vendors,
            sources: written.sources,
            made: written.made,
        };
        registry.reindex()?;
        Ok(registry)
    }

    /// This table, overridden by a user's own facts: models by id, each with only the facts that differ (`null` removes
    /// a fact). Facts without a source get `source`.
    ///
    /// ```
    /// use epitome::model::Registry;
    ///
    /// let mine = r#"{"models": {"claude-opus-5-5": {"input": 200000}}}"#;
    /// let registry = Registry::built_in().overlaid(mine, "my models")?;
    /// assert_eq!(registry.find("claude-opus-5-5")?.most_input(), Some(200_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`RegistryError`]; an unknown key is one.
    pub fn overlaid(&self, text: &str, source: &str) -> Result<Self, RegistryError> {
        let overlay: Overlay = serde_json::from_str(text)?;
        if let Some(found) = overlay.schema.filter(|schema| *schema != SCHEMA) {
            return Err(RegistryError::Schema { found });
        }
        let mut registry = self.clone();
        registry.vendors.extend(overlay.vendors);
        // Their own go first: of starts that are equally long, the first counts.
        registry.families.splice(0..0, overlay.families);
        for (id, facts) in overlay.models {
            registry.put(&id, facts, source)?;
        }
        registry.reindex()?;
        Ok(registry)
    }

    fn put(
        &mut self,
        id: &str,
        facts: Map<String, Value>,
        source: &str,
    ) -> Result<(), RegistryError> {
        let wrong = |error| RegistryError::Model { model: id.to_owned(), error };
        let known = self.index.get(&name::key(id)).copied();
        let mut whole = match known {
            Some(at) => serde_json::to_value(&self.models[at]).map_err(wrong)?,
            None => Value::Object(Map::new()),
        };
        let said = facts.contains_key("source");
        merge(&mut whole, Value::Object(facts));
        let mut model: Model = serde_json::from_value(whole).map_err(wrong)?;
        model.id = known.map_or_else(|| id.to_owned(), |at| self.models[at].id.clone());
        if !said {
            model.source = if known.is_some() {
                format!("{source} over {}", model.source)
            } else {
                source.to_owned()
            };
        }
        match known {
            Some(at) => self.models[at] = model,
            None => self.models.push(model),
        }
        Ok(())
    }

    fn reindex(&mut self) -> Result<(), RegistryError> {
        self.index.clear();
        for (at, model) in self.models.iter().enumerate() {
            for called in std::iter::once(&model.id).chain(&model.aliases) {
                if let Some(other) =
                    self.index.insert(name::key(called), at).filter(|old| *old != at)
                {
                    return Err(RegistryError::Ambiguous {
                        name: called.clone(),
                        first: self.models[other].id.clone(),
                        second: model.id.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// The model of this name: a vendor's id or an alias, with or without a date, or such an id as a cloud, gateway or
    /// client writes it.
    pub fn get(&self, name: &str) -> Option<&Model> {
        // Most requests use the name in the table.
        let plain = self.index.get(&name::key(name)).copied();
        let known = |key: &String| self.index.get(key).copied();
        let at = plain.or_else(|| name::keys(name).iter().find_map(known))?;
        self.models.get(at)
    }

    /// The same.
    ///
    /// # Errors
    /// No model is called so; the error names those nearest to it.
    pub fn find(&self, name: &str) -> Result<&Model, UnknownModel> {
        self.get(name)
            .ok_or_else(|| UnknownModel { name: name.to_owned(), nearest: self.nearest(name) })
    }

    /// The facts of models whose names share the longest known start with this one.
    pub fn family(&self, name: &str) -> Option<&Family> {
        let keys = name::keys(name);
        let bare = keys.last().map(|key| key.strip_prefix("ft-").unwrap_or(key))?;
        let mut best: Option<(usize, &Family)> = None;
        for family in &self.families {
            for start in family.starts.iter().map(|start| start.trim()) {
                let is_longer = best.is_none_or(|(longest, _)| start.len() > longest);
                if is_longer && name::starts(bare, start) {
                    best = Some((start.len(), family));
                }
            }
        }
        best.map(|(_, family)| family)
    }

    /// The tokenizer of a model, or of its family.
    pub fn tokenizer(&self, name: &str) -> Option<Tokenizer> {
        let known = self.get(name).map(|model| model.tokenizer);
        known.or_else(|| self.family(name).map(|family| family.tokenizer))
    }

    /// What becomes of a model's reasoning when its prefix is edited; what isn't in the table is judged by
    /// its family.
    pub fn bound(&self, name: &str) -> Bound {
        self.known_bound(name).unwrap_or_default()
    }

    /// The same; `None` for a model of unknown family.
    pub(super) fn known_bound(&self, name: &str) -> Option<Bound> {
        let known = self.get(name).map(Model::bound);
        known.or_else(|| self.family(name).map(|family| family.binding))
    }

    /// A model that isn't in the table, as far as its family is known: no window, no price.
    pub fn presume(&self, name: &str) -> Model {
        let family = self.family(name);
        let binding = family.map(|family| family.binding).unwrap_or_default();
        Model {
            id: name.to_owned(),
            vendor: family.map(|family| family.vendor.clone()).unwrap_or_default(),
            tokenizer: family.map(|family| family.tokenizer).unwrap_or_default(),
            thinking: binding.is_bound().then(|| Reasoning { binding, ..Reasoning::default() }),
            source: "its family".to_owned(),
            ..Model::default()
        }
    }

    /// Known ids like `name`, the nearest first; three at most.
    pub fn nearest(&self, name: &str) -> Vec<String> {
        /// Less alike than this is no help.
        const LEAST: f64 = 0.8;
        let keys = name::keys(name);
        let bare = keys.last().map_or("", String::as_str);
        let mut scored: Vec<(f64, &str)> = Vec::new();
        for (key, at) in &self.index {
            let score = strsim::jaro_winkler(bare, key);
            let id = self.models[*at].id.as_str();
            match scored.iter_mut().find(|(_, known)| *known == id) {
                Some(known) => known.0 = known.0.max(score),
                None if score >= LEAST => scored.push((score, id)),
                None => {}
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        scored.into_iter().take(3).map(|(_, id)| id.to_owned()).collect()
    }

    /// All models, by id.
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// The vendor's name for people.
    pub fn vendor<'a>(&'a self, id: &'a str) -> &'a str {
        self.vendors.get(id).map_or(id, String::as_str)
    }

    /// What the table was made from.
    pub fn sources(&self) -> &[FactSource] {
        &self.sources
    }

    /// The day that the table was made.
    pub fn made(&self) -> &str {
        &self.made
    }
}

/// Puts `facts` over `whole`; `null` takes away, objects are merged, all else is replaced (RFC 7396).
fn merge(whole: &mut Value, facts: Value) {
    let Value::Object(facts) = facts else {
        *whole = facts;
        return;
    };
    if !whole.is_object() {
        *whole = Value::Object(Map::new());
    }
    let Value::Object(whole) = whole else { unreachable!("it was made one") };
    for (key, fact) in facts {
        if fact.is_null() {
            whole.remove(&key);
        } else {
            merge(whole.entry(key).or_insert(Value::Null), fact);
        }
    }
}
