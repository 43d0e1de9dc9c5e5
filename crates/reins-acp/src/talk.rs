//! One conversation with an agent: what it is asked, and what it may ask.

use crate::error::AcpError;
use crate::offer::Offer;
use crate::permission::{self, Finding, ToolCalls};
use crate::recipe::Recipe;
use crate::reply::{Reply, plain, text_of};
use crate::service::{Run, RunId};
use crate::tools::ToolServer;
use crate::wire::{Incoming, RpcError, Wire};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::AsyncRead;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// How long an agent may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From its start until its session is there. Generous, since npx may first fetch an adapter.
    pub start: Duration,
    /// From the prompt until the first word, thought or tool call.
    pub first_answer: Duration,
    /// Between signs of life after that, while no tool call is under way. A model that thinks long sends
    /// its thoughts meanwhile.
    pub quiet: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(90),
            first_answer: Duration::from_secs(90),
            quiet: Duration::from_secs(600),
        }
    }
}

/// Something a run has to tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Which run.
    pub run: RunId,
    /// What.
    pub said: Said,
}

/// What a run tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// The agent is there, by the name and version that it gives.
    Agent(String),
    /// The models that it offers.
    Models(Offer),
    /// It uses this model from now on, because its own choice is none that it offers.
    Model(String),
    /// Words of the answer, to be added to those before.
    Text(String),
    /// It thinks.
    Thinking,
    /// It wanted to use something that is not ours, and was told no. In the model's words.
    Refused(String),
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    Start,
    Answer,
}

/// JSON-RPC: the method does not exist.
const NO_SUCH_METHOD: i64 = -32601;

/// ACP: the agent wants its own sign-in first.
const SIGN_IN: i64 = -32000;

/// JSON-RPC: says nothing, so the data must.
const INTERNAL_ERROR: &str = "internal error";

pub(crate) struct Talk<'r, R> {
    run: &'r Run,
    recipe: &'static Recipe,
    limits: Limits,
    wire: Wire<R>,
    server: Option<&'r ToolServer>,
    events: mpsc::Sender<Event>,
    session: Option<String>,
    calls: ToolCalls,
    answered: bool,
    no_way_to_refuse: bool,
    /// Its models come from a provider of the person's own, so its list of models is another one's.
    gateway: bool,
    reply: Reply,
}

impl<'r, R: AsyncRead + Unpin> Talk<'r, R> {
    pub(crate) fn new(
        run: &'r Run,
        recipe: &'static Recipe,
        limits: Limits,
        wire: Wire<R>,
        server: Option<&'r ToolServer>,
        events: mpsc::Sender<Event>,
    ) -> Self {
        Self {
            run,
            recipe,
            limits,
            wire,
            server,
            events,
            session: None,
            calls: ToolCalls::default(),
            answered: false,
            no_way_to_refuse: false,
            gateway: false,
            reply: Reply::new(recipe.notices),
        }
    }

