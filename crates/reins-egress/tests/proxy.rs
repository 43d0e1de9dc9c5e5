//! What the proxy does with requests that it lets through, with strangers, and at its bounds.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a failed step must stop the test, and what ran is shown"
)]

mod support;

use reins_egress::{Allowance, Deny, Egress, Network, Policy, Public, Reason};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use support::zone::Zone;
use support::{Line, Scripted, TestClock, app, read_head};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

const LONG: Duration = Duration::from_secs(20);

async fn proxy(names: &[(&str, &str)]) -> (Egress, Arc<Scripted>) {
    let scripted = Scripted::new(Arc::new(Zone::new(names.iter().copied())));
    let egress = Egress::start(scripted.network(TestClock::new())).await.unwrap();
    (egress, scripted)
}

/// A proxy whose hosts answer with exactly this text, then close.
async fn saying(answer: &'static str) -> Egress {
    async fn say(mut stream: TcpStream, text: &'static str) {
        let mut head = [0; 4_096];
        let _ = stream.read(&mut head).await;
        let _ = stream.write_all(text.as_bytes()).await;
    }
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(say(stream, answer));
        }
    });
    let mut network = Network::system();
    network.dialer = Arc::new(Always(at));
    Egress::start(network).await.unwrap()
}

/// Whatever is dialled, one host answers.
struct Always(SocketAddr);

impl reins_egress::Dialer for Always {
    fn dial(
        &self,
        _: SocketAddr,
    ) -> futures_util::future::BoxFuture<'_, std::io::Result<TcpStream>> {
        Box::pin(TcpStream::connect(self.0))
    }

    fn is_here(&self, _: std::net::IpAddr) -> bool {
        false
    }
}

/// S-146: each session has credentials of its own; nobody else uses the proxy, and a session that is over neither.
#[tokio::test]
async fn s146_only_a_session_that_is_open_is_served() {
    let (egress, hosts) = proxy(&[]).await;
    let one = egress.open(app("http://10.0.0.1"), Allowance::default()).unwrap();
    let two = egress.open(Policy::default(), Allowance::default()).unwrap();
    let mut stranger = Line::open(egress.address(), one.login()).await;
    let text = "GET http://8.8.8.8/ HTTP/1.1\r\nHost: x\r\n\r\n";
    let said = stranger.raw(text).await.unwrap();
    assert_eq!(said.status, 407);
    assert!(said.head.contains("proxy-authenticate: Basic"), "{}", said.head);
    for credentials in ["Basic c2Vzc2lvbi0xOg==", "Basic !", "Bearer x", "Basic c2Vzc2lvbi0xOng="] {
        let text = format!(
            "CONNECT 8.8.8.8:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: {credentials}\r\n\r\n"
        );
        assert_eq!(stranger.raw(&text).await.unwrap().status, 407, "{credentials}");
    }
    assert_eq!(hosts.counted.take(), []);
    // The policies are apart, also on one connection.
    let mut first = Line::open(egress.address(), one.login()).await;
    assert_eq!(first.get("http://10.0.0.1/", "").await.unwrap().status, 200);
    let mut second = Line::open(egress.address(), two.login()).await;
    assert_eq!(second.get("http://10.0.0.1/", "").await.unwrap().status, 403);
    assert_eq!((one.refusals().total(), two.refusals().total()), (0, 1));
    let mut tunnel = Line::open(egress.address(), one.login()).await;
    assert_eq!(tunnel.tunnel("10.0.0.1:80").await.unwrap().status, 200);
    let login = one.login().clone();
    drop(one);
    let cut = timeout(LONG, tunnel.stream.read_u8()).await.expect("the tunnel is cut");
    assert!(cut.is_err());
    let mut late = Line::open(egress.address(), &login).await;
    assert_eq!(late.get("http://10.0.0.1/", "").await.unwrap().status, 407);
    drop(two);
    egress.stop().await;
}

