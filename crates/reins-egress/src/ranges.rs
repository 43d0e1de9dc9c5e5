//! Which addresses are public, after the registries of special-purpose addresses. Pure.

use ipnet::{Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Range {
    /// This machine by its loopback address.
    Loopback,
    /// "This network" and "no address": connecting to it reaches this machine.
    Unspecified,
    /// A private network.
    Private,
    /// The network between a provider and its customers (100.64/10).
    Carrier,
    /// The own link, with the usual address of cloud metadata.
    LinkLocal,
    /// A metadata service of a cloud at an address that looks like another kind.
    Metadata,
    /// Kept for protocols, tests, examples or measuring.
    Reserved,
    /// Many receivers at once.
    Multicast,
    /// An address inside another address (NAT64, 6to4, Teredo, ISATAP) that is not public itself.
    Wrapped,
}

impl Range {
    /// In words that fit "it is …".
    pub fn words(self) -> &'static str {
        match self {
            Range::Loopback => "an address of this machine",
            Range::Unspecified => "no address, which reaches this machine",
            Range::Private => "a private address",
            Range::Carrier => "an address inside a provider's network",
            Range::LinkLocal => "an address of the own link",
            Range::Metadata => "a cloud's metadata service",
            Range::Reserved => "a reserved address",
            Range::Multicast => "a multicast address",
            Range::Wrapped => "an address that wraps one that is not public",
        }
    }

    /// Whether a name that stands for an app may not lead here either: nothing is served there that a person would
    /// call their app, and much that they would not.
    pub(crate) fn is_never_an_app(self) -> bool {
        match self {
            Range::Unspecified
            | Range::LinkLocal
            | Range::Metadata
            | Range::Multicast
            | Range::Wrapped => true,
            Range::Loopback | Range::Private | Range::Carrier | Range::Reserved => false,
        }
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

/// The first that fits counts.
const V4: &[(Ipv4Net, Range)] = &[
    (v4(0, 0, 0, 0, 8), Range::Unspecified),
    (v4(10, 0, 0, 0, 8), Range::Private),
    (v4(100, 100, 100, 200, 32), Range::Metadata),
    (v4(100, 64, 0, 0, 10), Range::Carrier),
    (v4(127, 0, 0, 0, 8), Range::Loopback),
    (v4(169, 254, 0, 0, 16), Range::LinkLocal),
    (v4(168, 63, 129, 16, 32), Range::Metadata),
    (v4(172, 16, 0, 0, 12), Range::Private),
    (v4(192, 0, 0, 192, 32), Range::Metadata),
    (v4(192, 0, 0, 0, 24), Range::Reserved),
    (v4(192, 0, 2, 0, 24), Range::Reserved),
    (v4(192, 88, 99, 0, 24), Range::Reserved),
    (v4(192, 168, 0, 0, 16), Range::Private),
    (v4(198, 18, 0, 0, 15), Range::Reserved),
    (v4(198, 51, 100, 0, 24), Range::Reserved),
    (v4(203, 0, 113, 0, 24), Range::Reserved),
    (v4(224, 0, 0, 0, 4), Range::Multicast),
    (v4(240, 0, 0, 0, 4), Range::Reserved),
];

const fn v6(segments: [u16; 8], prefix: u8) -> Ipv6Net {
    let [a, b, c, d, e, f, g, h] = segments;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix)
}

/// The first that fits counts; outside `2000::/3` everything else is reserved.
const V6: &[(Ipv6Net, Range)] = &[
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), Range::Unspecified),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), Range::Loopback),
    // The local use of NAT64: where it leads only the own network knows.
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), Range::Wrapped),
    (v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128), Range::Metadata),
    (v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128), Range::Metadata),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), Range::Private),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), Range::LinkLocal),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), Range::Private),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), Range::Multicast),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), Range::Reserved),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), Range::Reserved),
];

const GLOBAL: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);
/// Protocols' own assignments, but for what is named in [`GLOBAL_PROTOCOLS`].
const PROTOCOLS: Ipv6Net = v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23);
const NAT64: Ipv6Net = v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96);
const SIX_TO_FOUR: Ipv6Net = v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16);
const TEREDO: Ipv6Net = v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32);

