//! How much of all requests is held at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that may be held together.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    most: usize,
    held: Arc<AtomicUsize>,
}

/// What one request holds of it; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    room: Room,
    bytes: usize,
}

impl Room {
    pub(crate) fn of(most: usize) -> Self {
        Room { most, held: Arc::default() }
    }

    pub(crate) fn share(&self) -> Share {
        Share { room: self.clone(), bytes: 0 }
    }
}

impl Share {
    /// Takes so much more, if there is so much.
    pub(crate) fn takes(&mut self, bytes: usize) -> bool {
        let more = |held: usize| held.checked_add(bytes).filter(|held| *held <= self.room.most);
        let taken = self.room.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        if taken.is_ok() {
            self.bytes += bytes;
        }
        taken.is_ok()
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.room.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_share_returns_its_room() {
        let room = Room::of(10);
        let (mut one, mut two) = (room.share(), room.share());
        assert!(one.takes(6) && !two.takes(5) && two.takes(4) && !one.takes(1));
        drop(one);
        assert!(two.takes(6) && !two.takes(1));
    }
}
