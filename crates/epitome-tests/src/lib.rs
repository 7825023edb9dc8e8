//! Integration tests of the library `epitome`, in `tests/it`. They are a crate of their own because they
//! need `testkit`, which needs `epitome`: in the library's own crate they would build it twice.
