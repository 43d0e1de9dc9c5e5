//! Prints how long it takes from a change on a page to the frame at a viewer: median and 95th percentile in
//! milliseconds. Arguments: how many changes (100), how many viewers watch (1), how many of them take nothing (0).
//!
//! A page of text changes the colour of a part of itself at uneven intervals and notes when. The viewer is a
//! WebSocket client in this process; its clock and the page's are the same machine's. A frame counts when all
//! of it has arrived; decoding it to see which colour it shows comes after.

#![allow(clippy::print_stdout, reason = "this is what it is for")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a measurement that fails must stop")]

use axum::Router;
use axum::extract::WebSocketUpgrade;
use axum::http::{HeaderMap, Uri};
use axum::routing::get;
use axum::serve::ListenerExt;
use futures_util::{SinkExt, StreamExt};
use reins_browser::{Browser, LaunchOptions};
use reins_core::Secret;
use reins_serve::live::{Live, LiveOptions, Mode, TicketRequest};
use reins_testing::{Page, Site};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

#[path = "../../reins-browser/tests/support/mod.rs"]
mod support;

type Viewer = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Far enough apart for JPEG.
const COLOURS: [[u8; 3]; 6] =
    [[255, 0, 0], [0, 128, 0], [0, 0, 255], [255, 255, 0], [0, 0, 0], [255, 255, 255]];

const LONG: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1).map(|n| n.parse::<usize>().expect("a number"));
    let changes = arguments.next().unwrap_or(100);
    let watching = arguments.next().unwrap_or(1).clamp(1, 8);
    let stalled = arguments.next().unwrap_or(0).min(watching - 1);
    let site = Site::start([("/", Page::html(&page(changes)))]).await.unwrap();
    let browser = Browser::launch(LaunchOptions {
        headless: true,
        no_sandbox: std::env::var_os("REINS_NO_SANDBOX").is_some(),
        ..LaunchOptions::default()
    })
    .await
    .unwrap();
    let tab = browser.first_tab(LONG).await.unwrap();
    support::open(&browser, &tab, &site.url("/")).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let live = Live::start(LiveOptions {
        session: "s".into(),
        token: Secret::new("a token of thirty-two characters".into()),
        source: Arc::new(browser.clone()),
        origins: vec![format!("http://{address}")],
        hosts: vec![address.clone()],
        window: false,
        wait: None,
        told: Arc::new(|_| {}),
        clock: Arc::new(SystemTime::now),
    });
    let served = live.clone();
    let answer = move |upgrade: WebSocketUpgrade, headers: HeaderMap, uri: Uri| async move {
        served.serve(upgrade, &headers, &uri)
    };
    let router = Router::new().route("/live", get(answer));
    let listener = listener.tap_io(|io| io.set_nodelay(true).unwrap());
    tokio::spawn(axum::serve(listener, router).into_future());

    let mut viewer = enter(&live, &address, Mode::Control).await;
    let mut held = Vec::new();
    for n in 1..watching {
        let mut other = enter(&live, &address, Mode::View).await;
        if n <= stalled {
            held.push(other);
        } else {
            tokio::spawn(async move { while let Some(Ok(_)) = other.next().await {} });
        }
    }
    // The first frame shows that all is in place; a key sets the page off.
    frame(&mut viewer).await;
    let key = json!({"type":"input","input":{"kind":"key","action":"down","key":"g","code":"KeyG","modifiers":0}});
    viewer.send(Message::text(key.to_string())).await.unwrap();
    let (mut frames, mut bytes) = (Vec::new(), 0);
    let mut drawn = Vec::new();
    while let Ok(Some((at, on_its_way, jpeg))) =
        timeout(Duration::from_secs(3), frame(&mut viewer)).await
    {
        bytes += jpeg.len();
        drawn.push(on_its_way);
        frames.push((at, jpeg));
    }
    let told =
        site.seen().into_iter().find(|seen| seen.path == "/times").expect("the page's times");
    let times: Vec<f64> = serde_json::from_str(&told.body).unwrap();
    // Decoding takes longer than the way of a frame, so it waits until all have come.
    let frames: Vec<(f64, Option<usize>)> =
        frames.into_iter().map(|(at, jpeg)| (at, colour(&jpeg))).collect();
    let mut waits = Vec::new();
    let mut from = 0;
    for (n, time) in times.iter().enumerate() {
        let wanted = (n + 1) % COLOURS.len();
        // A frame after that shows the same colour for another change.
        let again = times.get(n + COLOURS.len()).copied().unwrap_or(f64::INFINITY);
        let fits =
            |(at, c): &(f64, Option<usize>)| *c == Some(wanted) && *at >= *time && *at < again;
        if let Some(found) = frames[from..].iter().position(fits) {
            from += found;
            waits.push(frames[from].0 - time);
        }
    }
    waits.sort_by(f64::total_cmp);
    drawn.sort_by(f64::total_cmp);
    println!(
        "{} of {} changes seen, {watching} viewers, {stalled} of them stalled, {} frames of {} bytes on average",
        waits.len(),
        times.len(),
        frames.len(),
        bytes / frames.len().max(1)
    );
    for (what, all) in [("page change to frame", &waits), ("drawn by the browser to frame", &drawn)]
    {
        let at = |part: f64| all[((all.len() - 1) as f64 * part) as usize];
        println!(
            "{what} at the viewer: median {:.1} ms, p95 {:.1} ms, most {:.1} ms",
            at(0.5),
            at(0.95),
            at(1.0)
        );
    }
    drop(held);
    live.stop().await;
    browser.close().await;
}

