//! Patterns that name one origin, or one host at any port.

use crate::origin::{Origin, OriginError};
use std::fmt;
use std::str::FromStr;

/// An exact origin, or a scheme and host at any port, written `http://127.0.0.1:*`.
/// Names the app of a pinned session.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OriginPattern {
    origin: Origin,
    any_port: bool,
}

impl OriginPattern {
    /// Whether an origin is one of those named.
    pub fn matches(&self, origin: &Origin) -> bool {
        self.origin.scheme() == origin.scheme()
            && self.origin.host() == origin.host()
            && (self.any_port || self.origin.port() == origin.port())
    }

    /// The host, in the form that [`Origin::host`] gives.
    pub fn host(&self) -> &str {
        self.origin.host()
    }

    /// The one port, or `None` where any will do.
    pub fn port(&self) -> Option<u16> {
        (!self.any_port).then(|| self.origin.port())
    }
}

impl From<Origin> for OriginPattern {
    fn from(origin: Origin) -> Self {
        Self { origin, any_port: false }
    }
}

impl FromStr for OriginPattern {
    type Err = OriginError;

    /// Reads `https://app.example`, `http://localhost:3000` or `http://127.0.0.1:*`. A path
    /// after the origin is ignored.
    fn from_str(text: &str) -> Result<Self, OriginError> {
        let text = text.trim();
        match text.strip_suffix(":*").or_else(|| text.strip_suffix(":*/")) {
            Some(bare) => Ok(Self { origin: Origin::parse(bare)?, any_port: true }),
            None => Ok(Self { origin: Origin::parse(text)?, any_port: false }),
        }
    }
}

impl fmt::Display for OriginPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.any_port {
            write!(f, "{}://{}:*", self.origin.scheme(), self.origin.host())
        } else {
            self.origin.fmt(f)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_an_exact_origin_or_any_port_of_one_host() {
        for (pattern, origin, matches) in [
            ("https://app.example", "https://app.example/x", true),
            ("https://app.example", "https://app.example:8443", false),
            ("https://app.example", "http://app.example", false),
            ("https://app.example", "https://www.app.example", false),
            ("https://app.example", "https://app.example.", false),
            ("http://127.0.0.1:*", "http://127.0.0.1:9", true),
            ("http://127.0.0.1:*/", "http://127.0.0.1", true),
            ("http://127.0.0.1:*", "https://127.0.0.1:9", false),
            ("http://[::1]:*", "http://[::1]:8080", true),
        ] {
            let read: OriginPattern = pattern.parse().expect(pattern);
            assert_eq!(read.matches(&Origin::parse(origin).expect(origin)), matches, "{pattern}");
            assert_eq!(read.to_string(), pattern.trim_end_matches('/'));
        }
        for bad in ["app.example", "file:///x", "*", "http://:*", "ftp://a:*"] {
            assert!(bad.parse::<OriginPattern>().is_err(), "{bad}");
        }
    }
}
