//! What came in, by its bytes.

use epitome::transcript::ContentId;

use crate::blob;
use crate::database::values;
use crate::error::StoreError;
use crate::store::Store;

impl Store {
    /// The bytes that came in and have this digest, in whichever session.
    pub fn input(&self, raw: ContentId) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(tenant) = self.tenant else { return Ok(None) };
        let reading = self.reading()?;
        let list: Option<Vec<u8>> = reading.one(
            "SELECT input.raw FROM input JOIN session ON session.n = input.session
             WHERE session.tenant = ?1 AND input.raw_id = ?2 LIMIT 1",
            values![tenant, raw.as_bytes().as_slice()],
        )?;
        list.map(|list| blob::joined(&reading, &list)).transpose()
    }
}
