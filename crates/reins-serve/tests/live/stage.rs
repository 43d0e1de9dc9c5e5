//! A live view of a scripted browser, and viewers over pipes: time can stand still.

use axum::Router;
use axum::extract::WebSocketUpgrade;
use axum::http::{HeaderMap, Uri};
use axum::routing::get;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{SinkExt, StreamExt};
use reins_browser::{PersonInput, ScreenFrame};
use reins_core::{Secret, TabId};
use reins_serve::live::{
    About, Handled, Live, LiveEvent, LiveOptions, Mode, NotTaken, ScreenSource, SourceEvent,
    TicketRequest,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

pub(crate) const LONG: Duration = Duration::from_secs(60);
pub(crate) const HOST: &str = "127.0.0.1:7777";
pub(crate) const ORIGIN: &str = "http://127.0.0.1:7777";

/// A browser that does what the test says.
#[derive(Default)]
pub(crate) struct Script {
    tabs: Mutex<BTreeMap<String, watch::Sender<Option<ScreenFrame>>>>,
    inputs: watch::Sender<Vec<(String, PersonInput)>>,
    listeners: Mutex<Vec<mpsc::UnboundedSender<SourceEvent>>>,
    pub(crate) files: Mutex<Vec<(String, PathBuf)>>,
    /// Input that is sent is never handled.
    stuck: Mutex<bool>,
}

impl Script {
    pub(crate) fn open(&self, tab: &str) {
        self.tabs.lock().unwrap().insert(tab.to_owned(), watch::Sender::new(None));
    }

    pub(crate) fn open_by(&self, tab: &str, opener: &str) {
        self.open(tab);
        let opener = Some(TabId::new(opener));
        self.tell(SourceEvent::TabOpened { tab: TabId::new(tab), opener });
    }

    pub(crate) fn close(&self, tab: &str) {
        self.tabs.lock().unwrap().remove(tab);
        self.tell(SourceEvent::TabClosed { tab: TabId::new(tab) });
    }

    /// The tab looks like this now.
    pub(crate) fn paint(&self, tab: &str, jpeg: impl Into<Bytes>) {
        let frame = ScreenFrame {
            jpeg: jpeg.into(),
            css_width: 1280.0,
            css_height: 720.0,
            at: SystemTime::UNIX_EPOCH,
        };
        self.tabs.lock().unwrap()[tab].send_replace(Some(frame));
    }

    pub(crate) fn tell(&self, event: SourceEvent) {
        self.listeners.lock().unwrap().retain(|to| to.send(event.clone()).is_ok());
    }

    pub(crate) fn stick(&self, stuck: bool) {
        *self.stuck.lock().unwrap() = stuck;
    }

    pub(crate) fn inputs(&self) -> Vec<(String, PersonInput)> {
        self.inputs.borrow().clone()
    }

    /// Waits until so much input has arrived.
    pub(crate) async fn wait_inputs(&self, count: usize) -> Vec<(String, PersonInput)> {
        let mut inputs = self.inputs.subscribe();
        let arrived = inputs.wait_for(|all| all.len() >= count);
        timeout(LONG, arrived).await.expect("input arrives").unwrap().clone()
    }

    /// Whether anybody looks at a tab.
    pub(crate) fn watched(&self, tab: &str) -> bool {
        self.tabs.lock().unwrap()[tab].receiver_count() > 0
    }
}

impl ScreenSource for Script {
    fn look(
        &self,
        tab: TabId,
    ) -> BoxFuture<'static, Result<BoxStream<'static, ScreenFrame>, NotTaken>> {
        let frames = self.tabs.lock().unwrap().get(tab.as_str()).map(watch::Sender::subscribe);
        Box::pin(async move {
            let Some(mut frames) = frames else {
                return Err(NotTaken { code: "no_tab", why: "it is closed".into() });
            };
            frames.mark_changed();
            let frames = stream::unfold(frames, |mut frames| async move {
                loop {
                    frames.changed().await.ok()?;
                    let frame = frames.borrow_and_update().clone();
                    if let Some(frame) = frame {
                        return Some((frame, frames));
                    }
                }
            });
            Ok(frames.boxed())
        })
    }

    fn input(
        &self,
        tab: TabId,
        input: PersonInput,
    ) -> BoxFuture<'static, Result<Handled, NotTaken>> {
        self.inputs.send_modify(|all| all.push((tab.as_str().to_owned(), input)));
        let stuck = *self.stuck.lock().unwrap();
        let handled: Handled = Box::pin(async move {
            if stuck {
                std::future::pending::<()>().await;
            }
            Ok(())
        });
        Box::pin(async move { Ok(handled) })
    }

    fn selected(&self, tab: TabId) -> BoxFuture<'static, Result<String, NotTaken>> {
        Box::pin(async move { Ok(format!("selected in {tab}")) })
    }

    fn files(&self, tab: TabId, files: Vec<PathBuf>) -> BoxFuture<'static, Result<(), NotTaken>> {
        self.files.lock().unwrap().extend(files.into_iter().map(|file| (tab.to_string(), file)));
        Box::pin(async { Ok(()) })
    }

    fn about(&self, tab: &TabId) -> About {
        About { url: format!("http://app.example/{tab}"), title: format!("Tab {tab}") }
    }

    fn tabs(&self) -> Vec<TabId> {
        self.tabs.lock().unwrap().keys().map(TabId::new).collect()
    }

    fn events(&self) -> BoxStream<'static, SourceEvent> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.listeners.lock().unwrap().push(sender);
        stream::unfold(receiver, |mut all| async move { all.recv().await.map(|one| (one, all)) })
            .boxed()
    }
}

