//! How much longer a page takes to load through the proxy of a pinned browser, told by the page's own clock.
//!
//! `cargo run --example egress_overhead -p reins-browser [LOADS]` prints medians and their ratio.
//! Two browsers load the same page of a server on this machine in turn, so that both see the same machine.

#![allow(clippy::print_stdout, reason = "it prints what it measured")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed step must stop the measurement"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use reins_browser::{Browser, Connections, Containment, LaunchOptions, ProxyAccess};
use reins_egress::{Allowance, Egress, Endpoint, Network, Policy};
use reins_testing::{Page, Site};
use std::fmt::Write as _;
use std::time::Duration;

/// Small files of the page: scripts, styles and pictures of an ordinary app.
const FILES: usize = 40;
const FILE: usize = 12 << 10;
const LONG: Duration = Duration::from_secs(60);

async fn browser(containment: Containment) -> Browser {
    let no_sandbox = nix::unistd::geteuid().is_root();
    let options =
        LaunchOptions { headless: true, no_sandbox, containment, ..LaunchOptions::default() };
    Browser::launch(options).await.unwrap()
}

fn site_pages() -> Vec<(String, Page)> {
    let mut body = String::from("<h1>An app</h1>");
    let mut pages = Vec::new();
    for number in 0..FILES {
        if number % 2 == 0 {
            write!(body, "<script src='/{number}.js'></script>").unwrap();
            let text = format!("/*{}*/", "x".repeat(FILE));
            pages.push((format!("/{number}.js"), Page::raw("text/javascript", text)));
        } else {
            write!(body, "<link rel=stylesheet href='/{number}.css'>").unwrap();
            let text = format!("/*{}*/", "x".repeat(FILE));
            pages.push((format!("/{number}.css"), Page::raw("text/css", text)));
        }
    }
    body.push_str(
        "<script>addEventListener('load',()=>setTimeout(()=>{\
         let n=performance.getEntriesByType('navigation')[0];\
         hit(location.search.slice(1)+'='+n.loadEventEnd.toFixed(2))}))</script>",
    );
    pages.push(("/".to_owned(), Page::html(&body)));
    pages
}

/// Loads the page once and gives its own measure in milliseconds.
async fn load(browser: &Browser, site: &Site, key: &str) -> f64 {
    let tab = browser.tabs()[0].clone();
    support::open(browser, &tab, &site.url(&format!("/?{key}"))).await;
    let start = format!("/hit?{key}=");
    assert!(site.wait_for(LONG, |seen| seen.path.starts_with(&start)).await, "{key} did not load");
    let seen = site.seen();
    let hit = seen.iter().find_map(|seen| seen.path.strip_prefix(&start)).unwrap();
    hit.parse().unwrap()
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

#[tokio::main]
async fn main() {
    let loads: usize = std::env::args().nth(1).map_or(40, |text| text.parse().unwrap());
    let site = Site::start([]).await.unwrap();
    for (path, page) in site_pages() {
        site.set(&path, page);
    }
    let egress = Egress::start(Network::system()).await.unwrap();
    let app = Endpoint::of(&site.url("").parse().unwrap()).unwrap();
    let policy = Policy { app: vec![app], ..Policy::default() };
    let session = egress.open(policy, Allowance::default()).unwrap();
    let login = session.login().clone();
    let direct = browser(Containment::default()).await;
    let through = browser(Containment {
        connections: Connections::Through(ProxyAccess {
            address: egress.address(),
            user: login.user,
            password: login.password,
        }),
        ..Containment::default()
    })
    .await;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for number in 0..loads + 3 {
        let a = load(&direct, &site, &format!("direct-{number}")).await;
        let b = load(&through, &site, &format!("through-{number}")).await;
        // The first loads warm both browsers up.
        if number >= 3 {
            without.push(a);
            with.push(b);
        }
    }
    let (without, with) = (median(without), median(with));
    println!(
        "page of {FILES} files, {loads} loads each: direct {without:.1} ms, through the proxy {with:.1} ms, \
         ratio {:.3}",
        with / without
    );
    println!("{:?}", session.usage());
    direct.close().await;
    through.close().await;
    egress.stop().await;
}
