//! The attributes of a file beside its bytes: mode, owner, extended attributes, other names.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Gives `file` the attributes of the file at `path`; returns those that it couldn't get, in words. Other names of the
/// same file keep naming the old one, which is reported.
pub(super) fn carry(file: &File, path: &Path, old: &Metadata) -> io::Result<Vec<String>> {
    let mut unkept = Vec::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        // Whoever may not give it away may still give it to a group of theirs.
        if fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
            let _denied = fchown(file, None, Some(old.gid()));
        }
        let new = file.metadata()?;
        if new.uid() != old.uid() {
            unkept.push(format!("its owner (user {})", old.uid()));
        }
        if new.gid() != old.gid() {
            unkept.push(format!("its group ({})", old.gid()));
        }
        if old.nlink() > 1 {
            let others = old.nlink() - 1;
            let what = if others == 1 { "name, which keeps" } else { "names, which keep" };
            super::warn(&format!(
                "{} has {others} other {what} what it was",
                crate::quoting::name(path)
            ));
        }
    }
    // Behind the owner, whose change takes rights away.
    file.set_permissions(old.permissions())?;
    unkept.extend(attributes(file, path));
    Ok(unkept)
}

/// Gives it the extended attributes, access lists among them.
#[cfg(target_os = "linux")]
fn attributes(file: &File, path: &Path) -> Vec<String> {
    use rustix::fs::{XattrFlags, fgetxattr, fsetxattr, getxattr, listxattr};

    // What Linux allows for all names of a file, and for one value.
    let mut names = vec![0; 65_536];
    // A file system without attributes has none.
    let Ok(length) = listxattr(path, &mut names[..]) else { return Vec::new() };
    let mut unkept = Vec::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let (mut value, mut now) = (vec![0; 65_536], vec![0; 65_536]);
        let Ok(length) = getxattr(path, name, &mut value[..]) else { continue };
        let value = &value[..length];
        let is_there = |now: &mut [u8]| {
            fgetxattr(file, name, &mut *now).is_ok_and(|length| &now[..length] == value)
        };
        // The system gives some by itself.
        if !is_there(&mut now) && fsetxattr(file, name, value, XattrFlags::empty()).is_err() {
            unkept.push(format!("the attribute {}", String::from_utf8_lossy(name)));
        }
    }
    unkept
}

#[cfg(not(target_os = "linux"))]
fn attributes(_: &File, _: &Path) -> Vec<String> {
    Vec::new()
}
