//! The same attacks over a real network of the kernel's: two namespaces joined by a cable, a DNS server of our own,
//! and a machine at the far end that has every address there is and counts who connects.
//!
//! ```text
//!  proxy's namespace                      the far machine's namespace
//!  system resolver ─ DNS on 127.0.0.1     all of IPv4 and IPv6 are its own
//!  traps on 127.0.0.1 and ::1 ─── cable ─── listens on every port of the cases
//! ```
//!
//! Where a system lets nobody make namespaces the cases run over the scripted network of `attacks.rs` only, and the
//! test says so.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a failed step must stop the test, and what ran is shown"
)]

mod support;

use nix::unistd::geteuid;
use reins_egress::Network;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::cases::{ATTACKS, Case, OPEN, OWN, run, scripted};
use support::zone::Zone;
use support::{Counted, TestClock, serve};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

const ROLE: &str = "EGRESS_TEST_ROLE";
const NAME: &str = "s147_s_x11_attacks_and_open_ways_over_a_real_network";

/// The ports that the cases name and that a host could listen on.
const PORTS: &[u16] = &[22, 25, 53, 80, 443, 3000, 3001, 6667, 8080, 8443];

/// How often the far machine is asked for a connection that must have come; each answer takes eleven connections of its own.
const MOST_QUESTIONS: usize = 100;

/// The end of a cable.
const NEAR: &str = "100.127.1.1/30";
const FAR: &str = "100.127.1.2";

/// S-147, S-148, S-149, S-151, S-X11: with the real resolver and real connections.
#[test]
fn s147_s_x11_attacks_and_open_ways_over_a_real_network() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    match std::env::var(ROLE).as_deref() {
        Ok("proxy") => runtime.block_on(near()),
        Ok("far") => runtime.block_on(far()),
        _ => runtime.block_on(outside()),
    }
}

/// Starts this very test again inside namespaces of its own.
async fn outside() {
    let inside = |what: &[&str]| {
        let mut command = Command::new("unshare");
        if !geteuid().is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["--net", "--mount", "--kill-child"]).args(what);
        command
    };
    let possible = inside(&["sh", "-c", "ip link set lo up && mount --bind /etc/hosts /etc/hosts"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .await;
    if !possible.is_ok_and(|status| status.success()) {
        println!("no namespaces can be made here: the cases run over a scripted network instead");
        for cases in [ATTACKS, OPEN] {
            scripted(cases).await;
        }
        return;
    }
    let program = std::env::current_exe().unwrap();
    let status = inside(&[program.to_str().unwrap(), NAME, "--exact", "--nocapture"])
        .env(ROLE, "proxy")
        .kill_on_drop(true)
        .status()
        .await
        .unwrap();
    assert!(status.success(), "{status}");
}

async fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split(' ')).output().await.unwrap();
    assert!(output.status.success(), "ip {arguments}: {output:?}");
}

/// The proxy's side.
async fn near() {
    ip("link set lo up").await;
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        (
            "resolv.conf",
            "nameserver 127.0.0.1\noptions timeout:2 attempts:1\nsearch corp.example\n",
        ),
        ("hosts", "127.0.0.1 localhost\n::1 localhost\n"),
    ] {
        let file = dir.path().join(name);
        std::fs::write(&file, text).unwrap();
        let etc = std::fs::canonicalize(format!("/etc/{name}")).unwrap();
        let bound = Command::new("mount").arg("--bind").arg(&file).arg(&etc).status().await;
        assert!(bound.unwrap().success(), "{name}");
    }
    let mut machine = Far::start().await;
    let pid = machine.child.id().unwrap();
    ip(&format!("link add near type veth peer name far netns {pid}")).await;
    ip(&format!("addr add {NEAR} dev near")).await;
    ip("addr add fdcc::1/64 dev near nodad").await;
    ip(&format!("addr add {OWN}/32 dev lo")).await;
    ip("link set near up").await;
    machine.ready().await;
    // Everything but loopback leads to the far machine, private and special addresses as well.
    ip(&format!("route add default via {FAR}")).await;
    ip("-6 route add default via fdcc::2").await;
    let here = Counted::default();
    for port in PORTS {
        for address in [
            SocketAddr::from((Ipv4Addr::UNSPECIFIED, *port)),
            SocketAddr::from((Ipv6Addr::LOCALHOST, *port)),
        ] {
            let listener = TcpListener::bind(address).await.unwrap();
            let counted = here.clone();
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let at = stream.local_addr().unwrap();
                    counted.note(at);
                    tokio::spawn(serve(stream, at));
                }
            });
        }
    }
    let names: Arc<Mutex<Arc<Zone>>> = Arc::new(Mutex::new(Arc::new(Zone::new([]))));
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 53)).await.unwrap();
    tokio::spawn(dns(socket, names.clone()));
    let machine = Arc::new(tokio::sync::Mutex::new(machine));
    // The traps work: what is dialled without the proxy is counted.
    for trap in
        ["10.0.0.1:80", "169.254.169.254:80", "8.8.8.8:443", "[2606:4700::1]:80", "[fd00::5]:80"]
    {
        let at: SocketAddr = trap.parse().unwrap();
        drop(TcpStream::connect(at).await.expect(trap));
        // The last packet of the handshake may still be under way.
        let mut seen = Vec::new();
        for _ in 0..MOST_QUESTIONS {
            seen.extend(machine.lock().await.counted().await);
            if !seen.is_empty() {
                break;
            }
        }
        assert_eq!(seen, [at], "the far machine counts");
    }
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, 80));
    drop(TcpStream::connect(at).await.unwrap());
    wait_for(&here, 1).await;
    assert_eq!(here.take(), [at]);
    let network = {
        let names = names.clone();
        move |zone: Arc<Zone>, clock: Arc<TestClock>| {
            *names.lock().unwrap() = zone;
            Network { clock, ..Network::system() }
        }
    };
    for (what, cases) in [("attacks", ATTACKS), ("open", OPEN)] {
        let cases: &[Case] = cases;
        let total = run(cases, &network, &|| {
            let (machine, here) = (machine.clone(), here.clone());
            Box::pin(async move {
                let mut all = machine.lock().await.counted().await;
                all.extend(here.take());
                all
            })
        })
        .await;
        println!("{what} over a real network: {total:?}");
        assert_eq!(total.cases, cases.len());
    }
}

