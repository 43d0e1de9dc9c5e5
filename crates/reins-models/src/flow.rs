//! The course of one answer: send, wait, send again, read, and fetch again what broke off.

use crate::client::ModelClient;
use crate::dialect::Dialect;
use crate::error::{ModelError, TransportError};
use crate::event::{ModelEvent, Notice};
use crate::failure::{self, Said};
use crate::limits;
use crate::message::ChatRequest;
use crate::sse::SseReader;
use crate::text_calls::TextGate;
use crate::transport::HttpAnswer;
use crate::wire::{self, Decoder};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use serde_json::Value;
use std::collections::VecDeque;
use std::time::{Duration, SystemTime};
use tokio::time::timeout;

/// One answer on its way.
pub(crate) struct Flow {
    client: ModelClient,
    request: ChatRequest,
    phase: Phase,
    queue: VecDeque<ModelEvent>,
    /// Times the request was sent again after a passing failure.
    retries: u32,
    /// Times it was sent again in another form.
    changes: u32,
    /// Fetched as a whole because the stream broke.
    plain: bool,
    /// Whether anything of the answer was given out.
    begun: bool,
}

enum Phase {
    Send,
    Wait(Duration),
    Read(Box<Reading>),
    /// It failed; what came before is given out first.
    Failed(ModelError),
    Over,
}

struct Reading {
    body: BoxStream<'static, Result<Bytes, TransportError>>,
    reader: SseReader,
    decoder: Decoder,
    gate: TextGate,
    bytes: usize,
}

/// What became of one attempt to send.
enum Sent {
    Streaming(HttpAnswer),
    Whole(Value),
    /// Send again at once, in another form.
    Differently,
    /// Send again later.
    Later(Duration, ModelError),
}

impl Flow {
    pub(crate) fn new(client: ModelClient, request: ChatRequest) -> Self {
        Self {
            client,
            request,
            phase: Phase::Send,
            queue: VecDeque::new(),
            retries: 0,
            changes: 0,
            plain: false,
            begun: false,
        }
    }

