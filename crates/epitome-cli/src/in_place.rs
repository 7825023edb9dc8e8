//! Replacing an agent's recording: never under the agent's hands, never over what it wrote meanwhile.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use epitome::Outcome;
use epitome_recordings::{self as recordings, Applied, ApplyError, Archived, Kind};

use crate::failure::Failure;
use crate::identity::Identity;
use crate::input;
use crate::output::{self, Parcel, Place};
use crate::quoting::{name, operand};

/// A recording that is to be replaced by another version of itself.
#[derive(Debug)]
pub(crate) struct InPlace {
    /// Where it goes: links are followed.
    pub(crate) place: Place,
    path: PathBuf,
    text: Arc<String>,
    identity: Option<Identity>,
}

impl InPlace {
    /// Reads the file.
    ///
    /// # Errors
    /// It can't be read or replaced, or a process has it open.
    pub(crate) fn read(flag: &str, file: Option<&Path>) -> Result<Self> {
        let Some(path) = file.filter(|file| file.as_os_str() != "-") else {
            let failure = Failure::usage(format!("{flag} needs a file: stdin can't be replaced"));
            return Err(failure.hint(format!("epitome compact FILE {flag}")).into());
        };
        let place = Place::wanted(flag, path)?;
        if !matches!(place, Place::File(_)) {
            let what = format!("{flag} needs a regular file, which {} isn't", name(path));
            return Err(Failure::usage(what).hint(format!("ls -l {}", operand(path))).into());
        }
        let identity = Identity::of_file(path);
        let text = String::from_utf8(input::bytes(Some(path))?).map_err(|_| {
            let what = format!("{} isn't UTF-8, so that no agent wrote it", name(path));
            Failure::input(what).hint(format!("epitome check {}", operand(path)))
        })?;
        let found = InPlace { place, path: path.to_owned(), text: Arc::new(text), identity };
        found.is_free()?;
        for left in output::leftovers(path.parent().unwrap_or(Path::new("."))) {
            let left = name(&left);
            output::warn(&format!(
                "{left} is left of a run that was killed: look whether it says more than the recordings beside it, then remove it"
            ));
        }
        Ok(found)
    }

    /// What is in it.
    pub(crate) fn text(&self) -> &Arc<String> {
        &self.text
    }

    /// Puts another version in its place, and writes the others behind that; what it was stays the file's if
    /// somebody wrote to it meanwhile.
    ///
    /// # Errors
    /// Somebody has it open, or it isn't what it was.
    pub(crate) fn replace(&self, text: &[u8], others: &[Parcel<'_>]) -> Result<()> {
        let over = Parcel { place: &self.place, text };
        output::replace(&over, &|at| self.is_untouched(at), others)
    }

    /// Looks again at the file, which lies at `at` by now.
    fn is_untouched(&self, at: &Path) -> Result<()> {
        self.is_free()?;
        let is_same = Identity::of_file(at) == self.identity
            && fs::read(at).is_ok_and(|bytes| bytes == self.text.as_bytes());
        if is_same {
            return Ok(());
        }
        let what = format!("{} was written to meanwhile; it is left as it is", name(&self.path));
        Err(Failure::again(what).hint("end the agent, then try the same again").into())
    }

    fn is_free(&self) -> Result<()> {
        let Some(holder) = self.identity.and_then(Identity::holder) else { return Ok(()) };
        let what = format!("{} is open in {holder}; it is left as it is", name(&self.path));
        Err(Failure::again(what).hint("end that process, then try the same again").into())
    }

    /// The recording with a compaction put behind it.
    pub(crate) fn with(
        &self,
        kind: Kind,
        outcome: &Outcome,
        archived: &Archived,
    ) -> Result<String> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let applied = Applied { outcome, archived, at };
        recordings::apply(kind, &self.text, &applied).map_err(|error| {
            let what = format!("{} is left as it is: {error}", name(&self.path));
            match error {
                ApplyError::Differs { .. } => Failure::other(what)
                    .hint("give it to the agent as a request: leave --apply out, add -o OUT"),
                _ => Failure::input(what).hint(format!("epitome check {}", operand(&self.path))),
            }
            .into()
        })
    }
}

/// The kind of recording that can be compacted in place.
///
/// # Errors
/// It is another one, or a request.
pub(crate) fn kind(file: &str, recording: Option<&str>) -> Result<Kind> {
    let known = [Kind::ClaudeCode, Kind::Codex, Kind::Pi];
    if let Some(kind) = known.into_iter().find(|kind| Some(kind.name()) == recording) {
        return Ok(kind);
    }
    let file = Path::new(file);
    let what = match recording {
        Some(kind) => format!("{} is a {kind} recording", name(file)),
        None => format!("{} is a request", name(file)),
    };
    let what = format!("{what}; in place go recordings of claude-code, codex and pi");
    let out = operand(file);
    Err(Failure::usage(what).hint(format!("epitome compact {out} -o {out}")).into())
}