/// What is meant for the proxy stays there, and the server gets the host that was judged.
#[tokio::test]
async fn a_server_gets_the_judged_host_and_nothing_of_the_proxys() {
    let (egress, _) = proxy(&[("cdn.example", "8.8.8.8")]).await;
    let session = egress.open(Policy::default(), Allowance::default()).unwrap();
    let mut line = Line::open(egress.address(), session.login()).await;
    let more = "Connection: x-hop, keep-alive\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nProxy-Connection: y\r\n\
        Upgrade: websocket\r\nTE: trailers\r\nX-Stays: 1\r\n";
    let said = line.get("http://cdn.example:8080/a?b=c#d", more).await.unwrap();
    let sent = said.body.to_ascii_lowercase();
    assert!(sent.contains("get /a?b=c http/1.1"), "{sent}");
    assert!(sent.contains("host: cdn.example:8080"), "{sent}");
    assert!(sent.contains("x-stays: 1"), "{sent}");
    for gone in ["proxy-", "elsewhere", "x-hop", "keep-alive", "upgrade", "te:"] {
        assert!(!sent.contains(gone), "{gone} in {sent}");
    }
    egress.stop().await;
}

/// A server cannot speak in the proxy's name: the browser would answer with the session's password.
#[tokio::test]
async fn s146_an_answer_in_the_proxys_name_is_not_passed_on() {
    let asks =
        "HTTP/1.1 407 x\r\nProxy-Authenticate: Basic realm=\"reins\"\r\ncontent-length: 0\r\n\r\n";
    let other =
        "HTTP/1.1 200 x\r\nProxy-Authenticate: Basic realm=\"reins\"\r\ncontent-length: 0\r\n\r\n";
    let switches = "HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
    let nonsense = "SSH-2.0-OpenSSH_9.6\r\n";
    for (answer, status) in [(asks, 502), (other, 200), (switches, 502), (nonsense, 502)] {
        let egress = saying(answer).await;
        let session = egress.open(Policy::default(), Allowance::default()).unwrap();
        let mut line = Line::open(egress.address(), session.login()).await;
        let said = line.get("http://8.8.8.8/", "").await.unwrap();
        assert_eq!(said.status, status, "{answer}");
        assert!(!said.head.to_ascii_lowercase().contains("proxy-authenticate"), "{answer}");
        egress.stop().await;
    }
}

/// Requests that are read in two ways reach nobody, or end at the one host that was judged.
#[tokio::test]
async fn s147_a_request_that_hides_another_reaches_one_host_only() {
    let (egress, hosts) = proxy(&[]).await;
    let session = egress.open(app("http://10.0.0.1"), Allowance::default()).unwrap();
    for hidden in [
        "Content-Length: 0\r\nContent-Length: 44\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding : chunked\r\n",
        "X: y\nHost: 10.0.0.2\r\n",
    ] {
        let mut line = Line::open(egress.address(), session.login()).await;
        let more =
            format!("{hidden}\r\n0\r\n\r\nGET http://10.0.0.2/ HTTP/1.1\r\nHost: 10.0.0.2\r\n");
        let _ = timeout(LONG, line.get("http://10.0.0.1/", &more)).await;
        for at in hosts.counted.take() {
            assert_eq!(at.ip().to_string(), "10.0.0.1", "{hidden}");
        }
    }
    egress.stop().await;
}

/// A server's connection is used again for the same host, and only for it.
#[tokio::test]
async fn a_kept_connection_serves_its_own_host_only() {
    let (egress, hosts) = proxy(&[]).await;
    let session = egress.open(Policy::default(), Allowance::default()).unwrap();
    let mut line = Line::open(egress.address(), session.login()).await;
    for (url, connected) in [
        ("http://8.8.8.8/1", vec!["8.8.8.8:80"]),
        ("http://8.8.8.8/2", vec![]),
        ("http://9.9.9.9/", vec!["9.9.9.9:80"]),
        ("http://8.8.8.8/3", vec!["8.8.8.8:80"]),
    ] {
        let said = line.get(url, "").await.unwrap();
        let host = url.split('/').nth(2).unwrap();
        assert!(said.body.starts_with(&format!("reached {host}:80")), "{said:?}");
        let seen: Vec<String> = hosts.counted.take().iter().map(ToString::to_string).collect();
        assert_eq!(seen, connected, "{url}");
    }
    egress.stop().await;
}