    /// The next event; `None` after the last one or after an error.
    pub(crate) async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                self.begun |= !matches!(event, ModelEvent::Notice(_));
                if matches!(event, ModelEvent::Stop(_)) {
                    self.phase = Phase::Over;
                }
                return Some(Ok(event));
            }
            let step = match &mut self.phase {
                Phase::Over => return None,
                Phase::Failed(_) => {
                    let failed = std::mem::replace(&mut self.phase, Phase::Over);
                    return match failed {
                        Phase::Failed(error) => Some(Err(error)),
                        _ => None,
                    };
                }
                Phase::Wait(wait) => {
                    tokio::time::sleep(*wait).await;
                    self.phase = Phase::Send;
                    Ok(())
                }
                Phase::Send => self.send().await,
                Phase::Read(reading) => {
                    let mut out = Vec::new();
                    let read = reading.read(self.client.timing.stall, &mut out).await;
                    self.queue.extend(out);
                    read
                }
            };
            if let Err(error) = step
                && let Err(error) = self.fetch_again(error).or_else(|error| self.wait(error))
            {
                self.phase = Phase::Failed(error);
            }
        }
    }

    /// A stream that states a passing failure before it brought anything is as good as refused.
    fn wait(&mut self, error: ModelError) -> Result<(), ModelError> {
        let nothing_yet = !self.begun && self.queue.is_empty();
        if !matches!(self.phase, Phase::Read(_)) || !nothing_yet {
            return Err(error);
        }
        match self.later(error)? {
            Sent::Later(wait, error) => self.wait_for(wait, &error),
            Sent::Streaming(_) | Sent::Whole(_) | Sent::Differently => {}
        }
        Ok(())
    }

    fn wait_for(&mut self, wait: Duration, error: &ModelError) {
        self.retries += 1;
        self.phase = Phase::Wait(wait);
        let reason = short_reason(error);
        self.queue.push_back(ModelEvent::Notice(Notice::Waiting { wait, reason }));
    }

    /// A broken stream is fetched once more as a whole; every other error stands.
    fn fetch_again(&mut self, error: ModelError) -> Result<(), ModelError> {
        let streamed = matches!(self.phase, Phase::Read(_)) && !self.plain;
        if !streamed || !error.is_broken_stream() {
            return Err(error);
        }
        tracing::warn!(%error, "the stream broke; fetching the answer as a whole");
        self.queue.clear();
        if self.begun {
            self.queue.push_back(ModelEvent::Notice(Notice::Restarted));
        }
        self.begun = false;
        self.plain = true;
        // What broke once on this way will break again: nothing more is streamed with this client.
        self.client.learn(|dialect| dialect.stream = false);
        self.phase = Phase::Send;
        Ok(())
    }

    async fn send(&mut self) -> Result<(), ModelError> {
        match self.attempt().await? {
            Sent::Streaming(answer) => {
                let (decoder, gate) = self.decoder();
                self.phase = Phase::Read(Box::new(Reading {
                    body: answer.body,
                    reader: SseReader::default(),
                    decoder,
                    gate,
                    bytes: 0,
                }));
            }
            Sent::Whole(value) => {
                let (mut decoder, mut gate) = self.decoder();
                let mut events = Vec::new();
                decoder.whole(&value, &mut events)?;
                decoder.finish(&mut events);
                let mut out = Vec::new();
                events.into_iter().for_each(|event| gate.push(event, &mut out));
                self.queue.extend(out);
            }
            Sent::Differently => {}
            Sent::Later(wait, error) => self.wait_for(wait, &error),
        }
        Ok(())
    }

    fn decoder(&self) -> (Decoder, TextGate) {
        let tools = self.request.tools.iter().map(|tool| tool.name.clone()).collect();
        let client = &self.client;
        let format = client.dialect().format;
        (Decoder::new(&client.endpoint, format, &client.model), TextGate::new(tools))
    }

    fn dialect(&self) -> Dialect {
        let mut dialect = self.client.dialect();
        dialect.stream &= !self.plain;
        dialect
    }

    async fn attempt(&mut self) -> Result<Sent, ModelError> {
        let client = self.client.clone();
        client.endpoint.require_key()?;
        let dialect = self.dialect();
        let request = wire::request(&client.endpoint, &client.model, &self.request, &dialect);
        let first_byte = client.timing.first_byte;
        let sent = timeout(first_byte, client.transport.send(request)).await;
        let answer = match sent {
            Err(_) => return Err(ModelError::Stalled { after: first_byte }),
            Ok(Err(TransportError::Broken(source))) if self.plain => {
                return Err(ModelError::BrokenStream { what: source.to_string() });
            }
            Ok(Err(source)) => {
                let address = client.endpoint.base.to_string();
                return self.later(ModelError::Unreachable { address, source: Some(source) });
            }
            Ok(Ok(answer)) => answer,
        };
        if (200..300).contains(&answer.status) {
            return self.accept(answer).await;
        }
        self.refused(answer).await
    }

    /// A success: a stream, or a whole answer from servers that do not stream.
    async fn accept(&mut self, answer: HttpAnswer) -> Result<Sent, ModelError> {
        let kind = answer.header("content-type").unwrap_or_default().to_ascii_lowercase();
        if kind.contains("json") && !kind.contains("stream") {
            let first_byte = self.client.timing.first_byte;
            let body = timeout(first_byte, answer.read(limits::ANSWER_BYTES))
                .await
                .map_err(|_| ModelError::Stalled { after: first_byte })?
                .map_err(|error| ModelError::BrokenStream { what: error.to_string() })?
                .ok_or(ModelError::TooLarge { limit: limits::ANSWER_BYTES })?;
            let value = serde_json::from_slice(&body)
                .map_err(|error| ModelError::Malformed { what: error.to_string() })?;
            return Ok(Sent::Whole(value));
        }
        if !kind.is_empty() && !kind.contains("event-stream") && !kind.contains("text/plain") {
            return Err(ModelError::WrongAddress {
                address: self.client.endpoint.base.to_string(),
                what: format!("it answers with {kind}"),
            });
        }
        if self.plain {
            return Err(ModelError::Malformed {
                what: "a stream although none was asked for".to_owned(),
            });
        }
        Ok(Sent::Streaming(answer))
    }

    /// Anything but a success: try another form, try later, or give up with the remedy.
    async fn refused(&mut self, answer: HttpAnswer) -> Result<Sent, ModelError> {
        let client = self.client.clone();
        let endpoint = &client.endpoint;
        let status = answer.status;
        if (300..400).contains(&status) {
            return Err(failure::redirected(&answer, endpoint));
        }
        let retry_after = failure::retry_after(
            answer.header("retry-after-ms"),
            answer.header("retry-after"),
            SystemTime::now(),
        );
        let body = timeout(limits::CHECK, answer.read(limits::ERROR_BYTES)).await;
        let body = body.ok().and_then(Result::ok).flatten().unwrap_or_default();
        let said = Said::of(&body, endpoint);
        if self.changes >= limits::CHANGES {
            return self.later(failure::of_status(
                status,
                said,
                retry_after,
                endpoint,
                &client.model,
            ));
        }
        let mut learned = client.dialect();
        if self.request.has_pictures() && learned.leave_out_pictures(status, &said) {
            self.changes += 1;
            client.learn(|dialect| *dialect = learned);
            let notice = Notice::PicturesRejected { said: said.message };
            self.queue.push_back(ModelEvent::Notice(notice));
            return Ok(Sent::Differently);
        }
        if learned.leave_out(status, &said, self.request.reasoning) {
            self.changes += 1;
            client.learn(|dialect| *dialect = learned);
            return Ok(Sent::Differently);
        }
        let offered = !self.request.tools.is_empty() && client.dialect().tools;
        if offered && !matches!(status, 401..=403 | 429) && said.rejects_tools() {
            self.changes += 1;
            client.learn(|dialect| dialect.tools = false);
            let notice = Notice::ToolsRejected { said: said.message };
            self.queue.push_back(ModelEvent::Notice(notice));
            return Ok(Sent::Differently);
        }
        let error = failure::of_status(status, said, retry_after, endpoint, &client.model);
        self.later(error)
    }

    /// Sends again later if that may help and is still allowed.
    fn later(&self, error: ModelError) -> Result<Sent, ModelError> {
        let timing = &self.client.timing;
        if !error.is_passing() || self.retries >= timing.retries {
            return Err(error);
        }
        let asked = match &error {
            ModelError::RateLimited { retry_after, .. }
            | ModelError::ServerFailed { retry_after, .. } => *retry_after,
            _ => None,
        };
        let wait = asked.unwrap_or(timing.backoff * 2_u32.pow(self.retries.min(10)));
        if wait > timing.longest_wait {
            return Err(error);
        }
        Ok(Sent::Later(wait, error))
    }
}

