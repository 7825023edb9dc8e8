//! In the place of PostgreSQL where the feature `postgres` is off: nothing here can be made.

use super::url::without_password;
use super::{Connection, Deleted, May, Row, Value};
use crate::error::StoreError;

/// A server; there is none.
#[derive(Debug)]
pub(crate) enum Server {}

impl Server {
    /// Refuses a URL.
    pub(crate) fn new(url: &str, _password: Option<&str>) -> Result<Self, StoreError> {
        let why = "this program was built without PostgreSQL (cargo feature `postgres`)".to_owned();
        Err(StoreError::Address { url: without_password(url), why })
    }

    pub(crate) fn shown(&self) -> &str {
        match *self {}
    }

    pub(crate) fn connect(&self, _may: May) -> Result<Connection, StoreError> {
        match *self {}
    }
}

/// A connection; there is none.
#[derive(Debug)]
pub(crate) enum Link {}

impl Link {
    pub(super) fn is_closed(&self) -> bool {
        match *self {}
    }

    pub(super) fn rows(&self, _sql: &str, _values: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        match *self {}
    }

    pub(super) fn run(&self, _sql: &str, _values: &[Value<'_>]) -> Result<u64, StoreError> {
        match *self {}
    }

    pub(super) fn each<const N: usize>(
        &self,
        _sql: &str,
        _all: &[[Value<'_>; N]],
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        match *self {}
    }

    pub(super) fn vacuum(&self, _deleted: Deleted) -> Result<(), StoreError> {
        match *self {}
    }

    pub(super) fn batch(&self, _sql: &str) -> Result<(), StoreError> {
        match *self {}
    }
}
