//! A small internet for the proxy: names with scripted answers, hosts that count who connects, and a browser's words.

#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

pub(crate) mod cases;
pub(crate) mod zone;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::BoxFuture;
use reins_egress::{Clock, Dialer, Endpoint, Login, Network, Policy, Resolver};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use zone::Zone;

/// A clock that moves when it is told to.
pub(crate) struct TestClock {
    start: Instant,
    moved: Mutex<Duration>,
}

impl TestClock {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { start: Instant::now(), moved: Mutex::default() })
    }

    pub(crate) fn advance(&self, by: Duration) {
        *self.moved.lock().unwrap() += by;
    }
}

impl Clock for TestClock {
    fn now(&self) -> Instant {
        self.start + *self.moved.lock().unwrap()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + *self.moved.lock().unwrap()
    }
}

/// Who connected where, as counted by whoever accepted.
#[derive(Clone, Default)]
pub(crate) struct Counted(Arc<Mutex<Vec<SocketAddr>>>);

impl Counted {
    pub(crate) fn note(&self, at: SocketAddr) {
        self.0.lock().unwrap().push(at);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) fn take(&self) -> Vec<SocketAddr> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Addresses that exist only here: each gets a listener of its own on loopback when it is first dialled.
pub(crate) struct Scripted {
    pub(crate) zone: Arc<Zone>,
    pub(crate) counted: Counted,
    hosts: tokio::sync::Mutex<HashMap<SocketAddr, SocketAddr>>,
    /// This machine's own public address.
    own: IpAddr,
    serve: fn(TcpStream, SocketAddr) -> BoxFuture<'static, ()>,
}

impl Scripted {
    pub(crate) fn new(zone: Arc<Zone>) -> Arc<Self> {
        Self::serving(zone, |stream, at| Box::pin(serve(stream, at)))
    }

    pub(crate) fn serving(
        zone: Arc<Zone>,
        serve: fn(TcpStream, SocketAddr) -> BoxFuture<'static, ()>,
    ) -> Arc<Self> {
        let own = cases::OWN.parse().unwrap();
        Arc::new(Self {
            zone,
            counted: Counted::default(),
            hosts: tokio::sync::Mutex::default(),
            own,
            serve,
        })
    }

    pub(crate) fn network(self: &Arc<Self>, clock: Arc<TestClock>) -> Network {
        Network { resolver: self.clone(), dialer: self.clone(), clock }
    }
}

impl Resolver for Scripted {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move { Ok(self.zone.look_up(name)) })
    }
}

impl Dialer for Scripted {
    fn dial(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        Box::pin(async move {
            let mut hosts = self.hosts.lock().await;
            let at = match hosts.get(&to) {
                Some(at) => *at,
                None => {
                    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
                    let at = listener.local_addr()?;
                    let (counted, serve) = (self.counted.clone(), self.serve);
                    tokio::spawn(async move {
                        while let Ok((stream, _)) = listener.accept().await {
                            counted.note(to);
                            tokio::spawn(serve(stream, to));
                        }
                    });
                    hosts.insert(to, at);
                    at
                }
            };
            TcpStream::connect(at).await
        })
    }

    fn is_here(&self, address: IpAddr) -> bool {
        address == self.own
    }
}

/// Answers each request with the address it reached and what it was sent, then keeps the connection.
pub(crate) async fn serve(stream: TcpStream, at: SocketAddr) {
    let mut stream = BufReader::new(stream);
    while let Ok(Some(head)) = read_head(&mut stream).await {
        let body = format!("reached {at}\n{head}");
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// A head up to its empty line; `None` at the end of the connection.
pub(crate) async fn read_head(stream: &mut BufReader<TcpStream>) -> io::Result<Option<String>> {
    let mut head = String::new();
    loop {
        let before = head.len();
        if stream.read_line(&mut head).await? == 0 {
            return Ok(None);
        }
        if head[before..].trim().is_empty() {
            return Ok(Some(head));
        }
    }
}

/// What the proxy said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// One connection of a browser to the proxy.
pub(crate) struct Line {
    pub(crate) stream: BufReader<TcpStream>,
    login: String,
}

impl Line {
    pub(crate) async fn open(proxy: SocketAddr, login: &Login) -> Self {
        let stream = BufReader::new(TcpStream::connect(proxy).await.unwrap());
        let login = STANDARD.encode(format!("{}:{}", login.user, login.password.expose()));
        Self { stream, login: format!("Proxy-Authorization: Basic {login}\r\n") }
    }

    pub(crate) async fn raw(&mut self, text: &str) -> io::Result<Said> {
        self.stream.write_all(text.as_bytes()).await?;
        self.read().await
    }

    pub(crate) async fn read(&mut self) -> io::Result<Said> {
        let head = read_head(&mut self.stream).await?;
        let head = head.ok_or(io::ErrorKind::UnexpectedEof)?;
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).expect(&head);
        let length = head
            .to_ascii_lowercase()
            .lines()
            .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
            .unwrap_or(0);
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await?;
        Ok(Said { status, head, body: String::from_utf8_lossy(&body).into_owned() })
    }

    /// An ordinary request through the proxy.
    pub(crate) async fn get(&mut self, url: &str, more: &str) -> io::Result<Said> {
        let login = &self.login;
        let text = format!("GET {url} HTTP/1.1\r\nHost: elsewhere.example\r\n{login}{more}\r\n");
        self.raw(&text).await
    }

    /// A tunnel, and a request through it.
    pub(crate) async fn tunnel(&mut self, authority: &str) -> io::Result<Said> {
        let login = &self.login;
        let text = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{login}\r\n");
        let said = self.raw(&text).await?;
        if said.status != 200 {
            return Ok(said);
        }
        self.raw("GET / HTTP/1.1\r\nHost: inside\r\n\r\n").await
    }
}

/// A policy for one app.
pub(crate) fn app(origin: &str) -> Policy {
    let app = Endpoint::of(&origin.parse().unwrap()).unwrap();
    Policy { app: vec![app], ..Policy::default() }
}
