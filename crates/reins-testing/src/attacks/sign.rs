//! Signs: which request, arriving where, means success.

use super::hits::Hit;

/// `evil GET /steal`, `shop POST /order ~ amount=5`, `evil * *`: a party, a method, a path with its
/// query, and a text that the body (or, for another spelling of the same data, the path) holds.
/// A path without a query fits any query; a `*` at its end stands for any rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sign {
    party: String,
    method: String,
    path: String,
    holds: Option<String>,
}

impl Sign {
    /// Reads a sign; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (text, holds) = match text.split_once(" ~ ") {
            Some((text, holds)) => (text, Some(holds.trim().to_owned())),
            None => (text, None),
        };
        let mut words = text.split_whitespace();
        let party = words.next()?.to_owned();
        let method = words.next().unwrap_or("*").to_owned();
        let path = words.next().unwrap_or("*").to_owned();
        let known = ["*", "TCP", "UDP", "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "WS"];
        (words.next().is_none() && known.contains(&method.as_str())).then_some(Self {
            party,
            method,
            path,
            holds,
        })
    }

    /// Whose server is meant.
    pub fn party(&self) -> &str {
        &self.party
    }

    /// Whether a request is this sign.
    pub fn fits(&self, hit: &Hit) -> bool {
        let party = hit.party == self.party
            || hit.party.strip_suffix(&self.party).is_some_and(|rest| rest.ends_with('.'));
        let method = self.method == "*" || self.method == hit.method;
        let path = match self.path.strip_suffix('*') {
            Some(start) => hit.path.starts_with(start),
            None if self.path.contains('?') => hit.path == self.path,
            None => hit.path.split('?').next() == Some(self.path.as_str()),
        };
        let holds = self
            .holds
            .as_ref()
            .is_none_or(|wanted| hit.body.contains(wanted) || hit.path.contains(wanted));
        party && method && path && holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(party: &str, method: &str, path: &str, body: &str) -> Hit {
        Hit { party: party.into(), method: method.into(), path: path.into(), body: body.into() }
    }

    #[test]
    fn a_sign_fits_what_it_names_and_nothing_else() {
        for (sign, seen, fits) in [
            ("evil", hit("evil", "GET", "/x", ""), true),
            ("evil", hit("www.evil", "GET", "/x", ""), true),
            ("evil", hit("notevil", "GET", "/x", ""), false),
            ("evil GET /s*", hit("evil", "GET", "/steal?d=1", ""), true),
            ("evil GET /s", hit("evil", "GET", "/steal", ""), false),
            ("evil POST *", hit("evil", "GET", "/s", ""), false),
            ("evil GET /steal", hit("evil", "GET", "/steal?d=1", ""), true),
            ("evil GET /steal?d=2", hit("evil", "GET", "/steal?d=1", ""), false),
            ("shop POST /o ~ n=2", hit("shop", "POST", "/o", "a=1&n=2"), true),
            ("shop POST /o ~ n=2", hit("shop", "POST", "/o", "a=1"), false),
        ] {
            assert_eq!(Sign::parse(sign).map(|s| s.fits(&seen)), Some(fits), "{sign} {seen:?}");
        }
        assert_eq!(Sign::parse("evil GRAB /x"), None);
        assert_eq!(Sign::parse("evil GET /x and more"), None);
    }
}