async fn wait_for(counted: &Counted, number: usize) {
    while counted.count() < number {
        tokio::task::yield_now().await;
    }
}

async fn dns(socket: UdpSocket, names: Arc<Mutex<Arc<Zone>>>) {
    let mut question = [0; 512];
    while let Ok((length, from)) = socket.recv_from(&mut question).await {
        let zone = names.lock().unwrap().clone();
        if let Some(answer) = zone.answer(&question[..length]) {
            let _ = socket.send_to(&answer, from).await;
        }
    }
}

/// The far machine, as seen from the proxy's side.
struct Far {
    child: Child,
    ask: ChildStdin,
    says: BufReader<ChildStdout>,
}

impl Far {
    async fn start() -> Self {
        let program = std::env::current_exe().unwrap();
        let mut child = Command::new("unshare")
            .args(["--net", "--kill-child"])
            .arg(program)
            .args([NAME, "--exact", "--nocapture"])
            .env(ROLE, "far")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let ask = child.stdin.take().unwrap();
        let says = BufReader::new(child.stdout.take().unwrap());
        let mut far = Self { child, ask, says };
        far.line("started").await;
        far
    }

    /// The next line that begins with a word; a test program prints others.
    async fn line(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.says.read_line(&mut line).await.unwrap() > 0, "the far machine ended");
            if let Some((_, rest)) = line.split_once(word) {
                return rest.trim().to_owned();
            }
        }
    }

    async fn ready(&mut self) {
        self.ask.write_all(b"a").await.unwrap();
        self.line("ready").await;
    }

    /// The connections since it was last asked.
    async fn counted(&mut self) -> Vec<SocketAddr> {
        self.ask.write_all(b"c").await.unwrap();
        let line = self.line("counted").await;
        line.split_whitespace().map(|at| at.parse().unwrap()).collect()
    }
}

/// The far machine itself: it does what it is asked by single letters.
async fn far() {
    println!("\nstarted");
    let mut asked = tokio::io::stdin();
    asked.read_u8().await.unwrap();
    ip("link set lo up").await;
    ip(&format!("addr add {FAR}/30 dev far")).await;
    ip("addr add fdcc::2/64 dev far nodad").await;
    ip("link set far up").await;
    ip("route add local 0.0.0.0/0 dev lo").await;
    ip("-6 route add local ::/0 dev lo").await;
    ip("route add 100.127.1.0/30 dev far table local").await;
    ip("-6 route add fdcc::1/128 dev far table local").await;
    for file in ["all/rp_filter", "far/rp_filter", "default/rp_filter"] {
        let _ = std::fs::write(format!("/proc/sys/net/ipv4/conf/{file}"), "0");
    }
    let counted = Counted::default();
    for port in PORTS {
        // It takes IPv4 as well.
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, *port)).await.unwrap();
        let counted = counted.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let at = stream.local_addr().unwrap();
                let at = SocketAddr::new(at.ip().to_canonical(), at.port());
                counted.note(at);
                tokio::spawn(serve(stream, at));
            }
        });
    }
    println!("\nready");
    while asked.read_u8().await.is_ok() {
        // What was connected before the question is accepted before the answer: a connection of our own goes last on
        // every port, because each has a queue and an accepting task of its own.
        let own = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        for port in PORTS {
            drop(TcpStream::connect((own.ip(), *port)).await.unwrap());
        }
        let ours = |at: &SocketAddr| at.ip() == own.ip();
        let mut seen = Vec::new();
        while seen.iter().filter(|at| ours(at)).count() < PORTS.len() {
            tokio::time::timeout(Duration::from_secs(10), wait_for(&counted, 1)).await.unwrap();
            seen.extend(counted.take());
        }
        let seen = seen.iter().filter(|at| !ours(at)).map(ToString::to_string);
        println!("\ncounted {}", seen.collect::<Vec<_>>().join(" "));
    }
}