/// A service over pipes.
struct Pipes(mpsc::UnboundedReceiver<DuplexStream>);

impl axum::serve::Listener for Pipes {
    type Io = DuplexStream;
    type Addr = ();

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.0.recv().await {
            Some(pipe) => (pipe, ()),
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A live view with what it is seen by.
pub(crate) struct Stage {
    pub(crate) live: Live,
    pub(crate) script: Arc<Script>,
    pub(crate) told: Arc<Mutex<Vec<LiveEvent>>>,
    pipes: mpsc::UnboundedSender<DuplexStream>,
}

impl Stage {
    pub(crate) fn start() -> Self {
        Self::with(|_| {})
    }

    /// One tab, `t1`, that shows `one`.
    pub(crate) fn with(change: impl FnOnce(&mut LiveOptions)) -> Self {
        let script = Arc::new(Script::default());
        script.open("t1");
        script.paint("t1", "one");
        let told: Arc<Mutex<Vec<LiveEvent>>> = Arc::default();
        let start = Instant::now();
        let mut options = LiveOptions {
            session: "s1".into(),
            token: Secret::new("a token of thirty-two characters".into()),
            source: script.clone(),
            origins: vec![ORIGIN.into()],
            hosts: vec![HOST.into()],
            window: false,
            wait: None,
            told: {
                let told = told.clone();
                Arc::new(move |event| told.lock().unwrap().push(event))
            },
            clock: Arc::new(move || {
                SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000) + start.elapsed()
            }),
        };
        change(&mut options);
        let live = Live::start(options);
        let (pipes, receiver) = mpsc::unbounded_channel();
        tokio::spawn(axum::serve(Pipes(receiver), router(live.clone())).into_future());
        Self { live, script, told, pipes }
    }

    pub(crate) fn ticket(&self, who: &str, mode: Mode) -> String {
        ticket(&self.live, who, mode)
    }

    /// A connection that has said nothing yet.
    pub(crate) async fn knock(&self) -> Client<DuplexStream> {
        self.knock_as(HOST, Some(ORIGIN), "/live/s1").await.unwrap()
    }

    pub(crate) async fn knock_as(
        &self,
        host: &str,
        origin: Option<&str>,
        path: &str,
    ) -> Result<Client<DuplexStream>, Error> {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        self.pipes.send(theirs).unwrap();
        let mut request = format!("ws://{HOST}{path}").into_client_request().unwrap();
        request.headers_mut().insert("host", host.parse().unwrap());
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        let (socket, _) = tokio_tungstenite::client_async(request, ours).await?;
        Ok(Client { socket })
    }

    /// Someone who watches, and their welcome.
    pub(crate) async fn watch(&self, who: &str) -> (Client<DuplexStream>, Value) {
        self.enter(who, Mode::View).await
    }

    pub(crate) async fn enter(&self, who: &str, mode: Mode) -> (Client<DuplexStream>, Value) {
        let mut client = self.knock().await;
        client.show_ticket(&self.ticket(who, mode)).await;
        let welcome = client.text("welcome").await;
        (client, welcome)
    }

    /// Someone who drives.
    pub(crate) async fn drive(&self, who: &str) -> Client<DuplexStream> {
        let (client, welcome) = self.enter(who, Mode::Control).await;
        assert_eq!(welcome["driver"]["you"], true, "{welcome}");
        client
    }

    /// What the recorder was told, in short.
    pub(crate) fn told(&self) -> Vec<String> {
        let told = self.told.lock().unwrap();
        let short = |event: &LiveEvent| match event {
            LiveEvent::TakeoverStarted { who, .. } => format!("{who} began"),
            LiveEvent::TakeoverEnded { who, cause, .. } => format!("{who} {}", cause.word()),
        };
        told.iter().map(short).collect()
    }
}

pub(crate) fn router(live: Live) -> Router {
    let live = move |upgrade: WebSocketUpgrade, headers: HeaderMap, uri: Uri| async move {
        live.serve(upgrade, &headers, &uri)
    };
    Router::new().route("/live/s1", get(live))
}

/// A ticket for a person whose name is their id in capitals.
pub(crate) fn ticket(live: &Live, who: &str, mode: Mode) -> String {
    let request = TicketRequest { subject: who.into(), name: who.to_uppercase(), mode };
    live.issue(&request).expose().to_owned()
}

/// A viewer's end of a connection.
pub(crate) struct Client<S> {
    pub(crate) socket: WebSocketStream<S>,
}

/// What a viewer gets.
#[derive(Debug, PartialEq)]
pub(crate) enum Got {
    Text(Value),
    Frame(Bytes),
    Closed(Option<u16>),
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub(crate) async fn show_ticket(&mut self, ticket: &str) {
        self.say(json!({"type": "ticket", "ticket": ticket})).await;
    }

