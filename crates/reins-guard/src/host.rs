//! Hosts: which belong together, and how they are shown so that none can pass for another.

use crate::plain::plain_text;
use reins_core::Origin;
use unicode_security::MixedScript;
use unicode_security::confusable_detection::skeleton;

/// Bytes of a host on a card. Longer ones lose their beginning: the end tells whose host it is.
const HOST_BYTES: usize = 80;

/// A host without the leading `www.` and the trailing dot, for comparing what is forbidden.
pub(crate) fn without_www(host: &str) -> &str {
    let host = host.strip_suffix('.').unwrap_or(host);
    host.strip_prefix("www.").unwrap_or(host)
}

/// Whether a redirect from one origin to another stays within the site: the same registrable
/// domain, and never from https down to http.
pub fn same_site(from: &Origin, to: &Origin) -> bool {
    from.site() == to.site() && not_down(from, to)
}

/// Whether an origin that the person named also names another: itself, the same host with or
/// without `www.`, and its https twin, since sites move their visitors between these.
pub(crate) fn names(named: &Origin, other: &Origin) -> bool {
    let bare =
        |origin: &Origin| origin.host().strip_prefix("www.").unwrap_or(origin.host()).to_owned();
    named == other || (bare(named) == bare(other) && same_door(named, other))
}

/// Whether the person's word about one origin also holds for another: the same port, or both
/// the usual ones, and never from https down to http.
pub(crate) fn same_door(from: &Origin, to: &Origin) -> bool {
    not_down(from, to) && (from.port() == to.port() || (is_usual(from) && is_usual(to)))
}

fn not_down(from: &Origin, to: &Origin) -> bool {
    from.scheme() == to.scheme() || to.scheme() == "https"
}

fn is_usual(origin: &Origin) -> bool {
    matches!((origin.scheme(), origin.port()), ("https", 443) | ("http", 80))
}

/// A warning about a host's letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostNote {
    /// Written in other letters than plain ones; this is the readable form.
    Letters(String),
    /// Looks like this other host, and is not.
    Imitates(String),
    /// Mixes alphabets in one word.
    Mixed,
}

/// The hosts that a person has to do with. A host that looks like one of them imitates it.
#[derive(Clone, Debug, Default)]
pub struct KnownHosts(Vec<KnownHost>);

#[derive(Clone, Debug)]
struct KnownHost {
    host: String,
    look: String,
}

impl KnownHosts {
    /// Takes in origins. The same host may come more than once.
    pub fn new<'a>(origins: impl IntoIterator<Item = &'a Origin>) -> Self {
        let mut hosts: Vec<&str> =
            origins.into_iter().map(|origin| without_www(origin.host())).collect();
        hosts.sort_unstable();
        hosts.dedup();
        Self(
            hosts
                .into_iter()
                .map(|host| KnownHost { host: host.to_owned(), look: look(&readable(host)) })
                .collect(),
        )
    }

    /// What a person should know of a host's letters.
    pub fn note(&self, origin: &Origin) -> Option<HostNote> {
        let host = without_www(origin.host());
        let readable = readable(host);
        let look = look(&readable);
        let imitated = self.0.iter().find(|known| known.host != host && known.look == look);
        if let Some(known) = imitated {
            return Some(HostNote::Imitates(known.host.clone()));
        }
        if readable == host {
            return None;
        }
        if look.is_ascii() {
            return Some(HostNote::Imitates(look));
        }
        if readable.split('.').any(|label| !label.is_single_script()) {
            return Some(HostNote::Mixed);
        }
        Some(HostNote::Letters(plain_text(&readable)))
    }

    /// A host as cards show it: in its ASCII form, with the port if it is not the usual one,
    /// with `http://` if the connection is not protected, and with a note about its letters.
    pub fn shown(&self, origin: &Origin) -> String {
        let scheme = if origin.scheme() == "http" { "http://" } else { "" };
        let port = if is_usual(origin) { String::new() } else { format!(":{}", origin.port()) };
        self.noted(format!("{scheme}{}{port}", shortened(origin.host())), origin)
    }

    /// A host with its port, whichever it is.
    pub(crate) fn shown_with_port(&self, origin: &Origin) -> String {
        self.noted(format!("{}:{}", shortened(origin.host()), origin.port()), origin)
    }

    fn noted(&self, shown: String, origin: &Origin) -> String {
        match self.note(origin) {
            None => shown,
            Some(HostNote::Letters(letters)) => format!("{shown} (in letters: {letters})"),
            Some(HostNote::Imitates(other)) => format!("{shown} (not {other}, but looks like it)"),
            Some(HostNote::Mixed) => format!("{shown} (mixes alphabets)"),
        }
    }
}

