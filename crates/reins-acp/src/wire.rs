//! JSON-RPC over the agent's stdin and stdout, one message a line.

use bytes::BytesMut;
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::io;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio_util::codec::{Decoder, FramedRead};

/// The longest line an agent may send. Tool results with pictures come back in updates and are a
/// few MiB; without a bound one line could take all memory.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// Messages to the agent that wait for it to read. We send a handful a run; a full queue means
/// that it does not read, and the run waits within its own deadlines.
const OUTGOING: usize = 64;

/// How much of a line that is no message is kept for an error's text.
const GARBAGE_CHARS: usize = 200;

/// What came from the agent.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// It wants an answer.
    Request { id: Value, method: String, params: Value },
    /// It tells something.
    Notification { method: String, params: Value },
    /// It answers.
    Response { id: i64, answer: Result<Value, RpcError> },
}

/// An error response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Value,
}

/// Both directions.
#[derive(Debug)]
pub(crate) struct Wire<R> {
    lines: FramedRead<R, Lines>,
    out: mpsc::Sender<Vec<u8>>,
    next: i64,
    /// The last line that was no message.
    garbage: Option<String>,
}

impl<R: AsyncRead + Unpin> Wire<R> {
    /// Speaks over these. Writing is a task of its own: an agent that writes much before it reads
    /// must not block us.
    pub(crate) fn new(reader: R, mut writer: impl AsyncWrite + Unpin + Send + 'static) -> Self {
        let (out, mut queue) = mpsc::channel::<Vec<u8>>(OUTGOING);
        tokio::spawn(async move {
            while let Some(line) = queue.recv().await {
                let written = async {
                    writer.write_all(&line).await?;
                    writer.flush().await
                };
                // An agent that is gone is noticed by the end of its output.
                if written.await.is_err() {
                    return;
                }
            }
        });
        Self { lines: FramedRead::new(reader, Lines::default()), out, next: 0, garbage: None }
    }

    /// Sends a request and returns its id.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Sends a notification.
    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// Answers a request.
    pub(crate) async fn answer(&mut self, id: Value, answer: Result<Value, (i64, &str)>) {
        self.send(match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, message)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
            }
        })
        .await;
    }

    async fn send(&mut self, message: Value) {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        // Nobody reads: the next read says that the agent is gone.
        let _ = self.out.send(line).await;
    }

    /// The next message, or `None` once the agent closed its output. Lines that are no message are
    /// passed over: some runtimes print warnings there.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Incoming>> {
        while let Some(line) = self.lines.next().await {
            let line = line?;
            match parse(&line) {
                Some(message) => return Ok(Some(message)),
                None if line.trim_ascii().is_empty() => {}
                None => {
                    let text: String =
                        String::from_utf8_lossy(&line).chars().take(GARBAGE_CHARS).collect();
                    tracing::debug!(line = text, "the agent wrote a line that is no message");
                    self.garbage = Some(text);
                }
            }
        }
        Ok(None)
    }

    /// The last line that was no message, for an error's text.
    pub(crate) fn garbage(&self) -> Option<&str> {
        self.garbage.as_deref()
    }
}

fn parse(line: &[u8]) -> Option<Incoming> {
    let Value::Object(mut message) = serde_json::from_slice(line).ok()? else { return None };
    let id = message.remove("id").filter(|id| !id.is_null());
    let params = message.remove("params").unwrap_or(Value::Null);
    match (message.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => Some(Incoming::Request { id, method, params }),
        (Some(Value::String(method)), None) => Some(Incoming::Notification { method, params }),
        (None, Some(id)) => {
            let answer = match (message.remove("error"), message.remove("result")) {
                (Some(error), _) if !error.is_null() => Err(RpcError {
                    code: error["code"].as_i64().unwrap_or_default(),
                    message: error["message"].as_str().unwrap_or_default().to_owned(),
                    data: error["data"].clone(),
                }),
                (_, result) => Ok(result.unwrap_or(Value::Null)),
            };
            // Our ids are numbers; an answer to anything else is to nothing of ours.
            Some(Incoming::Response { id: id.as_i64()?, answer })
        }
        _ => None,
    }
}

/// Lines of bytes with a bound.
#[derive(Debug, Default)]
struct Lines {
    /// Up to where no line end was found.
    seen: usize,
}

impl Decoder for Lines {
    type Item = BytesMut;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<BytesMut>> {
        match buffer[self.seen..].iter().position(|byte| *byte == b'\n') {
            Some(at) => {
                let mut line = buffer.split_to(self.seen + at + 1);
                line.truncate(line.len() - 1);
                self.seen = 0;
                Ok(Some(line))
            }
            None if buffer.len() > LONGEST_LINE => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "a line is too long"))
            }
            None => {
                self.seen = buffer.len();
                Ok(None)
            }
        }
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<BytesMut>> {
        match self.decode(buffer)? {
            Some(line) => Ok(Some(line)),
            None if buffer.is_empty() => Ok(None),
            None => {
                self.seen = 0;
                Ok(Some(buffer.split()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    async fn read(text: impl Into<Vec<u8>>) -> (Vec<Incoming>, Option<String>) {
        let mut wire = Wire::new(Cursor::new(text.into()), tokio::io::sink());
        let mut found = Vec::new();
        while let Ok(Some(message)) = wire.next().await {
            found.push(message);
        }
        (found, wire.garbage().map(str::to_owned))
    }

    /// Agents print what they should not; messages around it still arrive.
    #[tokio::test]
    async fn garbage_on_stdout_is_passed_over() {
        let mut text =
            b"npm warn old\n\n{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n[1,2]\n\"x\"\n".to_vec();
        text.extend(
            b"\xff\xfe{not utf-8}\n{\"id\":\"other\",\"result\":1}\n{\"id\":7,\"result\":{}}\n",
        );
        text.extend(b"{\"id\":\"q\",\"method\":\"b\",\"params\":{\"x\":1}}\n{\"id\":8,\"error\":{\"code\":-32000,\"message\":\"m\"}}\ntail");
        let (found, garbage) = read(text).await;
        assert_eq!(
            found,
            [
                Incoming::Notification { method: "a".into(), params: Value::Null },
                Incoming::Response { id: 7, answer: Ok(json!({})) },
                Incoming::Request { id: json!("q"), method: "b".into(), params: json!({"x": 1}) },
                Incoming::Response {
                    id: 8,
                    answer: Err(RpcError { code: -32000, message: "m".into(), data: Value::Null }),
                },
            ]
        );
        assert_eq!(garbage.as_deref(), Some("tail"));
    }

    /// A line without end does not take all memory.
    #[tokio::test]
    async fn a_line_without_end_is_an_error() {
        let endless = tokio::io::repeat(b'x');
        let mut wire = Wire::new(endless, tokio::io::sink());
        assert_eq!(wire.next().await.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