/// Text around a part that changes its colour, at uneven intervals of 150 to 350 ms.
fn page(changes: usize) -> String {
    let colours: Vec<String> =
        COLOURS.iter().map(|[r, g, b]| format!("'rgb({r},{g},{b})'")).collect();
    let text = "<p>The quick brown fox jumps over the lazy dog, again and again.</p>".repeat(40);
    format!(
        "<style>#c{{position:fixed;left:0;right:0;top:40%;height:20%;background:rgb(255,0,0)}}</style><div id=c></div>{text}<script>
        const colours=[{}],times=[];
        function step(){{
            if(times.length=={changes}){{setTimeout(()=>fetch('/times',{{method:'POST',body:JSON.stringify(times)}}),200);return}}
            times.push(performance.timeOrigin+performance.now());
            c.style.background=colours[times.length%colours.length];
            setTimeout(step,150+(times.length*73)%200);
        }}
        addEventListener('keydown',step,{{once:true}})</script>",
        colours.join(",")
    )
}

async fn enter(live: &Live, address: &str, mode: Mode) -> Viewer {
    let mut request = format!("ws://{address}/live").into_client_request().unwrap();
    request.headers_mut().insert("origin", format!("http://{address}").parse().unwrap());
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    let ticket = live.issue(&TicketRequest { subject: "bench".into(), name: "Bench".into(), mode });
    let first = json!({"type": "ticket", "ticket": ticket.expose()});
    socket.send(Message::text(first.to_string())).await.unwrap();
    socket
}

/// The next frame, when it had arrived in milliseconds since 1970, and how long it was on its way since the
/// browser drew it.
async fn frame(viewer: &mut Viewer) -> Option<(f64, f64, Vec<u8>)> {
    let mut drawn = f64::NAN;
    loop {
        match viewer.next().await?.ok()? {
            Message::Text(text) => {
                let said: serde_json::Value = serde_json::from_str(&text).ok()?;
                if let Some(at) = said["at"].as_str() {
                    drawn = milliseconds(humantime::parse_rfc3339(at).ok()?);
                }
            }
            Message::Binary(jpeg) => {
                let now = milliseconds(SystemTime::now());
                return Some((now, now - drawn, jpeg.to_vec()));
            }
            _ => {}
        }
    }
}

fn milliseconds(at: SystemTime) -> f64 {
    at.duration_since(UNIX_EPOCH).unwrap().as_secs_f64() * 1_000.0
}

/// Which of the colours a frame shows.
fn colour(jpeg: &[u8]) -> Option<usize> {
    let picture = image::load_from_memory(jpeg).ok()?.to_rgb8();
    let middle = picture.get_pixel(picture.width() / 2, picture.height() / 2).0;
    COLOURS.iter().position(|c| c.iter().zip(middle).all(|(a, b)| a.abs_diff(b) < 40))
}
