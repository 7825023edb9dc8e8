//! The archive in memory obeys the laws of archives.

use epitome::archive::MemoryArchive;
use testkit::archives::laws;

#[test]
fn the_archive_in_memory_obeys_the_laws() {
    laws(&|| Box::new(MemoryArchive::default()));
}
