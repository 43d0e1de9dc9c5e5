//! What a session may reach, as data, and the verdicts on names and addresses. Pure.

use crate::ranges::{Range, special};
use crate::refusal::Reason;
use crate::target::{Host, Target};
use ipnet::IpNet;
use reins_core::{Origin, OriginPattern};
use std::net::IpAddr;
use std::str::FromStr;
use thiserror::Error;

/// A host at one port or at any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The host.
    pub host: Host,
    /// The port; `None` means any.
    pub port: Option<u16>,
}

impl Endpoint {
    /// The host and port of an app's origin. `None` if its host is none that is ever dialled.
    pub fn of(pattern: &OriginPattern) -> Option<Self> {
        Some(Self { host: pattern.host().parse().ok()?, port: pattern.port() })
    }

    fn is(&self, target: &Target) -> bool {
        !target.rooted
            && self.host == target.host
            && self.port.is_none_or(|port| port == target.port)
    }
}

/// Hosts that are never reached, whatever else is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deny {
    /// This name and all names under it.
    Name(String),
    /// Addresses, also where a name leads to them.
    Net(IpNet),
}

impl FromStr for Deny {
    type Err = DenyError;

    /// Reads a host name, an address, or a range of addresses such as `10.0.0.0/8`.
    fn from_str(text: &str) -> Result<Self, DenyError> {
        let bare = text.trim_start_matches('[').trim_end_matches(']');
        if let Ok(net) = bare.parse() {
            return Ok(Self::Net(net));
        }
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Ok(Self::Net(address.to_canonical().into()));
        }
        // Punycode, lower case and no dot at the end: the form in which hosts are asked for.
        let name = text.trim_start_matches("*.");
        // A port would be dropped unseen.
        if name.contains(':') {
            return Err(DenyError { text: text.to_owned(), reason: Reason::Port });
        }
        let origin = (!name.is_ascii()).then(|| Origin::parse(&format!("http://{name}")).ok());
        let name = origin.flatten().map_or(name.to_owned(), |origin| origin.host().to_owned());
        match name.parse() {
            Ok(Host::Name(name)) => Ok(Self::Name(name)),
            Ok(Host::Address(address)) => Ok(Self::Net(address.into())),
            Err(reason) => Err(DenyError { text: text.to_owned(), reason }),
        }
    }
}

/// Neither a host, nor an address, nor a range of addresses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "'{text}' is no host name, address or range of addresses ({reason}); write ads.example, 8.8.8.8 or 10.0.0.0/8"
)]
pub struct DenyError {
    text: String,
    reason: Reason,
}

/// Whether public resources load beside the app (S-151).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Public {
    /// Fonts and scripts from anywhere.
    #[default]
    Allow,
    /// Nothing but the app.
    Refuse,
}

/// What a session may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The app: the one exemption from the rules on private addresses and odd ports (S-148).
    pub app: Vec<Endpoint>,
    /// Everything else.
    pub public: Public,
    /// Never reached, the app included.
    pub deny: Vec<Deny>,
}

/// What a target is, before it is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    App,
    Public,
}

/// Names that mean this machine, its network or a cloud's inside, whatever they resolve to. Where any other name
/// leads, its addresses tell.
const RESERVED: &[&str] =
    &["localhost", "local", "internal", "home.arpa", "onion", "alt", "invalid"];

/// The last port of the range that only system services listen on.
const SYSTEM_PORTS: u16 = 1023;

/// Above the system's ports, those that the Fetch standard blocks: mail, chat and telephony.
const BAD_PORTS: &[u16] = &[
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
    6679, 6697, 10080,
];

impl Policy {
    /// The verdict on what was asked for, before any name is looked up.
    pub(crate) fn before(&self, target: &Target) -> Result<Standing, Reason> {
        if self.denies_name(&target.host) {
            return Err(Reason::Denied);
        }
        if self.app.iter().any(|app| app.is(target)) {
            return Ok(Standing::App);
        }
        if let Host::Name(name) = &target.host {
            if under_any(name, RESERVED) {
                return Err(Reason::ReservedName);
            }
            if !name.contains('.') {
                return Err(Reason::BareName);
            }
        }
        if let Host::Address(address) = target.host
            && let Some(range) = special(address)
        {
            return Err(Reason::Special(range));
        }
        if self.public == Public::Refuse {
            return Err(Reason::NotTheApp);
        }
        let system = target.port <= SYSTEM_PORTS && !matches!(target.port, 80 | 443);
        if system || BAD_PORTS.contains(&target.port) {
            return Err(Reason::Port);
        }
        Ok(Standing::Public)
    }

    /// The verdict on one address. `named`: a name led to it. `settled`: this app's name has only led to public
    /// addresses so far.
    pub(crate) fn address(
        &self,
        standing: Standing,
        address: IpAddr,
        named: bool,
        settled: bool,
    ) -> Result<(), Reason> {
        let address = address.to_canonical();
        let denied = |deny: &Deny| matches!(deny, Deny::Net(net) if net.contains(&address));
        if self.deny.iter().any(denied) {
            return Err(Reason::Denied);
        }
        let Some(range) = special(address) else { return Ok(()) };
        match standing {
            Standing::Public => Err(Reason::Special(range)),
            // The person wrote this very address.
            Standing::App if !named => Ok(()),
            Standing::App if settled => Err(Reason::Rebound),
            Standing::App if Range::is_never_an_app(range) => Err(Reason::Special(range)),
            Standing::App => Ok(()),
        }
    }

    fn denies_name(&self, host: &Host) -> bool {
        let Host::Name(name) = host else { return false };
        self.deny.iter().any(|deny| matches!(deny, Deny::Name(denied) if is_under(name, denied)))
    }
}