/// A request on a kept connection that its server closed is the browser's to repeat, never the proxy's.
#[tokio::test]
async fn nothing_is_sent_twice_when_a_kept_connection_breaks() {
    async fn once(stream: TcpStream, at: SocketAddr) {
        let mut stream = BufReader::new(stream);
        let head = read_head(&mut stream).await.ok().flatten().unwrap_or_default();
        let answer =
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{at}", at.to_string().len());
        let _ = stream.write_all(answer.as_bytes()).await;
        assert!(!head.contains("POST"), "only the second request is a POST");
        // It reads the next request and closes without a word.
        let _ = read_head(&mut stream).await;
    }
    let zone = Arc::new(Zone::new([]));
    let hosts = Scripted::serving(zone, |stream, at| Box::pin(once(stream, at)));
    let egress = Egress::start(hosts.network(TestClock::new())).await.unwrap();
    let session = egress.open(Policy::default(), Allowance::default()).unwrap();
    let mut line = Line::open(egress.address(), session.login()).await;
    assert_eq!(line.get("http://8.8.8.8/", "").await.unwrap().status, 200);
    let login = base64_login(session.login());
    let post =
        format!("POST http://8.8.8.8/ HTTP/1.1\r\nHost: x\r\n{login}content-length: 2\r\n\r\nhi");
    assert!(line.raw(&post).await.is_err(), "closed without an answer");
    assert_eq!(hosts.counted.take().len(), 1);
    egress.stop().await;
}

fn base64_login(login: &reins_egress::Login) -> String {
    use base64::Engine;
    let text = format!("{}:{}", login.user, login.password.expose());
    format!(
        "Proxy-Authorization: Basic {}\r\n",
        base64::engine::general_purpose::STANDARD.encode(text)
    )
}

/// Bytes are counted in tunnels and bodies alike, and end both.
#[tokio::test]
async fn a_session_moves_as_many_bytes_as_it_may() {
    let (egress, _) = proxy(&[]).await;
    let allowance = Allowance { bytes: 1_000, rate: None };
    let session = egress.open(Policy::default(), allowance).unwrap();
    let mut tunnel = Line::open(egress.address(), session.login()).await;
    assert_eq!(tunnel.tunnel("8.8.8.8:443").await.unwrap().status, 200);
    let flood = timeout(LONG, async {
        while tunnel.raw("GET / HTTP/1.1\r\nHost: inside\r\n\r\n").await.is_ok() {}
    });
    flood.await.expect("the tunnel is cut");
    let mut line = Line::open(egress.address(), session.login()).await;
    assert_eq!(line.get("http://8.8.8.8/", "").await.unwrap().status, 403);
    assert_eq!(session.refusals().kinds[0].reason, Reason::Bytes);
    let other = egress.open(Policy::default(), allowance).unwrap();
    let mut line = Line::open(egress.address(), other.login()).await;
    assert_eq!(line.get("http://8.8.8.8/", "").await.unwrap().status, 200);
    egress.stop().await;
}

/// S-151 the other way: a session may be held to its app, and hosts may be denied.
#[tokio::test]
async fn a_policy_can_refuse_everything_but_the_app() {
    let (egress, hosts) = proxy(&[("a.ads.example", "8.8.8.8"), ("x.example", "9.9.9.9")]).await;
    let only = Policy { public: Public::Refuse, ..app("http://10.0.0.1") };
    let session = egress.open(only, Allowance::default()).unwrap();
    let mut line = Line::open(egress.address(), session.login()).await;
    assert_eq!(line.get("http://10.0.0.1/", "").await.unwrap().status, 200);
    assert_eq!(line.get("http://8.8.8.8/", "").await.unwrap().status, 403);
    let deny = vec![Deny::Name("ads.example".into()), Deny::Net("9.9.9.0/24".parse().unwrap())];
    let session = egress.open(Policy { deny, ..Policy::default() }, Allowance::default()).unwrap();
    let mut line = Line::open(egress.address(), session.login()).await;
    assert_eq!(line.get("http://a.ads.example/", "").await.unwrap().status, 403);
    assert_eq!(line.get("http://x.example/", "").await.unwrap().status, 403);
    let seen: Vec<String> = hosts.counted.take().iter().map(ToString::to_string).collect();
    assert_eq!(seen, ["10.0.0.1:80"]);
    egress.stop().await;
}

