//! The attacks on the proxy, and what must go on to work (S-146 … S-151, S-X11). The same list is run over a scripted
//! network and over one of namespaces.

use super::zone::Zone;
use super::{Counted, Line, Scripted, TestClock};
use reins_egress::{Egress, Network, Policy};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The machine's own public address in this network.
pub(crate) const OWN: &str = "185.199.1.1";

/// One thing that is done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Do {
    /// A tunnel to this authority is refused.
    Tunnel(&'static str),
    /// A request for this address is refused.
    Get(&'static str),
    /// A tunnel to the authority ends at one of these addresses.
    TunnelTo(&'static str, &'static [&'static str]),
    /// A request for the address ends at one of these.
    GetTo(&'static str, &'static [&'static str]),
    /// Nothing is there, which is no refusal.
    Missing(&'static str),
    /// A minute goes by, and the names change their answers.
    Minute,
    /// The names change their answers at once.
    Change,
}

/// One case.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The app of its session.
    pub(crate) app: &'static str,
    /// Names and answers, see [`Zone::new`].
    pub(crate) zone: &'static [(&'static str, &'static str)],
    pub(crate) steps: &'static [Do],
}

const APP: &str = "http://app.example:3000";

const fn refused(name: &'static str, steps: &'static [Do]) -> Case {
    Case { name, app: APP, zone: &[], steps }
}

const fn named(
    name: &'static str,
    zone: &'static [(&'static str, &'static str)],
    steps: &'static [Do],
) -> Case {
    Case { name, app: APP, zone, steps }
}

use Do::{Change, Get, GetTo, Minute, Missing, Tunnel, TunnelTo};

/// Attacks: none of their addresses may be connected to.
pub(crate) const ATTACKS: &[Case] = &[
    refused("loopback", &[Tunnel("127.0.0.1:80"), Get("http://127.0.0.1/")]),
    refused("loopback, another of its addresses", &[Tunnel("127.8.8.8:80")]),
    refused("loopback, IPv6", &[Tunnel("[::1]:80"), Get("http://[::1]/")]),
    refused("no address", &[Tunnel("0.0.0.0:80"), Get("http://0.0.0.0/")]),
    refused("this network", &[Tunnel("0.1.2.3:80")]),
    refused("no address, IPv6", &[Tunnel("[::]:80")]),
    refused("private, 10", &[Tunnel("10.0.0.1:443"), Get("http://10.0.0.1/")]),
    refused("private, 172.16", &[Tunnel("172.16.0.1:443")]),
    refused("private, 172.31", &[Tunnel("172.31.255.254:443")]),
    refused("private, 192.168", &[Tunnel("192.168.1.1:443"), Get("http://192.168.1.1/")]),
    refused("a provider's network", &[Tunnel("100.64.0.1:443")]),
    refused("metadata", &[Tunnel("169.254.169.254:80"), Get("http://169.254.169.254/latest/")]),
    refused(
        "metadata of another cloud",
        &[Tunnel("168.63.129.16:80"), Tunnel("100.100.100.200:80")],
    ),
    refused("metadata, IPv6", &[Tunnel("[fd00:ec2::254]:80")]),
    refused("protocol assignments", &[Tunnel("192.0.0.192:80"), Tunnel("192.0.0.1:80")]),
    refused(
        "examples",
        &[Tunnel("192.0.2.1:80"), Tunnel("198.51.100.1:80"), Tunnel("203.0.113.1:80")],
    ),
    refused("measuring", &[Tunnel("198.18.0.1:80"), Tunnel("198.19.255.1:80")]),
    refused("6to4 relays", &[Tunnel("192.88.99.1:80")]),
    refused("multicast", &[Tunnel("224.0.0.251:80"), Tunnel("239.255.255.250:80")]),
    refused("the last block", &[Tunnel("240.0.0.1:80"), Tunnel("255.255.255.255:80")]),
    refused("mapped", &[Tunnel("[::ffff:127.0.0.1]:80"), Get("http://[::ffff:7f00:1]/")]),
    refused("mapped private", &[Tunnel("[::ffff:10.0.0.1]:80")]),
    refused("compatible", &[Tunnel("[::127.0.0.1]:80"), Tunnel("[::10.0.0.1]:80")]),
    refused("translated", &[Tunnel("[::ffff:0:10.0.0.1]:80")]),
    refused("NAT64", &[Tunnel("[64:ff9b::10.0.0.1]:80"), Tunnel("[64:ff9b::7f00:1]:80")]),
    refused("NAT64 for local use", &[Tunnel("[64:ff9b:1::8.8.8.8]:80")]),
    refused("6to4", &[Tunnel("[2002:7f00:1::]:80"), Tunnel("[2002:a00:1::1]:80")]),
    refused("Teredo, its server", &[Tunnel("[2001:0:a00:1:8000:63bf:f7f7:f7f7]:80")]),
    refused("Teredo, its client", &[Tunnel("[2001:0:4136:e378:8000:63bf:80ff:fffe]:80")]),
    refused("ISATAP", &[Tunnel("[2606:4700::200:5efe:a00:1]:80")]),
    refused("unique local", &[Tunnel("[fc00::1]:80"), Tunnel("[fd12:3456::1]:80")]),
    refused("link local, IPv6", &[Tunnel("[fe80::1]:80"), Tunnel("[fec0::1]:80")]),
    refused("a zone", &[Tunnel("[fe80::1%25lo]:80"), Tunnel("[fe80::1%lo]:80")]),
    refused("multicast, IPv6", &[Tunnel("[ff02::1]:80")]),
    refused("examples, IPv6", &[Tunnel("[2001:db8::1]:80"), Tunnel("[3fff::1]:80")]),
    refused(
        "discard, ORCHID, segments",
        &[Tunnel("[100::1]:80"), Tunnel("[2001:10::1]:80"), Tunnel("[5f00::1]:80")],
    ),
    refused("decimal", &[Tunnel("2130706433:80"), Get("http://2130706433/")]),
    refused(
        "hexadecimal",
        &[Tunnel("0x7f000001:80"), Get("http://0x7f000001/"), Tunnel("0x7f.1:80")],
    ),
    refused(
        "octal",
        &[Tunnel("0177.0.0.1:80"), Get("http://0177.0.0.1/"), Tunnel("017700000001:80")],
    ),
    refused(
        "fewer parts",
        &[Tunnel("127.1:80"), Tunnel("127.0.1:80"), Tunnel("10.1:80"), Tunnel("0:80")],
    ),
    refused("leading zeros", &[Tunnel("127.000.000.001:80"), Tunnel("010.0.0.1:80")]),
    refused(
        "an address with a dot at its end",
        &[Tunnel("127.0.0.1.:80"), Get("http://10.0.0.1./")],
    ),
    refused("full width and circled digits", &[Tunnel("１２７.0.0.1:80"), Tunnel("①②⑦.0.0.1:80")]),
    refused("other dots", &[Tunnel("127\u{3002}0\u{3002}0\u{3002}1:80")]),
    refused("escapes", &[Tunnel("127%2e0%2e0%2e1:80"), Get("http://%31%32%37.0.0.1/")]),
    refused(
        "a name before the host",
        &[Tunnel("app.example:3000@127.0.0.1:80"), Get("http://app.example:3000@127.0.0.1/")],
    ),
    refused(
        "a name and a password before the host",
        &[Get("http://u:p@127.0.0.1/"), Get("http://u:p@8.8.8.8/")],
    ),
    refused(
        "a backslash",
        &[Get("http://127.0.0.1\\@app.example/"), Tunnel("app.example\\@127.0.0.1:80")],
    ),
    refused(
        "a fragment in the host",
        &[Tunnel("app.example:3000#@127.0.0.1:80"), Tunnel("app.example:3000/@127.0.0.1:80")],
    ),
    refused(
        "no port, port 0, too large",
        &[Tunnel("8.8.8.8"), Tunnel("8.8.8.8:0"), Tunnel("8.8.8.8:65616"), Tunnel("8.8.8.8:-80")],
    ),
    refused(
        "ports of other services",
        &[Tunnel("8.8.8.8:22"), Tunnel("8.8.8.8:25"), Tunnel("8.8.8.8:53"), Tunnel("8.8.8.8:6667")],
    ),
    refused(
        "other schemes",
        &[Get("ftp://8.8.8.8/"), Get("https://8.8.8.8/"), Get("file:///etc/passwd")],
    ),
    refused("no address of its own", &[Get("/"), Get("*")]),
    named(
        "localhost",
        &[("localhost", "127.0.0.1")],
        &[
            Tunnel("localhost:80"),
            Tunnel("LOCALHOST:80"),
            Tunnel("localhost.:80"),
            Get("http://localhost/"),
        ],
    ),
    named("under localhost", &[("evil.localhost", "8.8.8.8")], &[Tunnel("evil.localhost:80")]),
    named(
        "a bare name",
        &[("printer", "10.0.0.9")],
        &[Tunnel("printer:80"), Get("http://printer/"), Tunnel("printer.:80")],
    ),
    named(
        "a bare name with a public address",
        &[("intranet", "8.8.8.8")],
        &[Tunnel("intranet:80")],
    ),
    named(
        "reserved names with public addresses",
        &[("x.local", "8.8.8.8"), ("x.internal", "8.8.8.8"), ("x.home.arpa", "8.8.8.8")],
        &[
            Tunnel("x.local:80"),
            Tunnel("X.LOCAL.:80"),
            Tunnel("x.internal:443"),
            Tunnel("x.home.arpa:80"),
        ],
    ),
    named(
        "the name of a metadata service",
        &[("metadata.google.internal", "169.254.169.254")],
        &[Get("http://metadata.google.internal/")],
    ),
    named(
        "a name for loopback",
        &[("evil.example", "127.0.0.1")],
        &[Tunnel("evil.example:80"), Get("http://evil.example/")],
    ),
    named("a name for loopback, IPv6", &[("evil.example", "::1")], &[Tunnel("evil.example:80")]),
    named(
        "a name for a private address",
        &[("evil.example", "192.168.1.1")],
        &[Tunnel("evil.example:443"), Tunnel("EVIL.example.:443")],
    ),
    named("a name for no address", &[("evil.example", "0.0.0.0")], &[Tunnel("evil.example:80")]),
    named(
        "a name for a mapped address",
        &[("evil.example", "::ffff:10.0.0.1")],
        &[Tunnel("evil.example:80")],
    ),
    named(
        "a name for a NAT64 address",
        &[("evil.example", "64:ff9b::a00:1")],
        &[Tunnel("evil.example:80")],
    ),
    named(
        "a name for metadata",
        &[("evil.example", "169.254.169.254")],
        &[Get("http://evil.example/latest/meta-data/")],
    ),
    named(
        "one private address among public ones",
        &[("evil.example", "8.8.8.8 10.0.0.1 1.1.1.1")],
        &[Tunnel("evil.example:80")],
    ),
    named(
        "a private address of the other family",
        &[("evil.example", "8.8.8.8 fd00::1")],
        &[Tunnel("evil.example:80")],
    ),
    named(
        "an alias of a private name",
        &[("evil.example", ">inside.example"), ("inside.example", "10.0.0.1")],
        &[Tunnel("evil.example:80")],
    ),
    named(
        "aliases of aliases",
        &[("evil.example", ">a.example"), ("a.example", ">b.example"), ("b.example", "127.0.0.1")],
        &[Tunnel("evil.example:80")],
    ),
    named(
        "an alias of localhost",
        &[("evil.example", ">localhost"), ("localhost", "127.0.0.1")],
        &[Tunnel("evil.example:80")],
    ),
    named(
        "rebinding after a minute",
        &[("evil.example", "93.184.216.34 | 127.0.0.1")],
        &[
            TunnelTo("evil.example:80", &["93.184.216.34:80"]),
            Minute,
            Tunnel("evil.example:80"),
            Get("http://evil.example/"),
        ],
    ),
    named(
        "rebinding within a minute",
        &[("evil.example", "93.184.216.34 | 127.0.0.1")],
        &[
            GetTo("http://evil.example/", &["93.184.216.34:80"]),
            Change,
            GetTo("http://evil.example/", &["93.184.216.34:80"]),
        ],
    ),
    named(
        "back and forth",
        &[("evil.example", "10.0.0.1 | 93.184.216.34 | 10.0.0.1")],
        &[
            Tunnel("evil.example:80"),
            Minute,
            TunnelTo("evil.example:80", &["93.184.216.34:80"]),
            Minute,
            Tunnel("evil.example:80"),
        ],
    ),
    named(
        "the own public address",
        &[("evil.example", "185.199.1.1")],
        &[Tunnel("185.199.1.1:80"), Tunnel("evil.example:80")],
    ),
    Case {
        name: "beside a local app",
        app: "http://127.0.0.1:3000",
        zone: &[],
        steps: &[
            Tunnel("127.0.0.1:3001"),
            Tunnel("127.0.0.2:3000"),
            Tunnel("[::1]:3000"),
            Tunnel("[::ffff:127.0.0.1]:3000"),
            Get("http://localhost:3000/"),
        ],
    },
    Case {
        name: "beside a private app",
        app: "http://10.0.0.5:8080",
        zone: &[],
        steps: &[
            Tunnel("10.0.0.5:80"),
            Tunnel("10.0.0.6:8080"),
            GetTo("http://10.0.0.5:8080/", &["10.0.0.5:8080"]),
        ],
    },
    Case {
        name: "a name for the local app's address",
        app: "http://127.0.0.1:3000",
        zone: &[("evil.example", "127.0.0.1")],
        steps: &[Tunnel("evil.example:3000")],
    },
    Case {
        name: "a public app whose name turns private",
        app: "http://app.example",
        zone: &[("app.example", "93.184.216.34 | 10.0.0.1")],
        steps: &[
            GetTo("http://app.example/", &["93.184.216.34:80"]),
            Minute,
            Get("http://app.example/"),
            Tunnel("app.example:80"),
        ],
    },
    Case {
        name: "an app whose name is for metadata",
        app: "http://app.example",
        zone: &[("app.example", "169.254.169.254")],
        steps: &[Get("http://app.example/"), Tunnel("app.example:80")],
    },
    Case {
        name: "the app's name with a dot at its end",
        app: "http://app.example",
        zone: &[("app.example", "10.0.0.1")],
        steps: &[Get("http://app.example./"), GetTo("http://app.example/", &["10.0.0.1:80"])],
    },
];

/// Public resources and the app itself: none of them may be refused.
pub(crate) const OPEN: &[Case] = &[
    refused(
        "public addresses",
        &[TunnelTo("8.8.8.8:443", &["8.8.8.8:443"]), TunnelTo("1.1.1.1:80", &["1.1.1.1:80"])],
    ),
    refused(
        "public addresses, IPv6",
        &[
            TunnelTo("[2606:4700::1111]:443", &["[2606:4700::1111]:443"]),
            GetTo("http://[2001:4860:4860::8888]/", &["[2001:4860:4860::8888]:80"]),
        ],
    ),
    refused(
        "beside the special ranges",
        &[
            TunnelTo("11.0.0.1:80", &["11.0.0.1:80"]),
            TunnelTo("100.128.0.1:80", &["100.128.0.1:80"]),
            TunnelTo("169.255.0.1:80", &["169.255.0.1:80"]),
            TunnelTo("172.32.0.1:80", &["172.32.0.1:80"]),
            TunnelTo("192.169.0.1:80", &["192.169.0.1:80"]),
            TunnelTo("198.20.0.1:80", &["198.20.0.1:80"]),
            TunnelTo("223.255.255.1:80", &["223.255.255.1:80"]),
        ],
    ),
    refused(
        "NAT64 and 6to4 of public addresses",
        &[
            TunnelTo("[64:ff9b::808:808]:443", &["[64:ff9b::808:808]:443"]),
            TunnelTo("[2002:808:808::1]:443", &["[2002:808:808::1]:443"]),
        ],
    ),
    refused("a mapped public address", &[TunnelTo("[::ffff:8.8.8.8]:443", &["8.8.8.8:443"])]),
    refused(
        "other ports of the web",
        &[
            TunnelTo("8.8.8.8:8443", &["8.8.8.8:8443"]),
            GetTo("http://8.8.8.8:8080/", &["8.8.8.8:8080"]),
        ],
    ),
    named(
        "names",
        &[("cdn.example", "93.184.216.34")],
        &[
            TunnelTo("cdn.example:443", &["93.184.216.34:443"]),
            GetTo("http://CDN.example/x?y", &["93.184.216.34:80"]),
        ],
    ),
    named(
        "a name with a dot at its end",
        &[("cdn.example", "93.184.216.34")],
        &[TunnelTo("cdn.example.:443", &["93.184.216.34:443"])],
    ),
    named(
        "names that look like others",
        &[
            ("xn--bcher-kva.example", "8.8.4.4"),
            ("a_b.example", "8.8.4.4"),
            ("mylocal.example", "8.8.4.4"),
        ],
        &[
            TunnelTo("xn--bcher-kva.example:443", &["8.8.4.4:443"]),
            TunnelTo("a_b.example:443", &["8.8.4.4:443"]),
            TunnelTo("mylocal.example:443", &["8.8.4.4:443"]),
        ],
    ),
    named(
        "both families",
        &[("cdn.example", "93.184.216.34 2606:2800:220::1")],
        &[TunnelTo("cdn.example:443", &["93.184.216.34:443", "[2606:2800:220::1]:443"])],
    ),
    named(
        "aliases",
        &[("fonts.example", ">edge.cdn.example"), ("edge.cdn.example", "151.101.1.1")],
        &[TunnelTo("fonts.example:443", &["151.101.1.1:443"])],
    ),
    named(
        "many addresses",
        &[("cdn.example", "8.8.8.1 8.8.8.2 8.8.8.3 8.8.8.4 8.8.8.5 8.8.8.6 8.8.8.7 8.8.8.9")],
        &[TunnelTo(
            "cdn.example:443",
            &[
                "8.8.8.1:443",
                "8.8.8.2:443",
                "8.8.8.3:443",
                "8.8.8.4:443",
                "8.8.8.5:443",
                "8.8.8.6:443",
                "8.8.8.7:443",
                "8.8.8.9:443",
            ],
        )],
    ),
    named(
        "a name that moves between public addresses",
        &[("cdn.example", "8.8.8.8 | 9.9.9.9")],
        &[
            TunnelTo("cdn.example:443", &["8.8.8.8:443"]),
            Minute,
            TunnelTo("cdn.example:443", &["9.9.9.9:443"]),
        ],
    ),
    named("a name that does not exist", &[], &[Missing("nothing.example:443")]),
    Case {
        name: "a private app by name",
        app: "http://app.example:3000",
        zone: &[("app.example", "10.0.0.7")],
        steps: &[
            GetTo("http://app.example:3000/", &["10.0.0.7:3000"]),
            TunnelTo("app.example:3000", &["10.0.0.7:3000"]),
        ],
    },
    Case {
        name: "a private app that moves",
        app: "http://app.example:3000",
        zone: &[("app.example", "10.0.0.7 | 10.0.0.8")],
        steps: &[
            GetTo("http://app.example:3000/", &["10.0.0.7:3000"]),
            Minute,
            GetTo("http://app.example:3000/", &["10.0.0.8:3000"]),
        ],
    },
    Case {
        name: "an app with a bare name",
        app: "http://web:3000",
        zone: &[("web", "172.18.0.3")],
        steps: &[GetTo("http://web:3000/", &["172.18.0.3:3000"])],
    },
    Case {
        name: "an app at an address of its own",
        app: "https://192.168.7.7",
        zone: &[],
        steps: &[TunnelTo("192.168.7.7:443", &["192.168.7.7:443"])],
    },
    Case {
        name: "an app at any port",
        app: "http://10.9.9.9:*",
        zone: &[],
        steps: &[
            TunnelTo("10.9.9.9:3000", &["10.9.9.9:3000"]),
            TunnelTo("10.9.9.9:22", &["10.9.9.9:22"]),
        ],
    },
];

/// What the runs of all cases came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Total {
    pub(crate) cases: usize,
    pub(crate) refused: usize,
    pub(crate) reached: usize,
}

/// Waits until who counts has heard of everything that was connected.
pub(crate) type Counts<'a> =
    &'a (dyn Fn() -> futures_util::future::BoxFuture<'a, Vec<SocketAddr>> + Sync);

/// Runs a list of cases. `counts` gives the connections since it was last asked.
pub(crate) async fn run(
    cases: &[Case],
    network: &(dyn Fn(Arc<Zone>, Arc<TestClock>) -> Network + Sync),
    counts: Counts<'_>,
) -> Total {
    let mut total = Total::default();
    for case in cases {
        let zone = Arc::new(Zone::new(case.zone.iter().copied()));
        let clock = TestClock::new();
        let egress = Egress::start(network(zone.clone(), clock.clone())).await.unwrap();
        let policy: Policy = super::app(case.app);
        let session = egress.open(policy, reins_egress::Allowance::default()).unwrap();
        counts().await;
        let mut refusals = 0;
        for step in case.steps {
            let mut line = Line::open(egress.address(), session.login()).await;
            let what = format!("{}: {step:?}", case.name);
            let (said, ends) = match step {
                Do::Tunnel(at) => (line.tunnel(at).await, None),
                Do::Get(url) => (line.get(url, "").await, None),
                Do::TunnelTo(at, ends) => (line.tunnel(at).await, Some(*ends)),
                Do::GetTo(url, ends) => (line.get(url, "").await, Some(*ends)),
                Do::Missing(at) => {
                    assert_eq!(line.tunnel(at).await.unwrap().status, 502, "{what}");
                    continue;
                }
                Do::Minute => {
                    clock.advance(Duration::from_secs(61));
                    zone.next_round();
                    continue;
                }
                Do::Change => {
                    zone.next_round();
                    continue;
                }
            };
            let said = said.unwrap_or_else(|error| panic!("{what}: {error}"));
            let connected = counts().await;
            match ends {
                None => {
                    assert!([400, 403].contains(&said.status), "{what}: {said:?}");
                    assert_eq!(connected, [], "{what}");
                    refusals += usize::from(said.status == 403);
                    total.refused += 1;
                }
                Some(ends) => {
                    assert_eq!(said.status, 200, "{what}: {said:?}");
                    let first = connected.first().unwrap_or_else(|| panic!("{what}: nobody came"));
                    assert!(ends.contains(&first.to_string().as_str()), "{what}: {connected:?}");
                    assert!(said.body.starts_with(&format!("reached {first}")), "{what}: {said:?}");
                    total.reached += 1;
                }
            }
        }
        assert_eq!(session.refusals().total(), refusals as u64, "{}", case.name);
        egress.stop().await;
        total.cases += 1;
    }
    total
}

/// Connections that whoever counts has seen.
pub(crate) fn from(counted: &Counted) -> Vec<SocketAddr> {
    counted.take()
}

/// Runs cases where each has a network of its own, and one list of who connected.
pub(crate) async fn scripted(cases: &[Case]) -> Total {
    let counted: Arc<Mutex<Counted>> = Arc::default();
    let network = {
        let counted = counted.clone();
        move |zone: Arc<Zone>, clock: Arc<TestClock>| {
            let scripted = Scripted::new(zone);
            *counted.lock().unwrap() = scripted.counted.clone();
            scripted.network(clock)
        }
    };
    run(cases, &network, &|| {
        let counted = counted.clone();
        Box::pin(async move {
            let counted = counted.lock().unwrap().clone();
            counted.take()
        })
    })
    .await
}
