//! Replacing an agent's recording: never under the agent's hands, never over what it wrote meanwhile.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use epitome::Outcome;
use epitome_recordings::{self as recordings, Applied, ApplyError, Archived, READERS, Reader};

use crate::archive::Archived as Kept;
use crate::failure::Failure;
use crate::identity::Identity;
use crate::input::{self, Source};
use crate::output::{self, Parcel, Place};
use crate::quoting::{name, operand};

/// Between two looks whether another run of this program is done with a recording, and how many there are.
const PAUSE: Duration = Duration::from_millis(25);
const LOOKS: usize = 40;

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
            bail!(Failure::usage(what).hint(format!("ls -l {}", operand(path))));
        }
        let identity = Identity::of_file(path);
        let text = String::from_utf8(input::bytes(Some(path))?).map_err(|_| {
            let what = format!("{} isn't UTF-8, so no agent wrote it", name(path));
            Failure::input(what).hint(format!("epitome check {}", operand(path)))
        })?;
        let found = InPlace { place, path: path.to_owned(), text: Arc::new(text), identity };
        found.is_free()?;
        for left in output::leftovers(path.parent().unwrap_or(Path::new("."))) {
            let left = name(&left);
            output::warn(&format!(
                "{left} is left of a run that was killed: check whether it holds more than the recordings beside it, then remove it"
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

    /// Puts a compaction in its place, as [`InPlace::replace`] does, or gives way to one that another process put behind the
    /// same rows meanwhile: that is in force then.
    ///
    /// # Errors
    /// Somebody has it open, or it isn't what it was, be it another compaction.
    pub(crate) fn put(&self, text: &[u8], others: &[Parcel<'_>], own: Option<&Kept>) -> Result<()> {
        let Err(error) = self.replace(text, others) else { return Ok(()) };
        let (Some(own), Some(other)) = (own, self.outrun()) else { return Err(error) };
        if other.session != own.session {
            return Err(error);
        }
        own.give_way(other.view)?;
        let what = format!(
            "another process compacted {} meanwhile: {}.{} is in force, and nothing was written",
            name(&self.path),
            other.session,
            other.view
        );
        let look = format!("epitome stats {}", operand(&self.path));
        Err(Failure::again(what).hint(look).into())
    }

    /// Where the compaction is kept that is all that was put behind the recording since it was read.
    fn outrun(&self) -> Option<Archived> {
        let now = fs::read_to_string(&self.path).ok()?;
        let (archived, end) = recordings::applied(&now)?;
        let is_new = now.starts_with(self.text.as_str()) && end > self.text.len();
        let is_all = now[end..].trim().is_empty();
        let before = recordings::applied(&self.text).map(|(archived, _)| archived);
        (is_new && is_all && before.as_ref() != Some(&archived)).then_some(archived)
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
        let holder = || self.identity.and_then(Identity::holder);
        // Another of this program has it open for a moment only.
        let (mut found, mut looks) = (holder(), 0);
        while found.as_ref().is_some_and(|holder| holder.ends_with("(epitome)")) && looks < LOOKS {
            looks += 1;
            thread::sleep(PAUSE);
            found = holder();
        }
        let Some(holder) = found else { return Ok(()) };
        let what = format!("{} is open in {holder}; it is left as it is", name(&self.path));
        Err(Failure::again(what).hint("end that process, then try the same again").into())
    }

    /// The recording with a compaction put behind it.
    pub(crate) fn with(
        &self,
        reader: &dyn Reader,
        outcome: &Outcome,
        archived: &Archived,
    ) -> Result<String> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let applied = Applied { outcome, archived, at };
        recordings::apply(reader, &self.text, &applied).map_err(|error| {
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

/// The reader of a recording that can be compacted in place.
///
/// # Errors
/// It is another one, or a request.
pub(crate) fn reader(file: &str, recording: Option<&str>) -> Result<&'static dyn Reader> {
    let known = || READERS.into_iter().filter(|reader| reader.writer().is_some());
    if let Some(reader) = known().find(|reader| Some(reader.name()) == recording) {
        return Ok(reader);
    }
    let known: Vec<&str> = known().map(Reader::name).collect();
    let file = Path::new(file);
    let what = match recording {
        Some(kind) => format!("{} is a {kind} recording", name(file)),
        None => format!("{} is a request", name(file)),
    };
    let what = format!("{what}; in place go recordings of {}", known.join(", "));
    let hint = format!("epitome compact {} -o {}", operand(file), operand(beside(file)));
    Err(Failure::usage(what).hint(hint).into())
}

/// Refuses to put a request in place of the recording that it was read from: nobody has that back.
///
/// # Errors
/// A failure of usage.
pub(crate) fn spare_recording(place: &Place, input: Option<&Path>, source: &Source) -> Result<()> {
    let (Place::File(out), Some(kind)) = (place, &source.recording) else { return Ok(()) };
    let input = input.filter(|input| input.as_os_str() != "-");
    let read = input.map_or_else(Identity::of_stdin, Identity::of_file);
    if read.is_none() || read != Identity::of_file(out) {
        return Ok(());
    }
    let what = format!("-o {} would put a request where the {kind} recording is", name(out));
    let hint = format!("name another file: -o {}", operand(beside(out)));
    Err(Failure::usage(what).hint(hint).into())
}

/// The name of a file beside another one, for a request that is made from it.
fn beside(file: &Path) -> PathBuf {
    let names = (1..).map(|number: u32| match number {
        1 => "request.json".to_owned(),
        _ => format!("request-{number}.json"),
    });
    let mut free = names.map(|name| file.with_extension(name)).filter(|path| !path.exists());
    free.next().expect("some number is free")
}
