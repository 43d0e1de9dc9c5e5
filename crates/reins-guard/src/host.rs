//! Hosts: which belong together, and how they are shown so that none can pass for another.

use reins_core::Origin;

/// A host without the leading `www.` and the trailing dot, for comparing what is forbidden.
pub(crate) fn without_www(host: &str) -> &str {
    let host = host.strip_suffix('.').unwrap_or(host);
    host.strip_prefix("www.").unwrap_or(host)
}

/// Whether a redirect from one origin to another stays within the site: the same registrable
/// domain, and never from https down to http.
pub fn same_site(from: &Origin, to: &Origin) -> bool {
    from.site() == to.site() && (from.scheme() == to.scheme() || to.scheme() == "https")
}

/// A warning about a host's letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostNote {
    /// Written in other letters; this is the readable form.
    Letters(String),
    /// Made of letters that imitate this other host.
    Imitates(String),
    /// Mixes alphabets.
    Mixed,
}

/// A host as cards show it: in its ASCII form, with the port if it is not the usual one.
pub fn shown_host(origin: &Origin) -> String {
    let text = origin.to_string();
    let host = text.split_once("://").map_or(text.as_str(), |(_, host)| host);
    if origin.scheme() == "http" { format!("http://{host}") } else { host.to_owned() }
}
