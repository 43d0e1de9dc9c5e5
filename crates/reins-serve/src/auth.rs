//! Who asks, and whether a request may come from where it comes.

use crate::app::App;
use crate::error::ServeError;
use crate::keys;
use crate::scope::{self, Scope, Scopes};
use axum::http::{HeaderMap, Method, header};
use reins_core::{Origin, Secret, TenantId};
use tokio::time::Instant;

/// The cookie of a dashboard.
pub(crate) const COOKIE: &str = "reins_session";

/// The header that carries the dashboard's word on changes.
pub(crate) const CSRF: &str = "x-reins-csrf";

/// How a request reached the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The loopback port, which pages can reach as well.
    Port,
    /// The owner's socket, which only programs of the owner can open.
    Socket,
}

/// How a caller showed who they are.
#[derive(Clone, Debug)]
pub(crate) enum Via {
    /// By the owner's socket.
    Owner,
    /// By a bearer token.
    Token,
    /// By a dashboard's cookie.
    Cookie {
        /// What a change must carry as well.
        csrf: Secret<String>,
    },
}

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) tenant: TenantId,
    /// What others see of them.
    pub(crate) name: String,
    pub(crate) scopes: Scopes,
    /// Whether this is the person who runs the daemon.
    pub(crate) owner: bool,
    pub(crate) via: Via,
}

impl Caller {
    /// The person who runs the daemon.
    pub(crate) fn owner(tenant: &str) -> Self {
        Self {
            tenant: TenantId::new(tenant),
            name: "owner".into(),
            scopes: Scope::ALL.into_iter().collect(),
            owner: true,
            via: Via::Owner,
        }
    }

    /// Whether they may.
    pub(crate) fn may(&self, scope: Scope) -> Result<(), ServeError> {
        if self.scopes.contains(&scope) { Ok(()) } else { Err(ServeError::Scope(scope.word())) }
    }

    /// Who they are to others that need a stable word for it.
    pub(crate) fn subject(&self) -> String {
        format!("{}/{}", self.tenant, self.name)
    }

    /// What their rate is counted by.
    fn rate_key(&self) -> String {
        let kind = match self.via {
            Via::Owner => "o",
            Via::Token => "t",
            Via::Cookie { .. } => "c",
        };
        format!("{kind}\0{}\0{}", self.tenant, self.name)
    }
}

/// Whether a request may come from where it comes (S-145): its Host must be ours, and an Origin our own.
pub(crate) fn place(app: &App, headers: &HeaderMap, way: Way) -> Result<(), ServeError> {
    host(app, headers, way)?;
    if way == Way::Socket {
        // No page can open it.
        return Ok(());
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or("");
        let own = Origin::parse(origin).is_ok_and(|origin| app.is_own_origin(&origin));
        if !own {
            return Err(ServeError::Origin(shown(origin)));
        }
    }
    match text(headers, &header::HeaderName::from_static("sec-fetch-site")) {
        None | Some("same-origin" | "none") => Ok(()),
        Some(other) => Err(ServeError::Origin(shown(other))),
    }
}

/// Only the name is checked: files that hold nothing of anybody may be reached by a link in another page.
pub(crate) fn host(app: &App, headers: &HeaderMap, way: Way) -> Result<(), ServeError> {
    let host = text(headers, &header::HOST).unwrap_or("");
    if way == Way::Socket || app.is_own_host(host) {
        Ok(())
    } else {
        Err(ServeError::Host(shown(host)))
    }
}

/// What a stranger sent, as much of it as an error may repeat.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}

/// Who asks, by token, cookie or socket; counted against their rate.
pub(crate) async fn caller(
    app: &App,
    headers: &HeaderMap,
    method: &Method,
    way: Way,
) -> Result<Caller, ServeError> {
    let caller = known(app, headers, way).await?;
    app.rates.take(&caller.rate_key(), Instant::now())?;
    if let Via::Cookie { csrf } = &caller.via
        && !matches!(*method, Method::GET | Method::HEAD)
    {
        let word = headers.get(CSRF).and_then(|v| v.to_str().ok()).unwrap_or("");
        // Compared as hashes: how long that takes says nothing of the word.
        if keys::hash(word) != keys::hash(csrf.expose()) {
            return Err(ServeError::Csrf);
        }
    }
    Ok(caller)
}

async fn known(app: &App, headers: &HeaderMap, way: Way) -> Result<Caller, ServeError> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let token = value.to_str().ok().and_then(bearer).ok_or(ServeError::Unauthorized)?;
        return match app.by_token(keys::hash(token)).await? {
            Some(caller) => Ok(caller),
            None => Err(wrong(app)),
        };
    }
    if let Some(cookie) = cookie(headers) {
        return app.sign_ins.caller(cookie).ok_or_else(|| wrong(app));
    }
    match way {
        Way::Socket => Ok(Caller::owner(&app.config.server.owner_tenant)),
        Way::Port => Err(ServeError::Unauthorized),
    }
}

/// A wrong token is told so, and a flood of them that it is one.
fn wrong(app: &App) -> ServeError {
    app.wrong.take("", Instant::now()).err().unwrap_or(ServeError::Unauthorized)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The dashboard's cookie.
pub(crate) fn cookie(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

impl App {
    /// Who holds the token with this hash.
    async fn by_token(&self, hash: [u8; 32]) -> Result<Option<Caller>, ServeError> {
        let configured = self.config.tokens.iter().find(|token| token.digest() == Some(hash));
        if let Some(token) = configured {
            return Ok(Some(Caller {
                tenant: TenantId::new(token.tenant.as_str()),
                name: token.name.clone(),
                scopes: token.scopes(),
                owner: false,
                via: Via::Token,
            }));
        }
        if let Some(caller) = self.given.iter().find(|given| given.hash == hash) {
            return Ok(Some(caller.caller.clone()));
        }
        Ok(self.store.token(hash).await?.map(|token| Caller {
            tenant: token.tenant,
            name: token.name,
            scopes: scope::read(&token.scopes),
            owner: false,
            via: Via::Token,
        }))
    }
}
