//! A browser in memory with one tab. It plays as much of Chromium as one call's whole way needs, and
//! counts what arrives in it as the page's server would.

use crate::page::{self, HOME};
use crate::plan::{Effect, Fault, Shared};
use reins_cdp::Connection;
use reins_cdp::testing::{Peer, Request, pair_with};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A tab.
struct Tab {
    id: String,
    session: String,
    url: String,
    loader: String,
    world: String,
    number: u64,
    value: String,
    crashed: bool,
    closed: bool,
    /// The gesture that was announced, the call it belongs to, and whether it was given up.
    live: Option<(u64, usize, bool)>,
    /// Keys of the gesture that are still to come.
    keys: u64,
    /// The element under the held button.
    held: Option<u64>,
    navigation: Option<Navigation>,
}

/// A navigation whose request waits for our word.
struct Navigation {
    url: String,
    method: String,
    loader: String,
    paused: String,
    /// The call that brought it about.
    call: usize,
    /// The command that is answered when the document is there.
    answers: Option<Request>,
}

pub struct Browser {
    peer: Peer,
    shared: Arc<Shared>,
    tab: Tab,
    out: Vec<Value>,
    spoil: Option<Fault>,
}

/// Why it ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    Closed,
    Asked,
    Gone,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

fn next() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Tab {
    fn new() -> Self {
        let n = next();
        Self {
            id: format!("{n:08X}{n:024X}"),
            session: format!("S{n}"),
            url: "about:blank".into(),
            loader: format!("L{n}"),
            world: format!("W{n}"),
            number: n,
            value: String::new(),
            crashed: false,
            closed: false,
            live: None,
            keys: 0,
            held: None,
            navigation: None,
        }
    }

    fn frame(&self) -> Value {
        let origin = if self.url == "about:blank" { "://" } else { "http://shop.example" };
        json!({"id": self.id, "loaderId": self.loader, "url": self.url, "securityOrigin": origin})
    }

    fn info(&self) -> Value {
        json!({"targetId": self.id, "type": "page", "title": "", "url": self.url, "attached": true,
            "canAccessOpener": false})
    }
}

impl Browser {
    /// A browser and the connection to it.
    pub fn new(shared: Arc<Shared>) -> (Connection, Self) {
        let (connection, peer) = pair_with(shared.capacity);
        (connection, Self { peer, shared, tab: Tab::new(), out: Vec::new(), spoil: None })
    }

    /// Runs until the other end lets go of it or the fault ends it.
    pub async fn run(mut self) -> Ended {
        while let Some(request) = self.peer.request().await {
            let mut does = true;
            if self.shared.at_command() {
                match self.strike().await {
                    Some(ended) => return ended,
                    None => does = self.shared.fault != Fault::Swallow,
                }
            }
            if does {
                self.handle(&request);
            } else {
                self.spoil = None;
            }
            if let Some(ended) = self.flush().await {
                return ended;
            }
            if request.method == "Browser.close" {
                return Ended::Asked;
            }
        }
        Ended::Closed
    }

    /// What was said so far goes out, unless the fault is in the way.
    async fn flush(&mut self) -> Option<Ended> {
        for message in std::mem::take(&mut self.out) {
            if self.shared.at_message() {
                if let Some(ended) = self.strike().await {
                    return Some(ended);
                }
                for word in std::mem::take(&mut self.out) {
                    self.peer.try_message(&word).await;
                }
                if matches!(self.shared.fault, Fault::Crash | Fault::TabClosed) {
                    // What the dead page would have said is not said.
                    return None;
                }
            }
            let message = match self.spoil {
                Some(spoil) if message.get("id").is_some() => {
                    self.spoil = None;
                    let id = &message["id"];
                    match spoil {
                        Fault::WrongForm => {
                            json!({"id": id, "result": {"result": 7, "frameTree": [], "loaderId": {}}})
                        }
                        Fault::Error => {
                            json!({"id": id, "error": {"code": -32000, "message": "Internal error"}})
                        }
                        Fault::Garbage => Value::String("{\"id\":".into()),
                        _ => continue,
                    }
                }
                _ => message,
            };
            if !self.peer.try_message(&message).await {
                return Some(Ended::Closed);
            }
        }
        None
    }

