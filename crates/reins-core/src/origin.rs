//! Origins and sites. Hosts are compared only after parsing, and punycode stays visible.

use std::fmt;
use thiserror::Error;
use url::{Host, Url};

/// An exact web origin: scheme, host and port, always http or https.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

/// Why a text is no web origin.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum OriginError {
    /// It does not parse as an absolute URL.
    #[error("'{0}' is not an absolute URL")]
    NotAbsolute(String),
    /// The scheme is neither http nor https.
    #[error("'{0}:' addresses are never opened; only http and https are")]
    NotWeb(String),
}

/// Parses an absolute http(s) URL; nothing else is ever opened.
pub fn web_url(text: &str) -> Result<Url, OriginError> {
    let url = Url::parse(text.trim()).map_err(|_| OriginError::NotAbsolute(text.to_owned()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(OriginError::NotWeb(url.scheme().to_owned()));
    }
    if url.host().is_none() {
        return Err(OriginError::NotAbsolute(text.to_owned()));
    }
    Ok(url)
}

impl Origin {
    /// The origin of an absolute http(s) URL.
    pub fn parse(text: &str) -> Result<Self, OriginError> {
        let url = web_url(text)?;
        Self::of(&url).ok_or_else(|| OriginError::NotAbsolute(text.to_owned()))
    }

    /// The origin of a parsed URL, if it is an http(s) one.
    pub fn of(url: &Url) -> Option<Self> {
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        Some(Self {
            scheme: url.scheme().to_owned(),
            host: url.host_str()?.to_owned(),
            port: url.port_or_known_default()?,
        })
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The host in its ASCII (punycode) form.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, given or implied.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The site this origin belongs to.
    pub fn site(&self) -> Site {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        if matches!(Host::parse(&self.host), Ok(Host::Domain(_))) {
            let name = psl::domain_str(bare).unwrap_or(bare);
            return Site(name.to_owned());
        }
        Site(self.host.clone())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = if self.scheme == "https" { 443 } else { 80 };
        if self.port == default {
            write!(f, "{}://{}", self.scheme, self.host)
        } else {
            write!(f, "{}://{}:{}", self.scheme, self.host, self.port)
        }
    }
}

/// A registrable domain, or the whole host where there is none (an address, `localhost`).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Site(String);

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a host ends in a suffix of the public list that people register under, such as `.com`.
pub fn has_known_suffix(host: &str) -> bool {
    psl::suffix(host.as_bytes())
        .is_some_and(|suffix| suffix.is_known() && suffix.as_bytes().len() < host.len())
}

/// Where a document comes from, as far as authority is concerned.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum DocumentOrigin {
    /// An ordinary web origin.
    Web(Origin),
    /// Built by script: `about:blank`, `srcdoc`, `data:`, `blob:`. Never named.
    ScriptBuilt,
    /// Loaded from this web origin but sandboxed into an opaque one. Never named either.
    Sandboxed(Origin),
    /// A page of the browser itself (`chrome://`, the new tab page, an error page).
    Browser,
}

impl DocumentOrigin {
    /// The web origin that may be named, if this document has one.
    pub fn named_as(&self) -> Option<&Origin> {
        match self {
            DocumentOrigin::Web(origin) => Some(origin),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_compare_after_parsing_and_show_punycode() {
        for (text, shown, site) in [
            ("https://Example.com:443/a", "https://example.com", "example.com"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080", "127.0.0.1"),
            ("https://a.b.example.co.uk/", "https://a.b.example.co.uk", "example.co.uk"),
            ("http://localhost:1/", "http://localhost:1", "localhost"),
            ("http://[::1]:9/", "http://[::1]:9", "[::1]"),
            ("https://bücher.example/", "https://xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("http://0x7f.1/", "http://127.0.0.1", "127.0.0.1"),
        ] {
            let origin = Origin::parse(text).expect(text);
            assert_eq!(origin.to_string(), shown);
            assert_eq!(origin.site().to_string(), site, "{text}");
        }
    }

    /// addresses that are not http(s) are never opened.
    #[test]
    fn r146_only_web_addresses() {
        for text in [
            "chrome://settings",
            "file:///etc/passwd",
            "data:text/html,x",
            "javascript:1",
            "about:blank",
            "chrome-extension://a/b",
        ] {
            assert!(matches!(Origin::parse(text), Err(OriginError::NotWeb(_))), "{text}");
        }
        for text in ["example.com", "/relative", "", "http://"] {
            assert!(matches!(Origin::parse(text), Err(OriginError::NotAbsolute(_))), "{text}");
        }
    }
}