    pub(crate) async fn say(&mut self, message: Value) {
        self.raw(Message::text(message.to_string())).await;
    }

    pub(crate) async fn raw(&mut self, message: Message) {
        // It may have been closed at the other end; what came then is read.
        drop(self.socket.send(message).await);
    }

    pub(crate) async fn input(&mut self, input: Value) {
        self.say(json!({"type": "input", "input": input})).await;
    }

    pub(crate) async fn key(&mut self, key: &str) {
        self.input(json!({"kind":"key","action":"down","key":key,"code":"","modifiers":0})).await;
    }

    /// The next thing within a minute of test time.
    pub(crate) async fn next(&mut self) -> Got {
        self.within(LONG).await.expect("something comes")
    }

    pub(crate) async fn within(&mut self, limit: Duration) -> Option<Got> {
        let next = async {
            loop {
                match self.socket.next().await {
                    Some(Ok(Message::Text(text))) => {
                        return Got::Text(serde_json::from_str(&text).unwrap());
                    }
                    Some(Ok(Message::Binary(bytes))) => return Got::Frame(bytes),
                    Some(Ok(Message::Close(frame))) => {
                        return Got::Closed(frame.map(|frame| frame.code.into()));
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return Got::Closed(None),
                }
            }
        };
        timeout(limit, next).await.ok()
    }

    /// The next message of a kind; others are skipped.
    pub(crate) async fn text(&mut self, kind: &str) -> Value {
        loop {
            match self.next().await {
                Got::Text(value) if value["type"] == kind => return value,
                Got::Closed(code) => panic!("closed with {code:?} instead of {kind}"),
                Got::Text(_) | Got::Frame(_) => {}
            }
        }
    }

    /// The next picture; words are skipped.
    pub(crate) async fn frame(&mut self) -> Bytes {
        loop {
            match self.next().await {
                Got::Frame(bytes) => return bytes,
                Got::Closed(code) => panic!("closed with {code:?} instead of a frame"),
                Got::Text(_) => {}
            }
        }
    }

    /// Waits for a picture; others are skipped.
    pub(crate) async fn sees(&mut self, picture: &str) {
        while self.frame().await != picture.as_bytes() {}
    }

    /// The close code; everything before it is skipped.
    pub(crate) async fn closed(&mut self) -> Option<u16> {
        loop {
            if let Got::Closed(code) = self.next().await {
                return code;
            }
        }
    }
}