    /// The fault happens.
    async fn strike(&mut self) -> Option<Ended> {
        match self.shared.fault {
            Fault::Gone => return Some(Ended::Gone),
            Fault::Crash => {
                self.tab.crashed = true;
                self.tab.navigation = None;
                self.tab.live = None;
                self.say("Inspector.targetCrashed", json!({}));
                let id = self.tab.id.clone();
                self.out.push(json!({"method": "Target.targetCrashed",
                    "params": {"targetId": id, "status": "killed", "errorCode": 9}}));
            }
            Fault::TabClosed => {
                self.tab.closed = true;
                self.tab.navigation = None;
                let params = json!({"sessionId": self.tab.session, "targetId": self.tab.id});
                self.out.push(json!({"method": "Target.detachedFromTarget", "params": params}));
            }
            Fault::Hang => {
                let mut over = self.shared.over.subscribe();
                let _ = over.wait_for(|over| *over).await;
                return Some(Ended::Gone);
            }
            Fault::Stop => self.shared.stop(),
            Fault::Cancel => self.shared.cancel(),
            Fault::Person => {
                let words = json!({"name": "__reinsSay", "payload": "{\"v\":\"person\",\"k\":\"mousedown\"}",
                    "executionContextId": self.tab.number});
                self.say("Runtime.bindingCalled", words);
            }
            fault => self.spoil = Some(fault),
        }
        None
    }

    fn say(&mut self, method: &str, params: Value) {
        let session = self.tab.session.clone();
        self.out.push(json!({"method": method, "params": params, "sessionId": session}));
    }

    fn answer(&mut self, request: &Request, result: Value) {
        self.out.push(json!({"id": request.id, "result": result, "sessionId": request.session_id}));
    }

    fn refuse(&mut self, request: &Request, code: i64, message: &str) {
        self.out.push(json!({"id": request.id, "error": {"code": code, "message": message},
            "sessionId": request.session_id}));
    }

    fn handle(&mut self, request: &Request) {
        let Some(session) = &request.session_id else { return self.root(request) };
        if *session != self.tab.session || self.tab.closed {
            return self.refuse(request, -32001, "Session with given id not found.");
        }
        let method = request.method.as_str();
        let recovers = matches!(method, "Page.navigate" | "Page.reload");
        if self.tab.crashed
            && !recovers
            && (method.starts_with("Runtime.") || method.starts_with("Input."))
        {
            return self.refuse(request, -32000, "Target crashed");
        }
        match method {
            "Runtime.evaluate" => self.evaluate(request),
            "Page.addScriptToEvaluateOnNewDocument" => {
                self.world();
                self.answer(request, json!({"identifier": "1"}));
            }
            "Page.getFrameTree" => {
                let frame = self.tab.frame();
                self.answer(request, json!({"frameTree": {"frame": frame}}));
            }
            "DOM.performSearch" => {
                let count = page::nodes(&self.tab.url);
                self.answer(request, json!({"searchId": "1", "resultCount": count}));
            }
            "Page.navigate" => {
                let url = request.params["url"].as_str().unwrap().to_owned();
                self.count(Effect::Navigation);
                let call = self.shared.ledger().call;
                self.begin((&url, "GET"), "differentDocument", call, Some(request.clone()));
            }
            "Page.reload" => {
                self.count(Effect::Navigation);
                self.answer(request, json!({}));
                let url = self.tab.url.clone();
                let call = self.shared.ledger().call;
                self.begin((&url, "GET"), "reload", call, None);
            }
            "Fetch.continueRequest" => {
                self.answer(request, json!({}));
                self.arrive(request.params["requestId"].as_str().unwrap());
            }
            "Fetch.failRequest" => {
                self.answer(request, json!({}));
                if let Some(Navigation { answers: Some(asked), .. }) = self.tab.navigation.take() {
                    let id = self.tab.id.clone();
                    self.answer(&asked, json!({"frameId": id, "errorText": "net::ERR_ABORTED"}));
                }
            }
            "Input.dispatchMouseEvent" => self.mouse(request),
            "Input.insertText" => self.text(request),
            "Input.dispatchKeyEvent" => self.key(request),
            _ => self.answer(request, json!({})),
        }
    }

    fn root(&mut self, request: &Request) {
        match request.method.as_str() {
            "Target.setAutoAttach" => self.attached(),
            "Target.createTarget" => {
                self.tab = Tab::new();
                self.attached();
                let id = self.tab.id.clone();
                return self.answer(request, json!({"targetId": id}));
            }
            _ => {}
        }
        self.answer(request, json!({}));
    }

    fn attached(&mut self) {
        let params = json!({"sessionId": self.tab.session, "targetInfo": self.tab.info(),
            "waitingForDebugger": false});
        self.out.push(json!({"method": "Target.attachedToTarget", "params": params}));
    }