/// Whether a name always means this machine (RFC 6761): no resolver is asked.
pub(crate) fn is_localhost(name: &str) -> bool {
    is_under(name, "localhost")
}

fn under_any(name: &str, zones: &[&str]) -> bool {
    zones.iter().any(|zone| is_under(name, zone))
}

fn is_under(name: &str, zone: &str) -> bool {
    name.strip_suffix(zone).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(app: &str) -> Policy {
        let app: OriginPattern = app.parse().unwrap();
        Policy { app: vec![Endpoint::of(&app).unwrap()], ..Policy::default() }
    }

    fn before(policy: &Policy, text: &str) -> Result<Standing, Reason> {
        policy.before(&Target::parse(text, None).unwrap())
    }

    /// S-148: one exemption, host and port of the app.
    #[test]
    fn s148_the_exemption_is_exactly_the_apps_host_and_port() {
        let one = policy("http://127.0.0.1:3000");
        assert_eq!(before(&one, "127.0.0.1:3000"), Ok(Standing::App));
        for other in ["127.0.0.1:3001", "127.0.0.2:3000", "[::1]:3000", "[::ffff:127.0.0.1]:3000"] {
            assert_eq!(before(&one, other), Err(Reason::Special(Range::Loopback)), "{other}");
        }
        assert_eq!(before(&one, "localhost:3000"), Err(Reason::ReservedName));
        let any = policy("http://localhost:*");
        assert_eq!(before(&any, "localhost:9"), Ok(Standing::App));
        assert_eq!(before(&any, "localhost.:9"), Err(Reason::ReservedName));
        assert_eq!(before(&any, "a.localhost:9"), Err(Reason::ReservedName));
        let named = policy("https://App.Example");
        assert_eq!(before(&named, "app.example:443"), Ok(Standing::App));
        assert_eq!(before(&named, "app.example:444"), Err(Reason::Port));
        assert_eq!(before(&named, "app.example:8443"), Ok(Standing::Public));
        assert_eq!(policy("http://[::1]:8080").app[0].host, Host::Address("::1".parse().unwrap()));
    }

    /// S-X11: names that are refused before they are looked up, and ports.
    #[test]
    fn s_x11_reserved_and_bare_names_and_odd_ports() {
        let policy = policy("https://app.example");
        for (text, reason) in [
            ("printer:80", Reason::BareName),
            ("printer.local:80", Reason::ReservedName),
            ("printer.local.:80", Reason::ReservedName),
            ("metadata.google.internal:80", Reason::ReservedName),
            ("internal:80", Reason::ReservedName),
            ("x.localhost:80", Reason::ReservedName),
            ("router.home.arpa:80", Reason::ReservedName),
            ("site.onion:80", Reason::ReservedName),
            ("cdn.example:22", Reason::Port),
            ("cdn.example:25", Reason::Port),
            ("cdn.example:6667", Reason::Port),
            ("cdn.example:853", Reason::Port),
        ] {
            assert_eq!(before(&policy, text), Err(reason), "{text}");
        }
        for text in [
            "cdn.example:80",
            "cdn.example:443",
            "cdn.example:8443",
            "mylocal.example:80",
            "notinternal.net:80",
        ] {
            assert_eq!(before(&policy, text), Ok(Standing::Public), "{text}");
        }
    }

    #[test]
    fn denied_hosts_stay_denied_and_nothing_but_the_app_can_be_asked_for() {
        let mut policy = policy("http://app.example");
        policy.deny =
            vec![Deny::Name("ads.example".into()), Deny::Net("8.8.0.0/16".parse().unwrap())];
        assert_eq!(before(&policy, "a.ads.example:443"), Err(Reason::Denied));
        assert_eq!(before(&policy, "nads.example:443"), Ok(Standing::Public));
        let google: IpAddr = "::ffff:8.8.8.8".parse().unwrap();
        assert_eq!(policy.address(Standing::Public, google, true, false), Err(Reason::Denied));
        policy.public = Public::Refuse;
        assert_eq!(before(&policy, "cdn.example:443"), Err(Reason::NotTheApp));
        assert_eq!(before(&policy, "app.example:80"), Ok(Standing::App));
    }

    #[test]
    fn what_is_denied_is_read_as_names_addresses_and_ranges() {
        for (text, denied) in [
            ("ADS.example", Deny::Name("ads.example".into())),
            ("*.ads.example", Deny::Name("ads.example".into())),
            ("bücher.example", Deny::Name("xn--bcher-kva.example".into())),
            ("8.8.8.8", Deny::Net("8.8.8.8/32".parse().unwrap())),
            ("[2606:4700::1]", Deny::Net("2606:4700::1/128".parse().unwrap())),
            ("10.0.0.0/8", Deny::Net("10.0.0.0/8".parse().unwrap())),
        ] {
            assert_eq!(text.parse(), Ok(denied), "{text}");
        }
        for text in ["", "a b", "http://ads.example", "ads.example:80", "0x7f.1", "10.0.0.0/99"] {
            let error = text.parse::<Deny>().expect_err(text);
            assert!(error.to_string().contains("10.0.0.0/8"), "{error}");
        }
    }

    #[test]
    fn a_name_of_the_app_may_be_private_but_never_the_metadata_service() {
        let policy = policy("http://app.example");
        let verdict = |address: &str, settled| {
            policy.address(Standing::App, address.parse().unwrap(), true, settled)
        };
        assert_eq!(verdict("10.0.0.7", false), Ok(()));
        assert_eq!(verdict("10.0.0.7", true), Err(Reason::Rebound));
        assert_eq!(verdict("169.254.169.254", false), Err(Reason::Special(Range::LinkLocal)));
        assert_eq!(verdict("0.0.0.0", false), Err(Reason::Special(Range::Unspecified)));
    }
}
