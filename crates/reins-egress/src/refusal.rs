//! Why a request was refused, and the list of it that people can read.

use crate::limits::{REFUSALS, SHOWN_HOST};
use crate::ranges::Range;
use std::collections::HashMap;
use std::fmt;
use std::time::SystemTime;

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// No plain host and port.
    Unreadable,
    /// A name and a password stand before the host.
    UserInfo,
    /// An IPv6 address with a zone.
    Zone,
    /// An address written in another way than browsers write it.
    NumericHost,
    /// A port that is not for the web.
    Port,
    /// Neither http nor a tunnel.
    Scheme,
    /// A name without a dot: it means a machine nearby.
    BareName,
    /// A name that is kept for this machine or network, such as `.local`.
    ReservedName,
    /// The address is not public.
    Special(Range),
    /// One of the machine's own public addresses.
    ThisMachine,
    /// The app's name led to public addresses before, and now to one that is not.
    Rebound,
    /// On the list of denied hosts.
    Denied,
    /// Only the app may be reached.
    NotTheApp,
    /// The answer had too many addresses to judge.
    TooManyAddresses,
    /// The session has moved as many bytes as it may.
    Bytes,
    /// Too many requests at once.
    Busy,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Unreadable => "its host is not readable",
            Reason::UserInfo => "a name and a password stand before its host",
            Reason::Zone => "its address names a network interface",
            Reason::NumericHost => "its host is a number that is read in several ways",
            Reason::Port => "its port is not for the web",
            Reason::Scheme => "it is neither http nor https",
            Reason::BareName => "its name has no dot and means a machine nearby",
            Reason::ReservedName => "its name is kept for this machine or network",
            Reason::Special(range) => return write!(f, "it is {}", range.words()),
            Reason::ThisMachine => "it is this machine by its public address",
            Reason::Rebound => "the app's name leads to this network now, which it did not before",
            Reason::Denied => "it is on the list of denied hosts",
            Reason::NotTheApp => "only the app may be reached",
            Reason::TooManyAddresses => "its name has more addresses than can be judged",
            Reason::Bytes => "this session has moved as many bytes as it may",
            Reason::Busy => "this session has too many requests under way",
        })
    }
}

/// Refused requests of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Host and port as they were asked for, in plain characters.
    pub host: String,
    /// Why.
    pub reason: Reason,
    /// How many.
    pub count: u64,
    /// The first of them.
    pub first: SystemTime,
    /// The last of them.
    pub last: SystemTime,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was refused: {}", self.host, self.reason)?;
        if self.count > 1 { write!(f, " ({} times)", self.count) } else { Ok(()) }
    }
}

/// What a session refused, in the order in which each kind was first seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// Each host, port and reason once.
    pub kinds: Vec<Refusal>,
    /// Requests that were refused beside these and are only counted.
    pub more: u64,
}

impl Refusals {
    /// Everything that was refused.
    pub fn total(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.count).sum::<u64>().saturating_add(self.more)
    }
}

/// The list while it grows.
#[derive(Debug, Default)]
pub(crate) struct Log {
    list: Refusals,
    places: HashMap<(String, Reason), usize>,
}

impl Log {
    /// Whether it is the first of its kind.
    pub(crate) fn note(&mut self, host: &str, reason: Reason, now: SystemTime) -> bool {
        let host = plain(host);
        if let Some(kind) =
            self.places.get(&(host.clone(), reason)).and_then(|at| self.list.kinds.get_mut(*at))
        {
            kind.count = kind.count.saturating_add(1);
            kind.last = now;
            return false;
        }
        if self.list.kinds.len() >= REFUSALS {
            self.list.more = self.list.more.saturating_add(1);
            return false;
        }
        self.places.insert((host.clone(), reason), self.list.kinds.len());
        self.list.kinds.push(Refusal { host, reason, count: 1, first: now, last: now });
        true
    }

    pub(crate) fn list(&self) -> Refusals {
        self.list.clone()
    }
}

/// Plain characters only, so that no host can draw on a terminal or end a line.
fn plain(host: &str) -> String {
    let shown = host.chars().map(|c| if c.is_ascii_graphic() { c } else { '?' });
    // Credentials in front of a host are no part of where it leads.
    let text: String = shown.take(SHOWN_HOST).collect();
    text.rsplit_once('@').map_or(text.clone(), |(_, host)| format!("…@{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn the_list_is_bounded_counts_and_shows_no_credentials() {
        let mut log = Log::default();
        assert!(log.note("10.0.0.1:80", Reason::Special(Range::Private), at(1)));
        assert!(!log.note("10.0.0.1:80", Reason::Special(Range::Private), at(9)));
        log.note("user:pass\u{1b}@evil.example:80", Reason::UserInfo, at(2));
        let list = log.list();
        assert_eq!(
            list.kinds[0].to_string(),
            "10.0.0.1:80 was refused: it is a private address (2 times)"
        );
        assert_eq!((list.kinds[0].first, list.kinds[0].last), (at(1), at(9)));
        assert!(!list.kinds[1].host.contains("pass"), "{:?}", list.kinds[1]);
        for number in 0..1_000 {
            log.note(&format!("{number}.internal:80"), Reason::ReservedName, at(3));
        }
        let list = log.list();
        assert_eq!(list.kinds.len(), REFUSALS);
        assert_eq!(list.total(), 1_003);
    }
}
