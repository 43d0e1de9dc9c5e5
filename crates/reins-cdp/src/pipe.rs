//! The pipe transport: NUL-terminated messages on two byte streams.

use crate::error::CloseReason;
use crate::framing::{Frame, Frames};
use crate::router::{Outgoing, Router};
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Reads until the browser closes its end or the connection is closed.
pub(crate) async fn read(router: Arc<Router>, mut reader: impl AsyncRead + Send + Unpin) {
    let reason = tokio::select! {
        biased;
        _ = router.closed() => return,
        reason = read_all(&router, &mut reader) => reason,
    };
    router.close(reason);
}

async fn read_all(router: &Router, reader: &mut (impl AsyncRead + Unpin)) -> CloseReason {
    let mut frames = Frames::new();
    loop {
        match reader.read_buf(frames.space()).await {
            Ok(0) => return CloseReason::Ended,
            Ok(_) => {}
            Err(e) => return ended(&e),
        }
        while let Some(frame) = frames.next() {
            match frame {
                Frame::Message(bytes) => router.receive(bytes),
                Frame::TooLarge { head } => router.receive_too_large(&head),
            }
        }
    }
}

/// Writes what is queued until the connection closes.
pub(crate) async fn write(router: Arc<Router>, mut writer: impl AsyncWrite + Send + Unpin) {
    let mut joined = Vec::new();
    while let Some(batch) = router.batch().await {
        let mut ends = Vec::with_capacity(batch.len());
        let bytes = join(&batch, &mut joined, &mut ends);
        let mut done = 0;
        let result = tokio::select! {
            biased;
            _ = router.closed() => return,
            result = write_all(&mut writer, bytes, &mut done) => result,
        };
        if let Err(e) = result {
            // A command counts as sent from its first byte on.
            let starts = std::iter::once(0).chain(ends);
            let unwritten = batch.iter().zip(starts).filter(|(_, start)| *start >= done);
            router.unwritten(unwritten.map(|(o, _)| o.id));
            router.close(ended(&e));
            return;
        }
        // A large command must not keep its memory.
        joined.clear();
        joined.shrink_to(64 * 1024);
    }
}

fn join<'a>(batch: &[Outgoing], joined: &'a mut Vec<u8>, ends: &mut Vec<usize>) -> &'a [u8] {
    for out in batch {
        joined.extend_from_slice(out.text.as_bytes());
        joined.push(0);
        ends.push(joined.len());
    }
    joined
}

async fn write_all(
    writer: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
    done: &mut usize,
) -> io::Result<()> {
    while *done < bytes.len() {
        let n = writer.write(&bytes[*done..]).await?;
        if n == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        *done += n;
    }
    writer.flush().await
}

fn ended(e: &io::Error) -> CloseReason {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof, WriteZero};
    match e.kind() {
        BrokenPipe | ConnectionReset | UnexpectedEof | WriteZero => CloseReason::Ended,
        _ => CloseReason::Failed(e.to_string()),
    }
}
