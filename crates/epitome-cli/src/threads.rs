//! A second thread, where the machine has a second core.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use epitome::Compactor;
use epitome::cores::Beside;

/// The same compactor, working beside this thread where that pays.
pub(crate) fn working(compactor: Compactor) -> Compactor {
    match thread::available_parallelism() {
        Ok(cores) if cores.get() > 1 => compactor.working(Arc::new(Second)),
        _ => compactor,
    }
}

/// A thread that ends before the call does. Where the system has no more, one thing is done after the other.
#[derive(Debug)]
pub(crate) struct Second;

impl Beside for Second {
    fn both(&self, first: &mut (dyn FnMut() + Send), second: &mut dyn FnMut()) {
        let first = Mutex::new(Some(first));
        let begin = || {
            let first = first.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(first) = first {
                first();
            }
        };
        thread::scope(|scope| {
            let beside = thread::Builder::new().spawn_scoped(scope, begin);
            if beside.is_err() {
                begin();
            }
            second();
            if let Ok(Err(panic)) = beside.map(thread::ScopedJoinHandle::join) {
                resume_unwind(panic);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_done_and_the_second_may_wait() {
        let (leave, left) = std::sync::mpsc::channel();
        let mut got = None;
        Second.both(&mut || leave.send(7).expect("it waits"), &mut || got = left.recv().ok());
        assert_eq!(got, Some(7));
    }

    #[test]
    #[should_panic(expected = "beside")]
    fn a_panic_beside_is_one_here() {
        Second.both(&mut || panic!("beside"), &mut || ());
    }
}