/// A stop does not wait: not for a server that never answers, not for a tunnel, not for a half-sent head.
#[tokio::test]
async fn stopping_never_queues() {
    async fn never(stream: TcpStream, _: SocketAddr) {
        let _open = stream;
        std::future::pending::<()>().await;
    }
    let zone = Arc::new(Zone::new([]));
    let hosts = Scripted::serving(zone, |stream, at| Box::pin(never(stream, at)));
    let egress = Egress::start(hosts.network(TestClock::new())).await.unwrap();
    let session = egress.open(Policy::default(), Allowance::default()).unwrap();
    let address = egress.address();
    let login = session.login().clone();
    let waiting = tokio::spawn(async move {
        let mut line = Line::open(address, &login).await;
        line.get("http://8.8.8.8/", "").await
    });
    let mut tunnel = Line::open(address, session.login()).await;
    let login = base64_login(session.login());
    let text = format!("CONNECT 8.8.8.8:443 HTTP/1.1\r\nHost: x\r\n{login}\r\n");
    assert_eq!(tunnel.raw(&text).await.unwrap().status, 200);
    let mut half = TcpStream::connect(address).await.unwrap();
    half.write_all(b"GET http://8.8").await.unwrap();
    while hosts.counted.clone().count() < 2 {
        tokio::task::yield_now().await;
    }
    timeout(LONG, egress.stop()).await.expect("it stops");
    assert!(timeout(LONG, waiting).await.expect("its request ends").unwrap().is_err());
    assert!(timeout(LONG, half.read_u8()).await.expect("its connection ends").is_err());
    assert!(timeout(LONG, tunnel.stream.read_u8()).await.expect("its tunnel ends").is_err());
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
}

/// Both directions of a tunnel end on their own, and everything that was sent arrives.
#[tokio::test]
async fn a_tunnel_keeps_half_of_itself_open() {
    async fn echo_at_end(mut stream: TcpStream, _: SocketAddr) {
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all).await;
        let _ = stream.write_all(&all).await;
    }
    let zone = Arc::new(Zone::new([]));
    let hosts = Scripted::serving(zone, |stream, at| Box::pin(echo_at_end(stream, at)));
    let egress = Egress::start(hosts.network(TestClock::new())).await.unwrap();
    let session = egress.open(Policy::default(), Allowance::default()).unwrap();
    let mut tunnel = Line::open(egress.address(), session.login()).await;
    let login = base64_login(session.login());
    let text = format!("CONNECT 8.8.8.8:443 HTTP/1.1\r\nHost: x\r\n{login}\r\n");
    assert_eq!(tunnel.raw(&text).await.unwrap().status, 200);
    let (mut reads, mut writes) = tunnel.stream.into_inner().into_split();
    let sent: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    let expected = sent.clone();
    tokio::spawn(async move {
        writes.write_all(&sent).await.unwrap();
        writes.shutdown().await.unwrap();
    });
    let mut back = Vec::new();
    timeout(LONG, reads.read_to_end(&mut back)).await.unwrap().unwrap();
    assert!(back == expected, "{} bytes came back", back.len());
    assert_eq!(session.usage().bytes, 6_000_000);
    egress.stop().await;
}

/// An endless head and a huge one end without growing.
#[tokio::test]
async fn heads_are_bounded() {
    let (egress, hosts) = proxy(&[]).await;
    let session = egress.open(Policy::default(), Allowance::default()).unwrap();
    let mut line = Line::open(egress.address(), session.login()).await;
    let huge = format!("X: {}\r\n", "a".repeat(4 * reins_egress::limits::REQUEST_HEAD_BYTES));
    let said = line.get("http://8.8.8.8/", &huge).await;
    assert!(said.is_err() || said.is_ok_and(|said| said.status == 431), "it is not passed on");
    let many: String = (0..1_000).map(|n| format!("x-{n}: 1\r\n")).collect();
    let mut line = Line::open(egress.address(), session.login()).await;
    let said = line.get("http://8.8.8.8/", &many).await;
    assert!(said.is_err() || said.is_ok_and(|said| said.status == 431));
    assert_eq!(hosts.counted.take(), []);
    let mut line = Line::open(egress.address(), session.login()).await;
    let cookies = format!("Cookie: {}\r\n", "c".repeat(100_000));
    assert_eq!(line.get("http://8.8.8.8/", &cookies).await.unwrap().status, 200);
    egress.stop().await;
}

/// S-147, S-X11: within a minute one look-up serves all requests.
#[tokio::test]
async fn names_are_looked_up_once_and_without_a_search_list() {
    let (egress, hosts) = proxy(&[("cdn.example", "8.8.8.8"), ("app.example", "10.0.0.1")]).await;
    let session = egress.open(app("http://app.example"), Allowance::default()).unwrap();
    for _ in 0..3 {
        let mut line = Line::open(egress.address(), session.login()).await;
        assert_eq!(line.get("http://cdn.example/", "").await.unwrap().status, 200);
        assert_eq!(line.get("http://app.example/", "").await.unwrap().status, 200);
    }
    assert_eq!(hosts.zone.asked(), ["cdn.example.", "app.example"]);
    egress.stop().await;
}
