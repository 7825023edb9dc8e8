//! epitome-recordings
