//! The way through a proxy: how a browser is told of it, and what it logs in with (S-146).

use crate::containment::Connections;
use crate::protocol::page as wire;
use reins_core::Secret;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

/// A proxy on this machine that all connections of a browser go through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyAccess {
    /// Where it listens.
    pub address: SocketAddr,
    /// The name that the browser logs in with.
    pub user: String,
    /// The password. It is told over the pipe when the proxy asks, and stands in no command line.
    pub password: Secret<String>,
}

/// More features that are off where a proxy looks names up: the browser's own ways of doing so, and trying a plain address with
/// TLS first, which is outside the one app that is allowed.
pub(crate) const FEATURES_OFF: &[&str] = &["AsyncDns", "DnsOverHttpsUpgrade", "HttpsUpgrades"];

impl ProxyAccess {
    /// What the browser is started with.
    pub(crate) fn arguments(&self) -> [String; 3] {
        [
            format!("--proxy-server=http://{}", self.address),
            // Chromium goes around every proxy to this machine and its link unless it is told not to (S-X12).
            "--proxy-bypass-list=<-loopback>".to_owned(),
            // Nothing but the proxy has an address: no prefetch of names and no call looks any up.
            format!("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {}", self.address.ip()),
        ]
    }
}

/// Requests of a tab that were given the login. A second question for the same one means that it was wrong.
#[derive(Debug, Default)]
pub(crate) struct Logins(Mutex<HashSet<String>>);

/// Remembered requests. Once the browser knows the login it does not ask again.
const REMEMBERED: usize = 256;

impl Logins {
    /// The answer to a proxy that asks who the browser is. `None`: it is no proxy that asks.
    pub(crate) fn answer<'a>(
        &self,
        connections: &'a Connections,
        asked: &wire::AuthRequired,
    ) -> Option<wire::AuthAnswer<'a>> {
        if asked.auth_challenge.source.as_deref() != Some("Proxy") {
            return None;
        }
        let no = wire::AuthAnswer { response: "CancelAuth", ..Default::default() };
        let Connections::Through(proxy) = connections else { return None };
        if asked.auth_challenge.origin != format!("http://{}", proxy.address) {
            return Some(no);
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        if !known.insert(asked.request_id.clone()) {
            return Some(no);
        }
        Some(wire::AuthAnswer {
            response: "ProvideCredentials",
            username: Some(&proxy.user),
            password: Some(proxy.password.expose()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(request: &str, source: Option<&str>, origin: &str) -> wire::AuthRequired {
        wire::AuthRequired {
            request_id: request.to_owned(),
            auth_challenge: wire::AuthChallenge {
                origin: origin.to_owned(),
                realm: String::new(),
                source: source.map(str::to_owned),
            },
        }
    }

    #[test]
    fn only_our_proxy_is_given_the_login_and_once_for_each_request() {
        let proxy = ProxyAccess {
            address: "127.0.0.1:4711".parse().unwrap(),
            user: "session-1".into(),
            password: Secret::new("secret".into()),
        };
        let way = Connections::Through(proxy);
        let logins = Logins::default();
        let ours = "http://127.0.0.1:4711";
        let response = |request, source, origin| {
            logins.answer(&way, &asked(request, source, origin)).map(|answer| answer.response)
        };
        assert_eq!(response("1", Some("Server"), ours), None);
        assert_eq!(response("1", None, ours), None);
        assert_eq!(response("1", Some("Proxy"), "http://127.0.0.1:80"), Some("CancelAuth"));
        assert_eq!(response("1", Some("Proxy"), ours), Some("ProvideCredentials"));
        assert_eq!(response("1", Some("Proxy"), ours), Some("CancelAuth"));
        assert_eq!(response("2", Some("Proxy"), ours), Some("ProvideCredentials"));
        let direct = asked("3", Some("Proxy"), ours);
        assert!(Logins::default().answer(&Connections::Direct, &direct).is_none());
    }
}
