//! Server-sent events out of chunks of bytes: the data of each, joined.

/// A stream that is being read.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
}

impl Events {
    /// Takes a chunk in; the data of every event that ends in it, as bytes: whoever reads them as JSON finds what isn't
    /// UTF-8.
    pub(crate) fn take(&mut self, chunk: &[u8]) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        for byte in chunk {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            if line.is_empty() {
                out.extend(self.end());
            } else if let Some(data) = line.strip_prefix(b"data:") {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
            }
        }
        out
    }

    /// What is left at the end of the stream, where the last event isn't ended by an empty line.
    pub(crate) fn end(&mut self) -> Option<Vec<u8>> {
        let data = std::mem::take(&mut self.data);
        std::mem::take(&mut self.has_data).then_some(data)
    }

    /// Bytes that are held.
    pub(crate) fn held(&self) -> usize {
        self.line.len() + self.data.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_whole_wherever_chunks_end() {
        let stream = "event: x\r\ndata: {\"a\":\ndata: 1}\n\n: comment\n\ndata:{}\n\ndata: é\n";
        for size in [1, 2, 3, 7, 100] {
            let mut events = Events::default();
            let mut out: Vec<Vec<u8>> =
                stream.as_bytes().chunks(size).flat_map(|chunk| events.take(chunk)).collect();
            out.extend(events.end());
            assert_eq!(out, ["{\"a\":\n1}", "{}", "é"].map(str::as_bytes), "{size}");
        }
    }
}
