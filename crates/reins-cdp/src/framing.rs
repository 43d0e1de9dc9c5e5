//! NUL-terminated messages out of a byte stream.

use bytes::{Buf, Bytes, BytesMut};

/// What one read asks for: the default capacity of a pipe on Linux.
const READ_BYTES: usize = 64 * 1024;

/// Messages up to this size are copied out, so that the buffer is reused for good. Larger ones
/// are taken out whole without a copy.
const COPY_BYTES: usize = 16 * 1024;

/// The largest message that is kept. Chromium itself stops at 256 MiB on a WebSocket; a pipe has
/// no limit of its own, and a hostile page can make the browser send anything.
pub(crate) const MESSAGE_BYTES: usize = 256 * 1024 * 1024;

/// How much of a message that is too large is kept, to learn whose answer it was.
const HEAD_BYTES: usize = 256;

/// One message, or what is left of one that was too large.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Message(Bytes),
    TooLarge { head: Bytes },
}

/// Collects bytes and cuts them at NUL. The scan position is kept between reads: without it a
/// 20 MB message costs quadratic time.
pub(crate) struct Frames {
    buf: BytesMut,
    scanned: usize,
    limit: usize,
    skipping: Option<Bytes>,
}

impl Frames {
    pub(crate) fn new() -> Self {
        Self::with_limit(MESSAGE_BYTES)
    }

    pub(crate) fn with_limit(limit: usize) -> Self {
        Self { buf: BytesMut::new(), scanned: 0, limit, skipping: None }
    }

    /// Where the next read goes.
    pub(crate) fn space(&mut self) -> &mut BytesMut {
        self.buf.reserve(READ_BYTES);
        &mut self.buf
    }

    /// The next whole message, if there is one.
    pub(crate) fn next(&mut self) -> Option<Frame> {
        loop {
            let Some(at) = memchr::memchr(0, &self.buf[self.scanned..]) else {
                self.scanned = self.buf.len();
                if self.scanned > self.limit && self.skipping.is_none() {
                    self.skipping = Some(head(&self.buf));
                }
                if self.skipping.is_some() {
                    self.buf = BytesMut::new();
                    self.scanned = 0;
                }
                return None;
            };
            let len = self.scanned + at;
            self.scanned = 0;
            if let Some(head) = self.skipping.take() {
                self.buf.advance(len + 1);
                return Some(Frame::TooLarge { head });
            }
            if len == 0 {
                self.buf.advance(1);
                continue;
            }
            if len > self.limit {
                let head = head(&self.buf[..len]);
                self.take(len);
                return Some(Frame::TooLarge { head });
            }
            return Some(Frame::Message(self.take(len)));
        }
    }

    fn take(&mut self, len: usize) -> Bytes {
        if len <= COPY_BYTES {
            let message = Bytes::copy_from_slice(&self.buf[..len]);
            self.buf.advance(len + 1);
            return message;
        }
        let mut message = self.buf.split_to(len + 1);
        message.truncate(len);
        // The rest moves out, or it would keep the large allocation alive.
        let rest = std::mem::take(&mut self.buf);
        self.buf.extend_from_slice(&rest);
        message.freeze()
    }
}

fn head(bytes: &[u8]) -> Bytes {
    Bytes::copy_from_slice(&bytes[..bytes.len().min(HEAD_BYTES)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::BufMut;
    use proptest::prelude::*;

    fn feed(frames: &mut Frames, chunk: &[u8]) -> Vec<Frame> {
        frames.space().put_slice(chunk);
        std::iter::from_fn(|| frames.next()).collect()
    }

    fn messages(frames: Vec<Frame>) -> Vec<Vec<u8>> {
        frames
            .into_iter()
            .map(|frame| match frame {
                Frame::Message(bytes) => bytes.to_vec(),
                Frame::TooLarge { .. } => panic!("no message here is too large"),
            })
            .collect()
    }

    proptest! {
        /// However the stream is cut into reads, the same messages come out, in order.
        #[test]
        fn any_cut_of_the_stream_gives_the_same_messages(
            sent in proptest::collection::vec(
                (1u8.., prop_oneof![1usize..40, COPY_BYTES - 2..COPY_BYTES + 3]),
                0..12,
            ),
            cuts in proptest::collection::vec(1usize..30_000, 1..60),
        ) {
            let sent: Vec<Vec<u8>> = sent.into_iter().map(|(byte, n)| vec![byte; n]).collect();
            let stream: Vec<u8> =
                sent.iter().flat_map(|m| m.iter().copied().chain([0])).collect();
            let mut frames = Frames::new();
            let mut got = Vec::new();
            let mut rest = &stream[..];
            let mut cuts = cuts.iter().cycle();
            while !rest.is_empty() {
                let n = rest.len().min(*cuts.next().unwrap());
                got.extend(messages(feed(&mut frames, &rest[..n])));
                rest = &rest[n..];
            }
            prop_assert_eq!(got, sent);
        }
    }

    #[test]
    fn a_large_message_does_not_keep_its_buffer() {
        let mut frames = Frames::new();
        let mut stream = vec![b'x'; 8 * 1024 * 1024];
        stream.extend_from_slice(b"\0{}\0");
        let got = feed(&mut frames, &stream);
        assert_eq!(got.len(), 2);
        drop(got);
        assert!(frames.buf.capacity() <= 2 * READ_BYTES, "{}", frames.buf.capacity());
    }

    #[test]
    fn a_message_over_the_limit_is_skipped_and_the_next_one_arrives() {
        for chunk in [7, 64, 5_000] {
            let mut frames = Frames::with_limit(1_000);
            let mut stream = br#"{"id":7,"result":""#.to_vec();
            stream.resize(4_000, b'x');
            stream.extend_from_slice(b"\0{}\0");
            let mut got = Vec::new();
            for part in stream.chunks(chunk) {
                got.extend(feed(&mut frames, part));
            }
            assert_eq!(got.len(), 2, "in chunks of {chunk}");
            let Frame::TooLarge { head } = &got[0] else { panic!("it was over the limit") };
            assert!(head.starts_with(br#"{"id":7,"#));
            assert_eq!(got[1], Frame::Message(Bytes::from_static(b"{}")));
        }
    }
}