    fn count(&mut self, effect: Effect) {
        let call = self.shared.ledger().call;
        self.shared.effect(call, effect);
    }

    fn world(&mut self) {
        let origin = self.tab.frame()["securityOrigin"].clone();
        let context = json!({"id": self.tab.number, "origin": origin, "name": "reins",
            "uniqueId": self.tab.world, "auxData": {"frameId": self.tab.id}});
        self.say("Runtime.executionContextCreated", json!({"context": context}));
    }

    /// A navigation begins and waits for our word at the network.
    fn begin(
        &mut self,
        (url, method): (&str, &str),
        kind: &str,
        call: usize,
        answers: Option<Request>,
    ) {
        let loader = format!("L{}", next());
        let paused = format!("interception-{loader}");
        let id = self.tab.id.clone();
        self.tab.crashed = false;
        self.say(
            "Page.frameStartedNavigating",
            json!({"frameId": id, "url": url, "loaderId": loader, "navigationType": kind}),
        );
        self.say("Page.frameStartedLoading", json!({"frameId": id}));
        let wire = json!({"url": url, "method": method});
        self.say(
            "Network.requestWillBeSent",
            json!({"requestId": loader, "loaderId": loader, "frameId": id, "type": "Document", "request": wire}),
        );
        self.say(
            "Fetch.requestPaused",
            json!({"requestId": paused, "request": wire, "frameId": id, "resourceType": "Document",
                "networkId": loader}),
        );
        let (url, method) = (url.to_owned(), method.to_owned());
        self.tab.navigation = Some(Navigation { url, method, loader, paused, call, answers });
    }

    /// The request goes out, and its document comes.
    fn arrive(&mut self, paused: &str) {
        let Some(navigation) = self.tab.navigation.take_if(|n| n.paused == paused) else { return };
        let went = (navigation.call, navigation.method, navigation.url.clone());
        self.shared.ledger().requests.push(went);
        let id = self.tab.id.clone();
        if let Some(request) = navigation.answers {
            self.answer(
                &request,
                json!({"frameId": id, "loaderId": navigation.loader, "isDownload": false}),
            );
        }
        let n = next();
        self.tab.loader = navigation.loader.clone();
        self.tab.url = navigation.url;
        self.tab.world = format!("W{n}");
        self.tab.number = n;
        self.tab.value.clear();
        (self.tab.live, self.tab.held) = (None, None);
        self.say("Runtime.executionContextsCleared", json!({}));
        let frame = self.tab.frame();
        self.say("Page.frameNavigated", json!({"frame": frame, "type": "Navigation"}));
        self.world();
        self.say("Network.loadingFinished", json!({"requestId": navigation.loader}));
        self.say("Page.domContentEventFired", json!({}));
        self.say("Page.loadEventFired", json!({}));
        self.say("Page.frameStoppedLoading", json!({"frameId": id}));
    }

    fn evaluate(&mut self, request: &Request) {
        let world = request.params["uniqueContextId"].as_str();
        if world.is_some_and(|world| world != self.tab.world) {
            return self.refuse(request, -32000, "uniqueContextId not found");
        }
        let expression = request.params["expression"].as_str().unwrap();
        let Some((function, argument)) = expression
            .strip_prefix("__reins.")
            .and_then(|call| call.strip_suffix(')')?.split_once('('))
        else {
            // Whether it is alive, or what its markup names.
            let value = if expression == "1" { json!(1) } else { json!([]) };
            return self.answer(request, json!({"result": {"value": value}}));
        };
        let argument: Value = serde_json::from_str(argument).unwrap_or(Value::Null);
        let number = argument["n"].as_u64().unwrap_or(0);
        let call = self.shared.ledger().call;
        let value = match function {
            "capture" => json!(page::capture(&self.tab.url, &self.tab.value)),
            "facts" => json!(page::facts(&self.tab.url, argument.as_u64().unwrap_or(0))),
            "calm" => json!({"calm": true, "grown": 0}),
            "quiet" | "rest" => json!(true),
            "changed" => json!(false),
            "aim" | "aimAhead" | "aimText" if page::facts(&self.tab.url, number).is_empty() => {
                json!({"no": "detached"})
            }
            "aim" | "aimAhead" => {
                self.tab.live = Some((argument["token"].as_u64().unwrap(), call, false));
                json!({"x": 20.0, "y": page::height(number), "label": false})
            }
            "aimText" => {
                self.tab.live = Some((argument["token"].as_u64().unwrap(), call, false));
                let keys = argument["keys"] == true;
                self.tab.keys = argument["times"].as_u64().unwrap_or(0);
                json!({"how": if keys { "keys" } else { "insert" }, "had": self.tab.value.len()})
            }
            "abandon" => {
                if let Some((token, _, given_up)) = &mut self.tab.live
                    && argument == *token
                {
                    *given_up = true;
                }
                Value::Null
            }
            "withdraw" => {
                self.tab.live.take_if(|(token, ..)| argument == *token);
                Value::Null
            }
            _ => Value::Null,
        };
        self.answer(request, json!({"result": {"value": value}}));
    }

