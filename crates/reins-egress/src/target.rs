//! Where a request wants to go, read strictly: what a browser would never write is refused, not guessed at. Pure.

use crate::refusal::Reason;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A name, or an address that was written as one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    /// A name in ASCII, lower case, without the dot at its end.
    Name(String),
    /// An address.
    Address(IpAddr),
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => f.write_str(name),
            Host::Address(IpAddr::V4(address)) => address.fmt(f),
            Host::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

/// Host and port of one request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The host.
    pub host: Host,
    /// The port, never 0.
    pub port: u16,
    /// The name was written with a dot at its end: it is no app's, whose origin has none.
    pub rooted: bool,
}

/// Names end here (RFC 1035).
const NAME: usize = 253;
const LABEL: usize = 63;

impl Target {
    /// Reads `host:port`, `address:port` or `[address]:port`.
    ///
    /// # Errors
    /// The reason for which such a request is refused.
    pub fn parse(authority: &str, default_port: Option<u16>) -> Result<Self, Reason> {
        if authority.contains('@') {
            return Err(Reason::UserInfo);
        }
        if let Some(rest) = authority.strip_prefix('[') {
            let (inside, port) = rest.split_once(']').ok_or(Reason::Unreadable)?;
            if inside.contains('%') {
                return Err(Reason::Zone);
            }
            let address: Ipv6Addr = inside.parse().map_err(|_| Reason::Unreadable)?;
            let port = port_after(port, default_port)?;
            return Ok(Self { host: Host::Address(address.into()), port, rooted: false });
        }
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, parse_port(port)?),
            None => (authority, default_port.ok_or(Reason::Port)?),
        };
        let (host, rooted) = name_or_address(host)?;
        Ok(Self { host, port, rooted })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

fn port_after(text: &str, default_port: Option<u16>) -> Result<u16, Reason> {
    match text.strip_prefix(':') {
        Some(port) => parse_port(port),
        None if text.is_empty() => default_port.ok_or(Reason::Port),
        None => Err(Reason::Unreadable),
    }
}

fn parse_port(text: &str) -> Result<u16, Reason> {
    let digits = !text.is_empty() && text.len() <= 5 && text.bytes().all(|b| b.is_ascii_digit());
    match text.parse() {
        Ok(port) if digits && port != 0 => Ok(port),
        _ => Err(Reason::Port),
    }
}

fn name_or_address(text: &str) -> Result<(Host, bool), Reason> {
    let lower = text.to_ascii_lowercase();
    let (name, rooted) = match lower.strip_suffix('.') {
        Some(name) => (name, true),
        None => (lower.as_str(), false),
    };
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    let readable = name.len() <= NAME
        && name
            .split('.')
            .all(|label| !label.is_empty() && label.len() <= LABEL && label.bytes().all(plain));
    if !readable {
        return Err(Reason::Unreadable);
    }
    if ends_in_number(name) {
        // Browsers write addresses in one way only. Others (octal, hexadecimal, with fewer parts) mean different
        // addresses to different readers.
        let address: Ipv4Addr = name.parse().map_err(|_| Reason::NumericHost)?;
        return if rooted {
            Err(Reason::NumericHost)
        } else {
            Ok((Host::Address(address.into()), false))
        };
    }
    Ok((Host::Name(name.to_owned()), rooted))
}

/// As the URL standard has it: the last label is a number, decimal or hexadecimal.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let hex =
        last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_hexdigit()));
    hex || last.bytes().all(|b| b.is_ascii_digit())
}

impl FromStr for Host {
    type Err = Reason;

    /// Reads a host as it stands in an origin, with brackets around an IPv6 address.
    fn from_str(text: &str) -> Result<Self, Reason> {
        Target::parse(text, Some(80)).map(|target| target.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S-X11: what is no plain host is refused before anything is looked up.
    #[test]
    fn s_x11_only_plain_hosts_are_read() {
        for (text, reason) in [
            ("user@app.example:80", Reason::UserInfo),
            ("user:pw@app.example:80", Reason::UserInfo),
            ("[fe80::1%25eth0]:80", Reason::Zone),
            ("[fe80::1%eth0]:80", Reason::Zone),
            ("[::1", Reason::Unreadable),
            ("[::1]x:80", Reason::Unreadable),
            ("[127.0.0.1]:80", Reason::Unreadable),
            ("[v1.x]:80", Reason::Unreadable),
            ("::1:80", Reason::Port),
            ("app.example:", Reason::Port),
            ("app.example:0", Reason::Port),
            ("app.example:65536", Reason::Port),
            ("app.example:000080", Reason::Port),
            ("app.example:+80", Reason::Port),
            ("app.example:8 0", Reason::Port),
            ("127.1:80", Reason::NumericHost),
            ("2130706433:80", Reason::NumericHost),
            ("0x7f000001:80", Reason::NumericHost),
            ("0x7f.1:80", Reason::NumericHost),
            ("0177.0.0.1:80", Reason::NumericHost),
            ("127.0.0.0x1:80", Reason::NumericHost),
            ("127.000.000.001:80", Reason::NumericHost),
            ("127.0.0.1.:80", Reason::NumericHost),
            ("1.2.3.4.5:80", Reason::NumericHost),
            ("256.1.1.1:80", Reason::NumericHost),
            ("foo.0x:80", Reason::NumericHost),
            ("a..b:80", Reason::Unreadable),
            (".a.b:80", Reason::Unreadable),
            ("a.b..:80", Reason::Unreadable),
            (".:80", Reason::Unreadable),
            (":80", Reason::Unreadable),
            ("a%2eb:80", Reason::Unreadable),
            ("a\\b:80", Reason::Unreadable),
            ("a b:80", Reason::Unreadable),
            ("127.0.0.1\u{3002}:80", Reason::Unreadable),
            ("１２７.0.0.1:80", Reason::Unreadable),
        ] {
            assert_eq!(Target::parse(text, None), Err(reason), "{text}");
        }
        let long = format!("{}.example:80", "a".repeat(64));
        assert_eq!(Target::parse(&long, None), Err(Reason::Unreadable));
        for (text, shown, rooted) in [
            ("App.Example:443", "app.example:443", false),
            ("app.example.:443", "app.example:443", true),
            ("xn--bcher-kva.example:80", "xn--bcher-kva.example:80", false),
            ("under_score.example:80", "under_score.example:80", false),
            ("8.8.8.8:53", "8.8.8.8:53", false),
            ("[2606:4700:0::1]:443", "[2606:4700::1]:443", false),
            ("dead.beef:80", "dead.beef:80", false),
            ("1.2.3.4a:80", "1.2.3.4a:80", false),
        ] {
            let target = Target::parse(text, None).expect(text);
            assert_eq!((target.to_string().as_str(), target.rooted), (shown, rooted), "{text}");
        }
        assert_eq!(Target::parse("app.example", Some(80)).map(|t| t.port), Ok(80));
        assert_eq!(Target::parse("[::1]", Some(80)).map(|t| t.port), Ok(80));
    }
}