    /// Shakes hands. It is offered nothing: no files, no terminal.
    pub(crate) async fn initialize(&mut self, version: &str) -> Result<String, AcpError> {
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": {
                "fs": {"readTextFile": false, "writeTextFile": false},
                "terminal": false,
            },
            "clientInfo": {"name": "reins", "title": "Reins", "version": version},
        });
        let answer = self.ask("initialize", params, Waiting::Start).await?;
        if answer["protocolVersion"] != 1 {
            return Err(self.protocol(&format!("it speaks version {}", answer["protocolVersion"])));
        }
        let about = |key: &str| answer["agentInfo"][key].as_str().map(plain).unwrap_or_default();
        let name = match about("title") {
            title if title.is_empty() => about("name"),
            title => title,
        };
        let name = if name.is_empty() { self.recipe.name.to_owned() } else { name };
        let said = format!("{name} {}", about("version")).trim().to_owned();
        self.tell(Said::Agent(said.clone())).await;
        Ok(said)
    }

    /// Begins the one session.
    pub(crate) async fn begin(
        &mut self,
        mut params: Value,
        meta: &Value,
    ) -> Result<Offer, AcpError> {
        if !meta.is_null() {
            params["_meta"] = meta.clone();
        }
        let answer = self.ask("session/new", params, Waiting::Start).await?;
        let Some(session) = answer["sessionId"].as_str() else {
            return Err(self.protocol("its session has no id"));
        };
        self.session = Some(session.to_owned());
        let offer = Offer::read(&answer);
        self.tell(Said::Models(offer.clone())).await;
        Ok(offer)
    }

    /// Sets the model, where one was asked for or the agent's own choice is none that it offers.
    pub(crate) async fn set_model(
        &mut self,
        offer: &Offer,
        wanted: Option<&str>,
    ) -> Result<(), AcpError> {
        if wanted.is_none() && self.gateway {
            return Ok(());
        }
        let chosen = offer.choose(wanted).map_err(|_| AcpError::NoSuchModel {
            agent: self.recipe.name.to_owned(),
            wanted: plain(wanted.unwrap_or_default()),
            offered: offer.ids(),
        })?;
        let Some((id, session)) = chosen.zip(self.session.clone()) else { return Ok(()) };
        let Some((method, params)) = offer.setting(&session, id) else { return Ok(()) };
        match self.ask(method, params, Waiting::Start).await {
            Ok(_) => {
                self.tell(Said::Model(id.to_owned())).await;
                Ok(())
            }
            // The prompt's own failure then says why. What was asked for is no such guess.
            Err(AcpError::Failed { .. } | AcpError::SignIn { .. }) if wanted.is_none() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Sends the prompt and returns the answer of a turn that went well.
    pub(crate) async fn prompt(mut self, text: &str) -> Result<String, AcpError> {
        let params = json!({
            "sessionId": self.session,
            "prompt": [{"type": "text", "text": text}],
        });
        let ended = self.ask("session/prompt", params, Waiting::Answer).await;
        if self.no_way_to_refuse {
            return Err(AcpError::NoWayToRefuse { agent: self.recipe.name.to_owned() });
        }
        let ended = ended?;
        let agent = self.recipe.name.to_owned();
        if let Some(words) = self.reply.failure() {
            return Err(AcpError::Failed { agent, words });
        }
        match ended["stopReason"].as_str() {
            Some("end_turn") => Ok(self.reply.whole()),
            reason => Err(AcpError::Unfinished {
                agent,
                reason: plain(reason.unwrap_or("no reason given")),
                words: self.reply.tail(),
            }),
        }
    }

    /// Asks, and handles everything else that comes until the answer is there.
    async fn ask(
        &mut self,
        method: &str,
        params: Value,
        waiting: Waiting,
    ) -> Result<Value, AcpError> {
        if self.run.over().is_cancelled() {
            return Err(AcpError::Stopped);
        }
        let id = self.wire.request(method, params).await;
        let patience = match waiting {
            Waiting::Start => self.limits.start,
            Waiting::Answer => self.limits.first_answer,
        };
        let (mut deadline, mut waited) = (Instant::now() + patience, patience);
        let mut calls = self.tool_calls().0;
        loop {
            let incoming = tokio::select! {
                biased;
                () = self.run.over().cancelled() => {
                    self.cancel().await;
                    return Err(AcpError::Stopped);
                }
                incoming = self.wire.next() => incoming,
                () = sleep_until(deadline) => {
                    let (begun, under_way) = self.tool_calls();
                    if waiting == Waiting::Answer && (under_way > 0 || begun != calls) {
                        // It waits for a tool, which may wait for the person.
                        (calls, self.answered, waited) = (begun, true, self.limits.quiet);
                        deadline = Instant::now() + waited;
                        continue;
                    }
                    return Err(AcpError::Silent {
                        agent: self.recipe.name.to_owned(),
                        seconds: waited.as_secs(),
                        said: String::new(),
                    });
                }
            };
            match incoming {
                Ok(Some(Incoming::Response { id: to, answer })) if to == id => {
                    return answer.map_err(|error| self.failed(&error));
                }
                Ok(Some(other)) => self.handle(other).await,
                Ok(None) => {
                    let said = self.wire.garbage().map(|line| format!(": {}", plain(line)));
                    let said = said.unwrap_or_default();
                    return Err(AcpError::Gone { agent: self.recipe.name.to_owned(), said });
                }
                Err(error) => return Err(self.protocol(&error.to_string())),
            }
            if waiting == Waiting::Answer && self.answered {
                waited = self.limits.quiet;
                deadline = Instant::now() + waited;
            }
        }
    }

    async fn handle(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Request { id, method, params } if method == "session/request_permission" => {
                self.permission(id, &params).await;
            }
            Incoming::Request { id, method, .. } => {
                tracing::debug!(method, "the agent asked for what it is not offered");
                let words = "Reins offers agents neither files nor terminals nor anything else";
                self.wire.answer(id, Err((NO_SUCH_METHOD, words))).await;
            }
            Incoming::Notification { method, params }
                if method == "session/update" && self.is_ours(&params) =>
            {
                self.update(&params["update"]).await;
            }
            // Codex tells how it is signed in before the session begins.
            Incoming::Notification { method, params } if method == "_auth/status_update" => {
                self.gateway = params["authStatus"]["kind"] == "gateway";
            }
            // An answer to nothing, another session, or what is not known.
            Incoming::Notification { .. } | Incoming::Response { .. } => {}
        }
    }

    fn is_ours(&self, params: &Value) -> bool {
        self.session.is_some() && params["sessionId"].as_str() == self.session.as_deref()
    }

    /// Answers a permission request.
    async fn permission(&mut self, id: Value, request: &Value) {
        let cancelled = json!({"outcome": {"outcome": "cancelled"}});
        if !self.is_ours(request) {
            self.wire.answer(id, Ok(cancelled)).await;
            return;
        }
        let served = self.server.map(ToolServer::served);
        let finding = permission::find(self.recipe.identity, served, &self.calls, request);
        let allowed = match &finding {
            Finding::Ours(_) => permission::allow_once(request),
            Finding::Other => None,
        };
        let option = allowed.or_else(|| permission::reject(request));
        tracing::debug!(?finding, allowed = allowed.is_some(), "a permission request");
        match option {
            Some(option) => {
                let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
                self.wire.answer(id, Ok(outcome)).await;
            }
            None => {
                self.wire.answer(id, Ok(cancelled)).await;
                self.no_way_to_refuse = true;
                self.cancel().await;
            }
        }
        if allowed.is_none() {
            let title = request["toolCall"]["title"].as_str().unwrap_or("a tool of its own");
            let title: String = plain(title).chars().take(TITLE_CHARS).collect();
            self.tell(Said::Refused(title)).await;
        }
    }

    async fn update(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str().unwrap_or_default() {
            "agent_message_chunk" => {
                let Some(text) = text_of(&update["content"]) else { return };
                self.answered = true;
                if let Some(shown) = self.reply.text(text, update["messageId"].as_str()) {
                    self.tell(Said::Text(shown)).await;
                }
            }
            "agent_thought_chunk" => {
                self.answered = true;
                self.reply.interrupted();
                self.tell(Said::Thinking).await;
            }
            "tool_call" => {
                self.answered = true;
                self.reply.interrupted();
                self.calls.note(update);
            }
            "tool_call_update" => self.calls.note(update),
            "plan" => self.reply.interrupted(),
            // Written by the Codex adapter only.
            "session_info_update"
                if self.recipe.notices
                    && update["_meta"]["codex"]["threadStatus"]["type"] == "systemError" =>
            {
                self.reply.system_error();
            }
            _ => {}
        }
    }

    /// Tells the agent that its turn is over. It is killed in any case; this lets it end a request
    /// to its provider.
    async fn cancel(&mut self) {
        if let Some(session) = self.session.clone() {
            self.wire.notify("session/cancel", json!({"sessionId": session})).await;
        }
    }

    fn tool_calls(&self) -> (u64, u64) {
        self.server.map_or((0, 0), |server| server.tools.calls())
    }

    fn failed(&self, error: &RpcError) -> AcpError {
        let agent = self.recipe.name.to_owned();
        let words = words_of(error);
        if error.code == SIGN_IN {
            return AcpError::SignIn { agent, words, remedy: self.recipe.sign_in };
        }
        AcpError::Failed { agent, words }
    }

    fn protocol(&self, reason: &str) -> AcpError {
        AcpError::Protocol { agent: self.recipe.name.to_owned(), reason: plain(reason) }
    }

    /// Tells of this run, if anybody listens and it is still the current one.
    async fn tell(&self, said: Said) {
        if !self.run.over().is_cancelled() {
            let _ = self.events.send(Event { run: self.run.id(), said }).await;
        }
    }
}

