//! A launched browser, its app, its proxy, and an internet of two hosts: the app's own and everyone else's.

use futures_util::future::BoxFuture;
use reins_browser::{
    Acted, Browser, CaptureRequest, Connections, Containment, LaunchOptions, ProxyAccess, TopLevel,
};
use reins_core::{Action, Gesture, Modifiers, MouseButton, TabId};
use reins_egress::{Allowance, Dialer, Egress, Endpoint, Network, OpenSession, Policy, Resolver};
use reins_page::{PublishOptions, RefRegistry, assemble};
use reins_testing::{Page, Site};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;

pub(crate) const LONG: Duration = Duration::from_secs(30);

/// All names under `example` lead to a public address, and all public addresses to the other site.
struct Internet {
    system: Network,
    other: SocketAddr,
}

impl Resolver for Internet {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let public = "93.184.216.34".parse().unwrap();
        Box::pin(async move {
            Ok(if name.ends_with(".private.example.") {
                vec![IpAddr::from([10, 0, 0, 1])]
            } else {
                vec![public]
            })
        })
    }
}

impl Dialer for Internet {
    fn dial(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        let to = if to.ip().is_loopback() { to } else { self.other };
        Box::pin(TcpStream::connect(to))
    }

    fn is_here(&self, _: IpAddr) -> bool {
        false
    }
}

/// Whether the other site may be loaded from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Other {
    /// As by default: it is on this machine, and not the app.
    Closed,
    /// As if it were a public resource, so that only the pinned navigation holds.
    Open,
}

pub(crate) struct World {
    pub(crate) browser: Browser,
    pub(crate) app: Site,
    pub(crate) other: Site,
    pub(crate) tab: TabId,
    pub(crate) session: OpenSession,
    pub(crate) egress: Egress,
}

impl World {
    pub(crate) async fn start(pages: impl Fn(&Site) -> Vec<(String, Page)>, to: Other) -> Self {
        let other = Site::start([]).await.unwrap();
        let app = Site::start([]).await.unwrap();
        for (path, page) in pages(&other) {
            app.set(&path, page);
        }
        let internet = Arc::new(Internet {
            system: Network::system(),
            other: SocketAddr::from(([127, 0, 0, 1], other.port())),
        });
        let clock = internet.system.clock.clone();
        let network = Network { resolver: internet.clone(), dialer: internet, clock };
        let egress = Egress::start(network).await.unwrap();
        let pattern: reins_core::OriginPattern = app.url("").parse().unwrap();
        let mut reached = vec![Endpoint::of(&pattern).unwrap()];
        if to == Other::Open {
            reached.push(Endpoint::of(&other.url("").parse().unwrap()).unwrap());
        }
        let policy = Policy { app: reached, ..Policy::default() };
        let session = egress.open(policy, Allowance::default()).unwrap();
        let login = session.login().clone();
        let browser = Browser::launch(LaunchOptions {
            headless: true,
            no_sandbox: nix::unistd::geteuid().is_root(),
            containment: Containment {
                top_level: TopLevel::Only(vec![pattern]),
                connections: Connections::Through(ProxyAccess {
                    address: egress.address(),
                    user: login.user,
                    password: login.password,
                }),
                ..Containment::default()
            },
            ..LaunchOptions::default()
        })
        .await
        .unwrap();
        let tab = browser.tabs()[0].id.clone();
        Self { browser, app, other, tab, session, egress }
    }

    pub(crate) async fn go(&self, path: &str) -> Acted {
        self.open(&self.app.url(path)).await
    }

    pub(crate) async fn open(&self, url: &str) -> Acted {
        let tab = self.browser.tab_info(&self.tab).unwrap();
        crate::support::open(&self.browser, &tab, url).await
    }

    /// Clicks the element with this name.
    pub(crate) async fn click(&self, name: &str) -> Acted {
        let request = CaptureRequest { budget: 200_000, full: true, known: Vec::new() };
        let read = self.browser.capture(&self.tab, &request, LONG).await.unwrap();
        let snapshot =
            assemble(self.tab.clone(), read.info.url, read.info.title, read.frames, read.notes);
        let options = PublishOptions { full: true, hard_bytes: 4 << 20, ..Default::default() };
        let mut refs = RefRegistry::default();
        let text = refs.publish(&snapshot, &options).text;
        let line = text.lines().find(|line| line.contains(&format!("\"{name}\"")));
        let line = line.unwrap_or_else(|| panic!("no {name} in:\n{text}"));
        let r = line.split_once("[ref=").unwrap().1.split_once(']').unwrap().0;
        let key = refs.lookup(r.parse().unwrap()).unwrap().key.clone();
        let target = self.browser.record(&key).await.unwrap();
        let gesture =
            Gesture::Click { button: MouseButton::Left, count: 1, modifiers: Modifiers::default() };
        let tab = self.browser.tab_info(&self.tab).unwrap();
        crate::support::act(&self.browser, &tab, Action::Pointer { target, gesture }).await
    }

    /// What reached the other site beside the controls of the test.
    pub(crate) fn leaked(&self) -> Vec<String> {
        let seen =
            self.other.seen().into_iter().map(|seen| format!("{} {}", seen.method, seen.path));
        seen.filter(|seen| !seen.contains("/hit?control")).collect()
    }

    pub(crate) async fn end(self) {
        self.browser.close().await;
        drop(self.session);
        self.egress.stop().await;
    }
}