/// Anycast of three protocols (2001:1::1 to ::3), AMT and AS112: reachable by anyone, as the registry says.
const GLOBAL_PROTOCOLS: &[Ipv6Net] = &[
    v6([0x2001, 1, 0, 0, 0, 0, 0, 1], 128),
    v6([0x2001, 1, 0, 0, 0, 0, 0, 2], 128),
    v6([0x2001, 1, 0, 0, 0, 0, 0, 3], 128),
    v6([0x2001, 3, 0, 0, 0, 0, 0, 0], 32),
    v6([0x2001, 4, 0x112, 0, 0, 0, 0, 0], 48),
    v6([0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28),
    v6([0x2001, 0x30, 0, 0, 0, 0, 0, 0], 28),
];

/// `None`: anyone may reach it. What wraps an IPv4 address is judged by that too (S-X11).
pub fn special(address: IpAddr) -> Option<Range> {
    match address.to_canonical() {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<Range> {
    V4.iter().find(|(net, _)| net.contains(&address)).map(|(_, range)| *range)
}

fn special_v6(address: Ipv6Addr) -> Option<Range> {
    if let Some((_, range)) = V6.iter().find(|(net, _)| net.contains(&address)) {
        return Some(*range);
    }
    let segments = address.segments();
    let wrapped = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        special_v4(Ipv4Addr::new(a, b, c, d)).map(|_| Range::Wrapped)
    };
    if NAT64.contains(&address) {
        return wrapped(segments[6], segments[7]);
    }
    if !GLOBAL.contains(&address) {
        return Some(Range::Reserved);
    }
    if SIX_TO_FOUR.contains(&address) {
        return wrapped(segments[1], segments[2]);
    }
    if TEREDO.contains(&address) {
        // The server, and the client with all its bits turned over.
        return wrapped(segments[2], segments[3]).or_else(|| wrapped(!segments[6], !segments[7]));
    }
    if PROTOCOLS.contains(&address) && !GLOBAL_PROTOCOLS.iter().any(|net| net.contains(&address)) {
        return Some(Range::Reserved);
    }
    // ISATAP hides an IPv4 address behind any prefix.
    if segments[4] & 0xfdff == 0 && segments[5] == 0x5efe {
        return wrapped(segments[6], segments[7]);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S-X11: every special range, its first and last address, and the addresses beside it.
    #[test]
    fn s_x11_the_ends_of_every_range_and_what_lies_beside_them() {
        for (address, range) in [
            ("0.0.0.0", Some(Range::Unspecified)),
            ("0.255.255.255", Some(Range::Unspecified)),
            ("1.0.0.0", None),
            ("9.255.255.255", None),
            ("10.0.0.0", Some(Range::Private)),
            ("10.255.255.255", Some(Range::Private)),
            ("11.0.0.0", None),
            ("100.63.255.255", None),
            ("100.64.0.0", Some(Range::Carrier)),
            ("100.127.255.255", Some(Range::Carrier)),
            ("100.100.100.200", Some(Range::Metadata)),
            ("100.128.0.0", None),
            ("126.255.255.255", None),
            ("127.0.0.1", Some(Range::Loopback)),
            ("127.255.255.255", Some(Range::Loopback)),
            ("128.0.0.0", None),
            ("168.63.129.16", Some(Range::Metadata)),
            ("168.63.129.17", None),
            ("169.253.255.255", None),
            ("169.254.169.254", Some(Range::LinkLocal)),
            ("169.255.0.0", None),
            ("172.15.255.255", None),
            ("172.16.0.0", Some(Range::Private)),
            ("172.31.255.255", Some(Range::Private)),
            ("172.32.0.0", None),
            ("192.0.0.192", Some(Range::Metadata)),
            ("192.0.0.9", Some(Range::Reserved)),
            ("192.0.2.1", Some(Range::Reserved)),
            ("192.31.196.1", None),
            ("192.88.99.1", Some(Range::Reserved)),
            ("192.167.255.255", None),
            ("192.168.0.0", Some(Range::Private)),
            ("192.169.0.0", None),
            ("198.17.255.255", None),
            ("198.18.0.0", Some(Range::Reserved)),
            ("198.19.255.255", Some(Range::Reserved)),
            ("198.20.0.0", None),
            ("198.51.100.7", Some(Range::Reserved)),
            ("203.0.113.7", Some(Range::Reserved)),
            ("223.255.255.255", None),
            ("224.0.0.1", Some(Range::Multicast)),
            ("239.255.255.255", Some(Range::Multicast)),
            ("240.0.0.1", Some(Range::Reserved)),
            ("255.255.255.255", Some(Range::Reserved)),
            ("::", Some(Range::Unspecified)),
            ("::1", Some(Range::Loopback)),
            ("::2", Some(Range::Reserved)),
            ("::127.0.0.1", Some(Range::Reserved)),
            ("::ffff:127.0.0.1", Some(Range::Loopback)),
            ("::ffff:8.8.8.8", None),
            ("::ffff:0:10.0.0.1", Some(Range::Reserved)),
            ("64:ff9b::8.8.8.8", None),
            ("64:ff9b::10.0.0.1", Some(Range::Wrapped)),
            ("64:ff9b:1::8.8.8.8", Some(Range::Wrapped)),
            ("100::1", Some(Range::Reserved)),
            ("2001::", Some(Range::Wrapped)),
            ("2001:0:4136:e378:8000:63bf:f7f7:f7f7", None),
            ("2001:0:a00:1:8000:63bf:f7f7:f7f7", Some(Range::Wrapped)),
            ("2001:0:4136:e378:8000:63bf:80ff:fffe", Some(Range::Wrapped)),
            ("2001:1::1", None),
            ("2001:1::4", Some(Range::Reserved)),
            ("2001:2::1", Some(Range::Reserved)),
            ("2001:10::1", Some(Range::Reserved)),
            ("2001:200::1", None),
            ("2001:db8::1", Some(Range::Reserved)),
            ("2001:4860:4860::8888", None),
            ("2002:808:808::1", None),
            ("2002:a00:1::1", Some(Range::Wrapped)),
            ("2002:7f00:1::", Some(Range::Wrapped)),
            ("2606:4700::5efe:a00:1", Some(Range::Wrapped)),
            ("2606:4700::200:5efe:a00:1", Some(Range::Wrapped)),
            ("2606:4700:0:0:0:5efe:808:808", None),
            ("3fff::1", Some(Range::Reserved)),
            ("4000::1", Some(Range::Reserved)),
            ("5f00::1", Some(Range::Reserved)),
            ("fc00::1", Some(Range::Private)),
            ("fd00:ec2::254", Some(Range::Metadata)),
            ("fdff::1", Some(Range::Private)),
            ("fe80::1", Some(Range::LinkLocal)),
            ("fec0::1", Some(Range::Private)),
            ("ff02::1", Some(Range::Multicast)),
        ] {
            let parsed: IpAddr = address.parse().expect(address);
            assert_eq!(special(parsed), range, "{address}");
        }
    }
}
