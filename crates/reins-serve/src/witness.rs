//! What goes along with every browser of the daemon: its recording and its live view.

use crate::clock::{Clock, stamp};
use crate::companion::{
    Begun, Companion, Companions, Held, NoPassage, Passage, Tell, TicketGiven, TicketWish,
};
use crate::error::ServeError;
use crate::events::Step;
use crate::keeper::{self, Keeper};
use crate::live::{self, EndCause, Live, LiveEvent, LiveOptions, TicketRequest};
use crate::session::MAIN;
use axum::extract::{FromRequestParts, Request, WebSocketUpgrade};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use reins_control::{Control, Tool};
use reins_core::{Secret, SessionId, TabId};
use reins_record::{
    Action, CutShort, Kind, Kinds, Library, Options, RecordingAbout, RecordingId, Takeover,
    masked_arguments,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Gives each browser its recording and its live view.
#[derive(Debug)]
pub struct Witnesses {
    /// Where recordings are kept.
    pub library: Library,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

impl Companions for Witnesses {
    fn begin(&self, begun: Begun) -> BoxFuture<'_, Result<Arc<dyn Companion>, ServeError>> {
        Box::pin(async move {
            let keeper = self.keeper(&begun).await?.map(Arc::new);
            let live = begun.live_url.clone().map(|url| (self.live(&begun, keeper.clone()), url));
            let witness =
                Witness { control: begun.control, clock: self.clock.clone(), keeper, live };
            Ok(Arc::new(witness) as Arc<dyn Companion>)
        })
    }
}

impl Witnesses {
    /// Begins the recording that the start asked for.
    async fn keeper(&self, begun: &Begun) -> Result<Option<Keeper>, ServeError> {
        let kinds = kinds(&begun.record);
        if !(kinds.rrweb || kinds.frames || kinds.console) {
            return Ok(None);
        }
        let id: RecordingId = begun.session.as_str().parse().map_err(not_recorded)?;
        let about = RecordingAbout {
            tenant: begun.tenant.to_string(),
            sandbox_id: begun.sandbox.to_string(),
            app_url: begun.app_url.clone(),
            started_at_ms: crate::clock::millis(self.clock.now()),
            kinds,
        };
        let (tell, recording) = (begun.tell.clone(), id.to_string());
        let cut = move |cut: &CutShort| {
            let about =
                json!({"recording_id": recording, "status": "cut_short", "reason": cut.reason});
            tell.event("recording", &about);
        };
        let options = Options {
            secrets: vec![begun.token.clone()],
            on_cut: Some(Box::new(cut)),
            ..Options::default()
        };
        let opened = keeper::open(&self.library, id.clone(), about, options).await;
        let recorder = opened.map_err(not_recorded)?;
        Keeper::begin(id, recorder, &begun.browser, kinds).map(Some).map_err(not_recorded)
    }

    fn live(&self, begun: &Begun, keeper: Option<Arc<Keeper>>) -> Live {
        let clock = self.clock.clone();
        Live::start(LiveOptions {
            session: begun.session.to_string(),
            token: begun.token.clone(),
            source: Arc::new(begun.browser.clone()),
            origins: begun.origins.clone(),
            hosts: begun.hosts.clone(),
            window: begun.window,
            wait: None,
            told: told(begun.tell.clone(), begun.control.clone(), keeper),
            clock: Arc::new(move || clock.now()),
        })
    }
}

/// Which kinds a start asks for. Pictures cost the machine all the time, so they are taken only on request.
fn kinds(wish: &Value) -> Kinds {
    let wants =
        |kind: &str, otherwise| wish.get(kind).and_then(Value::as_bool).unwrap_or(otherwise);
    Kinds {
        rrweb: wants("rrweb", true),
        frames: wants("frames", false),
        console: wants("console", true),
    }
}

fn not_recorded(error: impl std::fmt::Display) -> ServeError {
    ServeError::impossible(
        "not_recorded",
        format!(
            "the browser was not started, because it could not be recorded: {error}. Mend that, or start it with every kind under `record` switched off"
        ),
    )
}

/// Tells takeovers to who follows the sandbox, and to the recording (S-105).
fn told(tell: Tell, control: Control, keeper: Option<Arc<Keeper>>) -> live::Told {
    Arc::new(move |event| {
        let (at, state, who, why) = match event {
            LiveEvent::TakeoverStarted { at, who } => (at, "started", who, None),
            LiveEvent::TakeoverEnded { at, who, cause } => (at, "ended", who, Some(cause)),
        };
        let why = why.map(EndCause::word);
        let about = json!({"state": state, "source": LiveEvent::SOURCE, "who": who, "why": why, "at": stamp(at)});
        tell.event("takeover", &about);
        if why.is_some() {
            // The person's own input has paused the turn; they are done.
            control.resume(&SessionId::new(MAIN));
        }
        if let Some(keeper) = &keeper {
            let takeover = match why {
                None => Takeover::TakeoverStarted { who },
                Some(why) => Takeover::TakeoverEnded { who, why: why.to_owned() },
            };
            keeper.note(at, tab(&control), Kind::Takeover(takeover));
        }
    })
}

/// The tab that the agent works in.
fn tab(control: &Control) -> TabId {
    let current = control.current_tab(&SessionId::new(MAIN));
    current.unwrap_or_else(|| TabId::new(String::new()))
}

/// Goes along with one browser.
#[derive(Debug)]
struct Witness {
    control: Control,
    clock: Arc<dyn Clock>,
    keeper: Option<Arc<Keeper>>,
    live: Option<(Live, String)>,
}

impl Passage for live::Passage {}

impl Companion for Witness {
    fn recording_id(&self) -> Option<String> {
        self.keeper.as_ref().map(|keeper| keeper.id().to_string())
    }

    fn live_url(&self) -> Option<String> {
        self.live.as_ref().map(|(_, url)| url.clone())
    }

    fn ticket(&self, wish: &TicketWish) -> Option<Result<TicketGiven, ServeError>> {
        let (live, url) = self.live.as_ref()?;
        let mode = if wish.control { live::Mode::Control } else { live::Mode::View };
        let request =
            TicketRequest { subject: wish.subject.clone(), name: wish.name.clone(), mode };
        let ticket = live.issue(&request);
        Some(Ok(TicketGiven {
            ticket: Secret::new(ticket.expose().to_owned()),
            expires_at: ticket.expires_at,
            url: url.clone(),
        }))
    }

    fn connect(&self, request: Request) -> Result<BoxFuture<'static, Response>, Box<Request>> {
        let Some((live, _)) = self.live.clone() else { return Err(Box::new(request)) };
        Ok(Box::pin(async move {
            let (mut parts, _) = request.into_parts();
            let upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
                Ok(upgrade) => upgrade,
                Err(rejection) => return rejection.into_response(),
            };
            live.serve(upgrade, &parts.headers, &parts.uri)
        }))
    }

    fn pass(
        &self,
        tool: &'static Tool,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Option<Box<dyn Passage>>, NoPassage>> {
        Box::pin(async move {
            let Some((live, _)) = &self.live else { return Ok(None) };
            match live.gate().pass(tool.name, &cancel).await {
                Ok(passage) => Ok(Some(Box::new(passage) as Box<dyn Passage>)),
                Err(live::NoPassage::HeldBy(held)) => Err(NoPassage::Held(Held {
                    held_by: held.held_by,
                    since: stamp(held.since),
                    waited_ms: held.waited_ms,
                })),
                // Whoever cancelled the call does not wait for this.
                Err(_) => Err(NoPassage::Ending),
            }
        })
    }

    fn step(&self, step: &Step, arguments: &Value) {
        let current = tab(&self.control);
        if let Some((live, _)) = &self.live {
            live.follow(&current);
        }
        let Some(keeper) = &self.keeper else { return };
        let action = Action {
            id: step.id.to_string(),
            tool: step.tool.clone(),
            label: step.label.clone(),
            outcome: step.outcome.clone(),
            arguments: masked_arguments(arguments),
            ms: step.ms,
            error: step.error.clone(),
        };
        keeper.note(self.clock.now(), current, Kind::Action(action));
    }

    fn end<'a>(&'a self, reason: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            // The live view first: what it tells of a takeover's end belongs to the recording.
            if let Some((live, _)) = &self.live {
                live.stop().await;
            }
            if let Some(keeper) = &self.keeper {
                keeper.end(reason, self.clock.now()).await;
            }
        })
    }
}
