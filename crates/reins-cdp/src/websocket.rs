//! The WebSocket transport, for browsers that somebody else started.

use crate::error::{CloseReason, ConnectError};
use crate::framing::MESSAGE_BYTES;
use crate::router::Router;
use futures_util::{SinkExt, StreamExt, stream::SplitSink, stream::SplitStream};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message, error::ProtocolError};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

type Stream = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// tungstenite's own read buffer is 128 KiB a connection, which is more than it is worth here.
const READ_BUFFER: usize = 32 * 1024;

pub(crate) async fn open(url: &str, deadline: Duration) -> Result<Stream, ConnectError> {
    // The defaults are 64 MiB a message and 16 MiB a frame, and Chromium sends a message as one
    // frame: with them, one large accessibility tree kills the connection.
    let config = WebSocketConfig::default()
        .max_message_size(Some(2 * MESSAGE_BYTES))
        .max_frame_size(Some(2 * MESSAGE_BYTES))
        .read_buffer_size(READ_BUFFER);
    let connect = tokio_tungstenite::connect_async_with_config(url, Some(config), true);
    match tokio::time::timeout(deadline, connect).await {
        Ok(Ok((stream, _))) => Ok(stream),
        Ok(Err(source)) => {
            Err(ConnectError::Handshake { url: url.to_owned(), source: Box::new(source) })
        }
        Err(_) => Err(ConnectError::Deadline { url: url.to_owned(), deadline }),
    }
}

pub(crate) fn run(router: &Arc<Router>, stream: Stream) {
    let (sink, stream) = stream.split();
    tokio::spawn(read(router.clone(), stream));
    tokio::spawn(write(router.clone(), sink));
}

async fn read(router: Arc<Router>, mut stream: SplitStream<Stream>) {
    let reason = tokio::select! {
        biased;
        _ = router.closed() => return,
        reason = read_all(&router, &mut stream) => reason,
    };
    router.close(reason);
}

async fn read_all(router: &Router, stream: &mut SplitStream<Stream>) -> CloseReason {
    loop {
        match stream.next().await {
            Some(Ok(Message::Text(text))) => router.receive(text.into()),
            Some(Ok(Message::Binary(bytes))) => router.receive(bytes),
            Some(Ok(Message::Close(_))) | None => return CloseReason::Ended,
            Some(Ok(_)) => {}
            Some(Err(e)) => return ended(&e),
        }
    }
}

async fn write(router: Arc<Router>, mut sink: SplitSink<Stream, Message>) {
    while let Some(batch) = router.batch().await {
        let result = tokio::select! {
            biased;
            _ = router.closed() => return,
            result = async {
                for out in batch {
                    sink.feed(Message::text(out.text)).await?;
                }
                sink.flush().await
            } => result,
        };
        // The stream buffers, so what of a failed batch went out is not known: all counts as sent.
        if let Err(e) = result {
            router.close(ended(&e));
            return;
        }
    }
}

fn ended(e: &Error) -> CloseReason {
    match e {
        Error::ConnectionClosed
        | Error::AlreadyClosed
        | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => CloseReason::Ended,
        Error::Io(e) if e.kind() != std::io::ErrorKind::TimedOut => CloseReason::Ended,
        e => CloseReason::Failed(e.to_string()),
    }
}
