//! Where a whole compactor is asked over gRPC; without the feature `grpc` there is no such place.

#[cfg(feature = "grpc")]
pub(crate) use epitome_rpc::Address;

#[cfg(not(feature = "grpc"))]
pub(crate) use absent::Address;

#[cfg(not(feature = "grpc"))]
mod absent {
    use std::fmt;
    use std::str::FromStr;

    /// None can be made.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) enum Address {}

    impl FromStr for Address {
        type Err = &'static str;

        fn from_str(_text: &str) -> Result<Self, &'static str> {
            Err("this program was built without gRPC (cargo feature `grpc`)")
        }
    }

    impl fmt::Display for Address {
        fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match *self {}
        }
    }
}
