//! Readers of recordings, against real files and hand-made ones.

mod claude_code;
