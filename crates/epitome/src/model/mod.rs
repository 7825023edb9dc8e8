//! What differs between models: windows, prices, prompt caches, reasoning, errors.
//!
//! ```
//! use epitome::model::{Registry, Rewrite};
//!
//! let model = Registry::built_in().find("us.anthropic.claude-opus-5-5-20261001-v1:0")?;
//! assert_eq!((model.id.as_str(), model.window), ("claude-opus-5-5", Some(1_000_000)));
//!
//! let rewrite = Rewrite { before: 150_000, after: 30_000, ..Rewrite::default() };
//! let cost = model.cost(&rewrite).expect("its price is known");
//! assert_eq!((cost.before.cold.to_string(), cost.after.cold.to_string()), ("$0.75".into(), "$0.15".into()));
//! assert_eq!(cost.break_even, Some(6.25));
//! # Ok::<(), epitome::model::UnknownModel>(())
//! ```

pub mod cache;
pub mod capability;
mod cost;
mod entry;
mod learn;
mod money;
mod name;
pub mod overflow;
mod reasoning;
mod registry;
mod unbound;
mod usage;

pub use cost::{COST_VERSION, Cost, Prompt, Rewrite};
pub use entry::{
    Billed, Bound, Cache, Cliff, EarlierReasoning, Mode, Model, Price, Rates, Reasoning, Scheme,
    Tokenizer, Unsupported,
};
pub use learn::{Learnt, Window};
pub use money::{Money, Rate};
pub use reasoning::Binding;
pub use registry::{FactSource, Family, Registry, RegistryError, SCHEMA, UnknownModel};
pub(crate) use unbound::unbind;
pub use unbound::{repair, repair_inspected};
pub use usage::{UsageReport, reply_levels};
