//! What pages of this browser may do, and what is kept of them, as plain data. Levels and rules are
//! decided elsewhere.

use crate::proxy::ProxyAccess;
use reins_core::OriginPattern;
use std::path::PathBuf;

/// What the pages of a browser may do.
#[derive(Clone, Debug, Default)]
pub struct Containment {
    /// What the top level of a tab may open.
    pub top_level: TopLevel,
    /// What happens to tabs that pages open.
    pub popups: Popups,
    /// Where the documents that an action touched may send to and load from.
    pub destinations: Destinations,
    /// What happens to downloads.
    pub downloads: Downloads,
    /// Directories whose files may be given to a page. Links are resolved before comparing.
    pub upload_roots: Vec<PathBuf>,
    /// What is kept of what pages log and load, for who inspects them.
    pub records: Records,
    /// Which way its connections take. For browsers that are launched; others have chosen theirs.
    pub connections: Connections,
    /// Whether pages have what sends and nothing can hold. For browsers that are launched: in others the
    /// person's own pages use it already.
    pub unheld: Unheld,
}

impl Containment {
    /// Whether the browser's own messages are kept in any case.
    pub(crate) fn keeps_log(&self) -> bool {
        self.records == Records::LogAndTraffic
    }

    /// Whether service workers run. They outlive their pages and answer in the network's place (S-150).
    pub(crate) fn refuses_service_workers(&self) -> bool {
        matches!(self.connections, Connections::Through(_))
    }
}

/// Which way the connections of a browser take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Connections {
    /// Its own.
    #[default]
    Direct,
    /// All of them through this proxy, those to this machine included; and no service workers (S-146, S-150).
    Through(ProxyAccess),
}

/// Interfaces by which pages send and which nothing can hold: calls (WebRTC) and WebTransport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unheld {
    /// Pages have them.
    #[default]
    Left,
    /// No page and no worker has them.
    Taken,
}

/// What is kept of what pages log and load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// Nothing: pages that nobody inspects cost nothing more.
    #[default]
    Nothing,
    /// Messages and requests of each tab's main document, within bounds.
    LogAndTraffic,
}

/// What the top level of a tab may open.
#[derive(Clone, Debug, Default)]
pub enum TopLevel {
    /// Any http(s) address.
    #[default]
    Any,
    /// Only these origins: everything else is stopped at the network, redirects included.
    Only(Vec<OriginPattern>),
}

/// Where the documents that an action touched may send to and load from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Destinations {
    /// Sites that the turn names or that the document knew before.
    #[default]
    Known,
    /// Any.
    Any,
}

/// What happens to tabs that pages open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Popups {
    /// They are closed before they run.
    Refuse,
    /// They open in the background and are reported.
    #[default]
    Allow,
}

/// What happens to downloads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Downloads {
    /// None.
    #[default]
    Refuse,
    /// They are saved in this directory under their own names.
    Into(PathBuf),
}