/// How much of a title is shown.
const TITLE_CHARS: usize = 80;

/// How much of an error's data is shown.
const DATA_CHARS: usize = 500;

/// An error in the agent's own words; where these say nothing, its data's.
fn words_of(error: &RpcError) -> String {
    let message = plain(&error.message);
    let data = match &error.data {
        Value::Null => String::new(),
        Value::String(text) => plain(text),
        data => {
            let named = ["details", "message", "error", "reason"];
            let named = named.iter().find_map(|key| data[*key].as_str());
            named.map_or_else(|| plain(&data.to_string()), plain)
        }
    };
    let data: String = data.chars().take(DATA_CHARS).collect();
    match (message.to_lowercase().trim_end_matches('.'), data.as_str()) {
        ("", "") => format!("error {} without a word about it", error.code),
        ("" | INTERNAL_ERROR, data) if !data.is_empty() => data.to_owned(),
        (_, "") => message,
        _ if message.contains(&data) => message,
        _ => format!("{message} ({data})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// a bare internal error takes its words from the data.
    #[test]
    fn r091_an_internal_error_speaks_through_its_data() {
        let words = |message: &str, data: Value| {
            words_of(&RpcError { code: -32603, message: message.into(), data })
        };
        assert_eq!(
            words("Internal error", json!({"details": "no credit\nleft"})),
            "no credit left"
        );
        assert_eq!(words("Internal error", json!("quota")), "quota");
        assert_eq!(words("Internal error", json!({"x": 1})), "{\"x\":1}");
        assert_eq!(words("Internal error", Value::Null), "Internal error");
        assert_eq!(words("Bad model", json!({"message": "gpt-0"})), "Bad model (gpt-0)");
        assert_eq!(words("", Value::Null), "error -32603 without a word about it");
    }
}
