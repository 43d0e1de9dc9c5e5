//! What happens in a sandbox, as a stream; and answers to its cards.

use super::{Access, Answer, Ask, Operation, Param, answer};
use crate::error::ServeError;
use crate::events::Event;
use crate::limits;
use crate::room::Room;
use crate::scope::Scope;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use reins_control::CardAnswer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        method: "GET",
        path: "/v1/sandboxes/{id}/events",
        id: "sandboxEvents",
        about: "Steps, cards, browsers and runs as server-sent events. `Last-Event-ID` goes on after one; without it come the cards that wait and what is new.",
        access: Access::Scope(Scope::Read),
        query: &[Param { name: "after", about: "The same as Last-Event-ID.", kind: "integer" }],
        body: None,
        good: 200,
        answer: Answer::Other("text/event-stream"),
        bad: &[400, 404],
        handle: |ask| Box::pin(follow(ask)),
    },
    Operation {
        method: "POST",
        path: "/v1/sandboxes/{id}/cards/{card}",
        id: "answerCard",
        about: "Answers a question of a guarded sandbox, once.",
        access: Access::Scope(Scope::Act),
        query: &[],
        body: Some(|g| g.subschema_for::<CardWord>()),
        good: 200,
        answer: Answer::Json(|g| g.subschema_for::<Answered>()),
        bad: &[400, 404, 409, 413, 415],
        handle: |ask| Box::pin(card(ask)),
    },
];

#[derive(Debug, Deserialize)]
struct From {
    after: Option<u64>,
}

async fn follow(ask: Ask) -> Result<Response, ServeError> {
    let From { after } = ask.query()?;
    let sandbox = ask.sandbox().await?;
    let header = ask.headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let from = header.and_then(|value| value.parse().ok()).or(after);
    let room = ask.app.room(&sandbox);
    let permit = room.streams.clone().try_acquire_owned();
    let permit = permit.map_err(|_| ServeError::Rate(limits::STREAM_PULSE))?;
    let stream = Follow::new(room, from, permit, ask.app.stop.clone()).stream();
    let pulse = KeepAlive::new().interval(limits::STREAM_PULSE);
    Ok(Sse::new(stream).keep_alive(pulse).into_response())
}

/// A viewer's place in the events.
struct Follow {
    room: Arc<Room>,
    last: u64,
    ready: VecDeque<Arc<Event>>,
    news: watch::Receiver<u64>,
    stop: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

impl Follow {
    fn new(
        room: Arc<Room>,
        from: Option<u64>,
        permit: OwnedSemaphorePermit,
        stop: CancellationToken,
    ) -> Self {
        let news = room.events.watch();
        let newest = room.events.last();
        // A number from before the daemon's last start is larger than any of now.
        let last = from.filter(|from| *from <= newest).unwrap_or(newest);
        let mut ready = VecDeque::new();
        if from.is_none() {
            for card in room.cards.open() {
                let data = serde_json::to_string(&card).unwrap_or_default();
                ready.push_back(Arc::new(Event { id: last, name: "card", data }));
            }
        }
        Self { room, last, ready, news, stop, _permit: permit }
    }

    async fn next(&mut self) -> Option<Arc<Event>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.last = self.last.max(event.id);
                return Some(event);
            }
            self.news.mark_unchanged();
            self.ready.extend(self.room.events.after(self.last));
            if !self.ready.is_empty() {
                continue;
            }
            tokio::select! {
                changed = self.news.changed() => changed.ok()?,
                () = self.stop.cancelled() => return None,
            }
        }
    }

    fn stream(self) -> impl Stream<Item = Result<axum::response::sse::Event, Infallible>> {
        stream::unfold(self, async |mut follow| {
            let event = follow.next().await?;
            let sent = axum::response::sse::Event::default()
                .id(event.id.to_string())
                .event(event.name)
                .data(&event.data);
            Some((Ok(sent), follow))
        })
    }
}

/// An answer to a card.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CardWord {
    answer: Word,
}

/// What may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Word {
    /// This once.
    Allow,
    /// This once, and the offered site is remembered.
    Always,
    /// Not this step.
    Deny,
    /// The turn ends.
    Stop,
}

/// The card that was answered.
#[derive(Debug, Serialize, JsonSchema)]
struct Answered {
    id: String,
    answer: Word,
}

async fn card(ask: Ask) -> Result<Response, ServeError> {
    let sandbox = ask.sandbox().await?;
    let CardWord { answer: word } = ask.json()?;
    let id = ask.part("card").to_owned();
    let room = ask.app.known_room(&sandbox.id).ok_or(ServeError::NotFound("card"))?;
    let offers = room.cards.offers_always(&id).ok_or(ServeError::NotFound("card"))?;
    if word == Word::Always && !offers {
        return Err(ServeError::state("no_always", "this card offers no \"always\"; answer allow"));
    }
    let given = match word {
        Word::Allow => CardAnswer::Allow,
        Word::Always => CardAnswer::Always,
        Word::Deny => CardAnswer::Deny,
        Word::Stop => CardAnswer::Stop,
    };
    if !room.cards.answer(&id, given) {
        return Err(ServeError::state("card_answered", "nobody asks this any more"));
    }
    let by = ask.caller()?.name.clone();
    room.events.push("card_answered", &json!({"id": id, "answer": word, "by": by}));
    Ok(answer(200, &Answered { id, answer: word }))
}
