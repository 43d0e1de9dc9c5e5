//! Prints what recording costs, as ratios of medians in one run on one machine, and what a busy page takes on
//! the disk in an hour, extrapolated. Arguments: how many rounds, how many seconds of the busy page, and a
//! directory of pages whose replays are compared with what they showed.
//!
//! Two browsers take turns, one of them recorded; each load waits for the recorder's picture of the page
//! before, as a session that acts once in a while does. A load is told by the page's own clock, from its start to the end
//! of its load event. A click is the whole act, its settling included.

#![allow(clippy::print_stdout, reason = "this is what it is for")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a measurement that fails must stop")]
#![allow(unused_imports, dead_code, reason = "the tests use more of what is shared")]

#[path = "../tests/recording/bench_pages.rs"]
mod bench_pages;
#[path = "../tests/recording/replay.rs"]
mod replay;
#[path = "../tests/real/support.rs"]
mod support;
#[path = "../tests/recording/tape.rs"]
mod tape;

use reins_record::{Library, RecordingStatus};
use std::time::{Duration, Instant};
use support::{Page, World, click, done};
use tape::Tape;

const LOAD: &str = "performance.getEntriesByType('navigation')[0].duration";

/// A page that changes ten times a second, as a dashboard with live figures does.
const BUSY: &str = "<h1>Busy</h1><table id=t></table><script>let n=0;\
    for(let r=0;r<40;r++){const row=t.insertRow();for(let c=0;c<6;c++)row.insertCell().textContent='cell '+r+' '+c}\
    setInterval(()=>{n++;for(let i=0;i<8;i++){const row=t.rows[(n*7+i*5)%40];row.cells[(n+i)%6].textContent=(Math.random()*1e6|0)+' units';\
    row.style.background='hsl('+(n*3%360)+',50%,90%)'}if(n%20==0){t.rows[0].remove();const row=t.insertRow();for(let c=0;c<6;c++)row.insertCell().textContent='new '+n}},100)</script>";

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let rounds: usize = args.next().and_then(|n| n.parse().ok()).unwrap_or(15);
    let seconds: u64 = args.next().and_then(|n| n.parse().ok()).unwrap_or(120);
    cost(rounds).await;
    size(Duration::from_secs(seconds)).await;
    if let Some(dir) = args.next() {
        compare(dir.as_ref()).await;
    }
}

async fn cost(rounds: usize) {
    let plain = World::start(bench_pages::all()).await;
    let recorded = World::start(bench_pages::all()).await;
    let mut tape = Tape::start(&recorded);
    for path in ["/trivial", "/form", "/table", "/links"] {
        let mut loads = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            done(&plain.go(path).await);
            loads[0].push(plain.eval(LOAD).await.as_f64().unwrap());
            done(&recorded.go(path).await);
            loads[1].push(recorded.eval(LOAD).await.as_f64().unwrap());
            tape.until("a picture", |kind| match kind {
                reins_browser::RecordedKind::Dom { data, .. } => {
                    data.get().starts_with("{\"type\":2")
                }
                _ => false,
            })
            .await;
        }
        let (off, on) = (median(&mut loads[0]), median(&mut loads[1]));
        println!("load of {path}: {off:.1} ms, recorded {on:.1} ms, ratio {:.3}", on / off);
    }
    let mut clicks = [Vec::new(), Vec::new()];
    for world in [&plain, &recorded] {
        done(&world.go("/spa").await);
    }
    for _ in 0..rounds {
        for (world, times) in [&plain, &recorded].into_iter().zip(&mut clicks) {
            let target = world.record("Add").await;
            let began = Instant::now();
            done(&world.act(click(target)).await);
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        tape.for_a_while(Duration::ZERO).await;
    }
    let (off, on) = (median(&mut clicks[0]), median(&mut clicks[1]));
    println!("click: {off:.1} ms, recorded {on:.1} ms, ratio {:.3}", on / off);
}

async fn size(time: Duration) {
    let world = World::start([("/", Page::html(BUSY))]).await;
    let mut tape = Tape::start(&world);
    done(&world.go("/").await);
    tape.for_a_while(time).await;
    tape.recorder.settle();
    let recording = Library::open(tape.dir.path()).get(&tape::id()).unwrap();
    assert_eq!(recording.status, RecordingStatus::Recording);
    let raw: usize = tape.text().len();
    let hour = recording.bytes as f64 * 3600.0 / time.as_secs_f64() / 1e6;
    println!(
        "busy page: {} events, {} bytes on the disk of about {raw} in {} s; {hour:.1} MB in an hour, extrapolated",
        recording.events,
        recording.bytes,
        time.as_secs()
    );
}

/// Compares what each page of a directory shows with what the replay of its recording shows.
async fn compare(dir: &std::path::Path) {
    let world = World::start([]).await;
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let kind = match path.extension().and_then(|kind| kind.to_str()) {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript",
            Some("svg") => "image/svg+xml",
            _ => continue,
        };
        world
            .site
            .set(&format!("/{name}"), Page::raw(kind, std::fs::read_to_string(&path).unwrap()));
        if kind.starts_with("text/html") {
            names.push(name);
        }
    }
    names.sort();
    // Pages that stop all script until a dialog is answered.
    names.retain(|name| !["alert_on_load.html", "beforeunload.html"].contains(&name.as_str()));
    for name in names {
        let mut tape = Tape::start(&world);
        done(&world.go(&format!("/{name}")).await);
        tape.for_a_while(Duration::from_secs(2)).await;
        // What goes on changing by itself stands still from here on.
        world.eval("for(let n=setTimeout(()=>0);n>0;n--){clearTimeout(n);clearInterval(n)};document.body.insertAdjacentHTML('beforeend','<i>THE-END</i>');0").await;
        tape.until_text("THE-END").await;
        let wanted = replay::text(&world).await;
        let got = replay::shown(&world, tape.export(), &replay::same(&wanted)).await;
        println!(
            "{name}: {} of {} characters, {}",
            got.len(),
            wanted.len(),
            if got == wanted { "identical" } else { "DIFFERENT" }
        );
    }
}