impl Reading {
    /// Reads the next piece of the stream.
    async fn read(&mut self, stall: Duration, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let complete = self.decoder.is_complete();
        let patience = if complete { limits::AFTER_END.min(stall) } else { stall };
        let piece = match timeout(patience, self.body.next()).await {
            Ok(piece) => piece,
            Err(_) if complete => None,
            Err(_) => return Err(ModelError::Stalled { after: stall }),
        };
        let mut events = Vec::new();
        let over = match piece {
            Some(Ok(bytes)) => {
                self.bytes += bytes.len();
                if self.bytes > limits::ANSWER_BYTES {
                    return Err(ModelError::TooLarge { limit: limits::ANSWER_BYTES });
                }
                self.reader.push(&bytes, &mut events)?;
                None
            }
            Some(Err(error)) => Some(error.to_string()),
            None => {
                self.reader.finish(&mut events);
                Some("it ended before its last event".to_owned())
            }
        };
        let mut decoded = Vec::new();
        for event in &events {
            // Nothing counts after the end.
            if self.decoder.is_over() {
                break;
            }
            if let Err(error) = self.decoder.event(event, &mut decoded) {
                // What came in the same portion before it came all the same.
                decoded.into_iter().for_each(|event| self.gate.push(event, out));
                return Err(error);
            }
        }
        if self.decoder.is_over() || (over.is_some() && self.decoder.is_complete()) {
            self.decoder.finish(&mut decoded);
        } else if let Some(what) = over {
            return Err(ModelError::BrokenStream { what });
        }
        decoded.into_iter().for_each(|event| self.gate.push(event, out));
        Ok(())
    }
}

fn short_reason(error: &ModelError) -> String {
    match error {
        ModelError::RateLimited { provider, .. } => format!("{provider} is limiting requests"),
        ModelError::ServerFailed { status: 0, .. } => "the model server failed".to_owned(),
        ModelError::ServerFailed { status, .. } => format!("the model server failed ({status})"),
        _ => "the model server does not answer".to_owned(),
    }
}

#[cfg(test)]
mod tests;