    fn word(&mut self, word: &Value) {
        let words = json!({"name": "__reinsSay", "payload": word.to_string(),
            "executionContextId": self.tab.number});
        self.say("Runtime.bindingCalled", words);
    }

    fn mouse(&mut self, request: &Request) {
        let under =
            request.params["y"].as_f64().and_then(page::at).filter(|_| self.tab.url == HOME);
        match (request.params["type"].as_str(), self.tab.live) {
            (Some("mousePressed"), Some((token, _, false))) => {
                self.tab.held = under;
                self.word(&json!({"t": token, "v": "down", "k": "pointerdown"}));
                self.answer(request, json!({}));
            }
            (Some("mousePressed"), None) => {
                self.word(&json!({"v": "person", "k": "mousedown"}));
                self.answer(request, json!({}));
            }
            (Some("mouseReleased"), Some((token, call, false))) if self.tab.held == under => {
                self.tab.held = None;
                self.clicked(request, token, call, under);
            }
            _ => self.answer(request, json!({})),
        }
    }

    /// The click arrives: a navigation begins, and the guard says so meanwhile.
    fn clicked(&mut self, request: &Request, token: u64, call: usize, under: Option<u64>) {
        let Some(number) = under else { return self.answer(request, json!({})) };
        self.shared.effect(call, Effect::Click(number));
        self.word(&json!({"t": token, "v": "hit", "k": "click"}));
        let leads = page::leads(number);
        if let Some((url, _)) = leads {
            let asked = json!({"frameId": self.tab.id, "url": url, "disposition": "currentTab"});
            self.say("Page.frameRequestedNavigation", asked);
        }
        self.answer(request, json!({}));
        self.word(&json!({"t": token, "v": "end"}));
        if let Some((url, method)) = leads {
            let frame = json!({"frameId": self.tab.id, "url": url, "delay": 0});
            self.say("Page.frameScheduledNavigation", frame.clone());
            self.begin((url, method), "differentDocument", call, None);
            let paused = self.out.pop();
            self.say("Page.frameClearedScheduledNavigation", frame);
            self.quiet(token);
            self.out.extend(paused);
        } else {
            self.quiet(token);
        }
    }

    fn quiet(&mut self, token: u64) {
        self.word(&json!({"t": token, "v": "quiet", "m": true, "b": false, "o": false, "s": []}));
    }

    fn text(&mut self, request: &Request) {
        if let Some((token, call, false)) = self.tab.live {
            self.tab.value = request.params["text"].as_str().unwrap().to_owned();
            self.shared.effect(call, Effect::Text);
            self.word(&json!({"t": token, "v": "down", "k": "beforeinput"}));
            self.answer(request, json!({}));
            self.word(&json!({"t": token, "v": "end"}));
            let length = self.tab.value.len();
            self.word(
                &json!({"t": token, "v": "quiet", "m": true, "b": false, "o": false, "l": length}),
            );
        } else {
            self.answer(request, json!({}));
        }
    }

    fn key(&mut self, request: &Request) {
        let Some((token, call, false)) = self.tab.live else {
            return self.answer(request, json!({}));
        };
        if request.params["type"] == "keyUp" {
            self.answer(request, json!({}));
            self.tab.keys -= 1;
            if self.tab.keys == 0 {
                self.word(&json!({"t": token, "v": "end"}));
                let length = self.tab.value.len();
                self.word(&json!({"t": token, "v": "quiet", "m": true, "b": false, "o": false, "l": length}));
            }
            return;
        }
        if self.tab.value.is_empty() {
            // A gesture counts from its first key on.
            self.shared.effect(call, Effect::Text);
            self.word(&json!({"t": token, "v": "down", "k": "keydown"}));
        }
        self.tab.value.push_str(request.params["text"].as_str().unwrap());
        self.answer(request, json!({}));
    }
}