/// The host with its letters instead of their `xn--` form.
fn readable(host: &str) -> String {
    idna::domain_to_unicode(host).0
}

/// What a host looks like: one text for all that look alike.
fn look(readable: &str) -> String {
    let letters: String = skeleton(readable).collect();
    // Some plain letters stand for others there, such as `rn` for `m`. One form is enough.
    letters.to_lowercase().replace("rn", "m").replace('i', "l")
}

fn shortened(host: &str) -> String {
    if host.len() <= HOST_BYTES {
        return host.to_owned();
    }
    // A parsed host is ASCII.
    format!("…{}", &host[host.len() - HOST_BYTES..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(text: &str) -> Origin {
        Origin::parse(text).expect(text)
    }

    /// Punycode stays visible, and hosts that look like others are marked.
    #[test]
    fn hosts_are_shown_so_that_none_passes_for_another() {
        let known = [origin("https://www.paypal.com"), origin("https://microsoft.com")];
        let known = KnownHosts::new(&known);
        for (host, shown) in [
            ("https://shop.example", "shop.example"),
            ("https://shop.example:8443", "shop.example:8443"),
            ("http://shop.example", "http://shop.example"),
            ("http://127.0.0.1:80", "http://127.0.0.1"),
            ("https://bücher.example", "xn--bcher-kva.example (in letters: bücher.example)"),
            ("https://paypal.com", "paypal.com"),
            ("https://paypa1.com", "paypa1.com (not paypal.com, but looks like it)"),
            ("https://rnicrosoft.com", "rnicrosoft.com (not microsoft.com, but looks like it)"),
            ("https://аррӏе.com", "xn--80ak6aa92e.com (not apple.com, but looks like it)"),
            ("https://раураӏ.com", "xn--80aa0aa6egw.com (not paypal.com, but looks like it)"),
            ("https://пример.example", "xn--e1afmkfd.example (in letters: пример.example)"),
            ("https://例え.jp", "xn--r8jz45g.jp (in letters: 例え.jp)"),
            ("https://gооgle-ж.com", "xn--x (mixes alphabets)"),
        ] {
            let found = known.shown(&origin(host));
            // The exact ASCII form is the parser's business; the rest is ours.
            let tail = |text: &str| text.split_once(' ').map(|(_, tail)| tail.to_owned());
            assert_eq!(tail(&found), tail(shown), "{host}: {found}");
            if !shown.starts_with("xn--") {
                assert_eq!(found, shown);
            }
            assert!(found.split(' ').next().is_some_and(|host| host.is_ascii()), "{found}");
        }
    }

    #[test]
    fn a_long_host_keeps_its_end() {
        let host = format!("https://www.paypal.com.{}.evil.example", "a".repeat(60));
        let shown = KnownHosts::default().shown(&origin(&host));
        assert!(shown.ends_with(".evil.example") && shown.starts_with('…'), "{shown}");
        assert!(!shown.contains("paypal"), "{shown}");
    }

    /// relatives of the same site pass, and https never goes down to http.
    /// W-118: one site is one registrable domain, by the public suffix list.
    #[test]
    fn r177_redirects_are_judged_by_site() {
        for (from, to, same) in [
            ("https://example.com", "https://www.example.com", true),
            ("http://example.com", "https://example.com", true),
            ("https://example.com", "http://example.com", false),
            ("https://a.example.co.uk", "https://b.example.co.uk", true),
            ("https://a.co.uk", "https://b.co.uk", false),
            ("https://one.github.io", "https://two.github.io", false),
            ("http://127.0.0.1:1", "http://127.0.0.1:2", true),
            ("http://127.0.0.1", "http://127.0.0.2", false),
        ] {
            assert_eq!(same_site(&origin(from), &origin(to)), same, "{from} to {to}");
        }
    }
}
