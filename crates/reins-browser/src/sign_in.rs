//! The sign-in of one app: the cookies that its host is sent, and the local storage of its origin
//! (S-028, S-029). Nothing of another host is read or set.

use crate::browser::Browser;
use crate::error::BrowserError;
use crate::page_call::wire_error;
use crate::protocol::page::Navigate;
use crate::protocol::storage::{
    ClearItems, Cookie, CookieParam, FulfillRequest, GetCookies, GetItems, HeaderOut, Items,
    PartitionKey, SetCookies, SetItem, StorageId,
};
use crate::protocol::target::CloseTarget;
use crate::tab::{ARMING, Tab};
use reins_cdp::Session;
use reins_core::{Origin, Secret};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Reading and setting need no network; a browser that takes longer is stuck.
const ASKING: Duration = Duration::from_secs(10);

/// More than any app keeps; each is a call to the browser.
const MOST_ITEMS: usize = 5_000;

/// What an app's browser is signed in with. Values print as `[redacted]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignIn {
    /// The cookies that the app's host is sent.
    pub cookies: Vec<SignInCookie>,
    /// The local storage of the app's origin: key and value.
    pub local_storage: Vec<(String, Secret<String>)>,
}

/// One cookie with all that decides when it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInCookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Secret<String>,
    /// The host, or with a leading dot the domain and all below it.
    pub domain: String,
    /// Where it is sent below the host.
    pub path: String,
    /// Seconds since 1970; `None` for one that ends with the browser.
    pub expires: Option<i64>,
    /// Whether scripts cannot read it.
    pub http_only: bool,
    /// Whether it is sent over secure connections only.
    pub secure: bool,
    /// `Strict`, `Lax` or `None`; absent where the server said nothing.
    pub same_site: Option<String>,
    /// The top-level site that it is partitioned by, and whether another site lay in between.
    pub partition: Option<(String, bool)>,
}

impl SignInCookie {
    /// Whether the app's host is sent it, with the app at the top.
    pub fn is_of(&self, app: &Origin) -> bool {
        let host = app.host();
        let matches = match self.domain.strip_prefix('.') {
            Some(domain) => {
                host == domain
                    || (host.ends_with(&self.domain) && host.parse::<std::net::IpAddr>().is_err())
            }
            None => host == self.domain,
        };
        let secure = !self.secure || app.scheme() == "https" || is_this_machine(host);
        let partition = self
            .partition
            .as_ref()
            .is_none_or(|(site, _)| *site == format!("{}://{}", app.scheme(), app.site()));
        matches && secure && partition
    }
}

/// Hosts that browsers trust without TLS.
fn is_this_machine(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost"
        || host.ends_with(".localhost")
        || address.is_ok_and(|address| address.is_loopback())
}

impl SignIn {
    /// As JSON in the form of Playwright's storage state. It holds the values: only for where it is kept
    /// sealed or handed to who may have it.
    pub fn expose_json(&self, app: &Origin) -> Secret<String> {
        let cookies: Vec<Value> = self.cookies.iter().map(exposed).collect();
        let items: Vec<Value> = self
            .local_storage
            .iter()
            .map(|(name, value)| json!({"name": name, "value": value.expose()}))
            .collect();
        let origins = if items.is_empty() {
            json!([])
        } else {
            json!([{"origin": app.to_string(), "localStorage": items}])
        };
        Secret::new(json!({"cookies": cookies, "origins": origins}).to_string())
    }

    /// Reads that form, leaving out what is not the app's. Says how much was left out.
    ///
    /// # Errors
    /// It is not of that form, or holds more than any app keeps.
    pub fn from_json(text: &Secret<String>, app: &Origin) -> Result<(Self, usize), BrowserError> {
        let wrong = |what: &str| BrowserError::SignIn { what: what.to_owned() };
        let whole: Value =
            serde_json::from_str(text.expose()).map_err(|_| wrong("it is no JSON"))?;
        let list = |name: &str| match whole.get(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items.clone()),
            Some(_) => Err(wrong(&format!("{name} is no list"))),
        };
        let (mut found, mut left_out) = (Self::default(), 0);
        for cookie in list("cookies")? {
            let cookie = cookie_of(&cookie).ok_or_else(|| wrong("a cookie lacks a part"))?;
            if cookie.is_of(app) {
                found.cookies.push(cookie);
            } else {
                left_out += 1;
            }
        }
        for origin in list("origins")? {
            let items = origin.get("localStorage").and_then(Value::as_array);
            let items = items.map(Vec::as_slice).unwrap_or_default();
            let own = origin
                .get("origin")
                .and_then(Value::as_str)
                .and_then(|text| Origin::parse(text).ok())
                .is_some_and(|origin| origin == *app);
            if !own {
                left_out += items.len();
                continue;
            }
            for item in items {
                let text = |name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
                let (Some(name), Some(value)) = (text("name"), text("value")) else {
                    return Err(wrong("an item of local storage lacks a part"));
                };
                found.local_storage.push((name, Secret::new(value)));
            }
        }
        if found.cookies.len() + found.local_storage.len() > MOST_ITEMS {
            return Err(wrong("it holds too many items"));
        }
        Ok((found, left_out))
    }
}

fn exposed(cookie: &SignInCookie) -> Value {
    let mut value = json!({
        "name": cookie.name, "value": cookie.value.expose(), "domain": cookie.domain,
        "path": cookie.path, "expires": cookie.expires.unwrap_or(-1),
        "httpOnly": cookie.http_only, "secure": cookie.secure,
    });
    if let Some(same_site) = &cookie.same_site {
        value["sameSite"] = json!(same_site);
    }
    if let Some((site, between)) = &cookie.partition {
        value["partitionKey"] = json!(site);
        value["hasCrossSiteAncestor"] = json!(between);
    }
    value
}

fn cookie_of(value: &Value) -> Option<SignInCookie> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let flag = |name: &str| value.get(name).and_then(Value::as_bool).unwrap_or(false);
    let same_site = text("sameSite");
    if same_site.as_ref().is_some_and(|word| !["Strict", "Lax", "None"].contains(&word.as_str())) {
        return None;
    }
    let expires = value.get("expires").and_then(Value::as_f64).filter(|at| *at >= 0.0);
    let between = flag("hasCrossSiteAncestor") || flag("_crHasCrossSiteAncestor");
    Some(SignInCookie {
        name: text("name")?,
        value: Secret::new(text("value")?),
        domain: text("domain")?.to_ascii_lowercase(),
        path: text("path").unwrap_or_else(|| "/".to_owned()),
        expires: expires.map(|at| at as i64),
        http_only: flag("httpOnly"),
        secure: flag("secure"),
        same_site,
        partition: text("partitionKey").map(|site| (site, between)),
    })
}

impl From<Cookie> for SignInCookie {
    fn from(cookie: Cookie) -> Self {
        Self {
            name: cookie.name,
            value: Secret::new(cookie.value),
            domain: cookie.domain,
            path: cookie.path,
            expires: (!cookie.session).then_some(cookie.expires as i64),
            http_only: cookie.http_only,
            secure: cookie.secure,
            same_site: cookie.same_site,
            partition: cookie
                .partition_key
                .map(|key| (key.top_level_site, key.has_cross_site_ancestor)),
        }
    }
}

impl Browser {
    /// What this browser is signed in to the app with.
    ///
    /// # Errors
    /// The browser is gone or does not answer.
    pub async fn sign_in(&self, app: &Origin) -> Result<SignIn, BrowserError> {
        let jar = self.inner.root.run(GetCookies {}, ASKING).await;
        let jar = jar.map_err(|e| wire_error("Storage.getCookies", e))?;
        let cookies: Vec<SignInCookie> = jar.cookies.into_iter().map(Into::into).collect();
        let cookies = cookies.into_iter().filter(|cookie| cookie.is_of(app)).collect();
        let items = match self.items_of_a_shown_page(app).await {
            Some(items) => items,
            None => self.items_of_a_stand_in(app).await?,
        };
        let pairs = items.entries.into_iter().filter_map(|entry| {
            let [key, value] = <[String; 2]>::try_from(entry).ok()?;
            Some((key, Secret::new(value)))
        });
        Ok(SignIn { cookies, local_storage: pairs.collect() })
    }

    /// The local storage as a page of the app sees it. What that page wrote last may not have reached others yet.
    async fn items_of_a_shown_page(&self, app: &Origin) -> Option<Items> {
        let shows = |tab: &Arc<Tab>| tab.state().top_origin().named_as() == Some(app);
        let tab = self.inner.all_tabs().into_iter().find(shows)?;
        let origin = app.to_string();
        tab.session.run(GetItems { storage_id: local(&origin) }, ASKING).await.ok()
    }

    async fn items_of_a_stand_in(&self, app: &Origin) -> Result<Items, BrowserError> {
        let stand_in = StandIn::open(self, app).await?;
        let origin = app.to_string();
        let items = stand_in.tab.session.run(GetItems { storage_id: local(&origin) }, ASKING).await;
        stand_in.close(self).await;
        items.map_err(|e| wire_error("DOMStorage.getDOMStorageItems", e))
    }

    /// Signs this browser in to the app, before it is opened. What is there already stays where the
    /// sign-in says nothing of it.
    ///
    /// # Errors
    /// Something in it is not the app's, or the browser does not take it.
    pub async fn set_sign_in(&self, app: &Origin, sign_in: &SignIn) -> Result<(), BrowserError> {
        if let Some(foreign) = sign_in.cookies.iter().find(|cookie| !cookie.is_of(app)) {
            return Err(BrowserError::SignIn {
                what: format!("the cookie {} is not sent to {app}", foreign.name),
            });
        }
        let origin = app.to_string();
        let url = format!("{origin}/");
        if !sign_in.cookies.is_empty() {
            let cookies: Vec<CookieParam<'_>> =
                sign_in.cookies.iter().map(|cookie| param(cookie, &url)).collect();
            let set = self.inner.root.run(SetCookies { cookies: &cookies }, ASKING).await;
            set.map_err(|e| wire_error("Storage.setCookies", e))?;
        }
        if sign_in.local_storage.is_empty() {
            return Ok(());
        }
        let stand_in = StandIn::open(self, app).await?;
        let mut done = Ok(());
        for (key, value) in &sign_in.local_storage {
            let item = SetItem { storage_id: local(&origin), key, value: value.expose() };
            done = stand_in
                .tab
                .session
                .run(item, ASKING)
                .await
                .map(drop)
                .map_err(|e| wire_error("DOMStorage.setDOMStorageItem", e));
            if done.is_err() {
                break;
            }
        }
        stand_in.close(self).await;
        done
    }

    /// Forgets the local storage of the app's origin.
    ///
    /// # Errors
    /// The browser is gone or does not answer.
    pub async fn forget_local_storage(&self, app: &Origin) -> Result<(), BrowserError> {
        let origin = app.to_string();
        let stand_in = StandIn::open(self, app).await?;
        let cleared =
            stand_in.tab.session.run(ClearItems { storage_id: local(&origin) }, ASKING).await;
        stand_in.close(self).await;
        cleared.map(drop).map_err(|e| wire_error("DOMStorage.clear", e))
    }
}

fn local(origin: &str) -> StorageId<'_> {
    StorageId { security_origin: origin, is_local_storage: true }
}

fn param<'a>(cookie: &'a SignInCookie, url: &'a str) -> CookieParam<'a> {
    let whole_domain = cookie.domain.starts_with('.');
    CookieParam {
        name: &cookie.name,
        value: cookie.value.expose(),
        url: (!whole_domain).then_some(url),
        domain: whole_domain.then_some(&cookie.domain),
        path: &cookie.path,
        secure: cookie.secure,
        http_only: cookie.http_only,
        same_site: cookie.same_site.as_deref(),
        expires: cookie.expires.map(|at| at as f64),
        partition_key: cookie.partition.as_ref().map(|(site, between)| PartitionKey {
            top_level_site: site.clone(),
            has_cross_site_ancestor: *between,
        }),
    }
}

/// An empty page of the app's origin in a tab of its own. The app's server is not asked for it: storage is
/// reached only from a page of its origin.
struct StandIn {
    tab: Arc<Tab>,
}

/// Where it seems to be.
const STAND_IN_PATH: &str = "/.well-known/reins-empty";

impl StandIn {
    async fn open(browser: &Browser, app: &Origin) -> Result<Self, BrowserError> {
        let until = Instant::now() + ASKING;
        let tab = browser.inner.create_tab(until).await?;
        let stand_in = Self { tab };
        let url = format!("{app}{STAND_IN_PATH}");
        stand_in.tab.state().stand_in = Some(url.clone());
        let went = stand_in
            .tab
            .session
            .run(Navigate { url: &url, ..Navigate::default() }, ASKING)
            .await
            .map_err(|e| wire_error("Page.navigate", e));
        let failed = match went {
            Ok(went) => match went.error_text.filter(|text| !text.is_empty()) {
                None => return Ok(stand_in),
                Some(text) => BrowserError::SignIn {
                    what: format!("an empty page of {app} could not be shown ({text})"),
                },
            },
            Err(error) => error,
        };
        stand_in.close(browser).await;
        Err(failed)
    }

    async fn close(self, browser: &Browser) {
        let close = CloseTarget { target_id: self.tab.id.as_str() };
        if let Err(error) = browser.inner.root.run(close, ARMING).await {
            tracing::debug!(%error, "a tab was gone before it was closed");
            return;
        }
        // Whoever lists the tabs next must not see it any more.
        let closed = self.tab.until(Instant::now() + ARMING, |state| state.closed.then_some(()));
        if closed.await.is_none() {
            tracing::debug!("a tab takes long to close");
        }
    }
}

/// Answers a request for the empty page.
pub(crate) fn stand_in(session: &Session, request: &str) {
    let headers = vec![
        HeaderOut { name: "Content-Type", value: "text/html" },
        // Whatever a service worker or a cache would make of it, nothing runs here.
        HeaderOut { name: "Content-Security-Policy", value: "default-src 'none'" },
        HeaderOut { name: "Cache-Control", value: "no-store" },
    ];
    let answer = FulfillRequest {
        request_id: request,
        response_code: 200,
        response_headers: Some(headers),
        body: Some(""),
    };
    drop(session.post(answer, ARMING));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(domain: &str, secure: bool, partition: Option<&str>) -> SignInCookie {
        SignInCookie {
            name: "a".into(),
            value: Secret::new("v".into()),
            domain: domain.into(),
            path: "/".into(),
            expires: None,
            http_only: false,
            secure,
            same_site: None,
            partition: partition.map(|site| (site.to_owned(), false)),
        }
    }

    /// S-029: only what the app's host is sent, by host, connection and partition.
    #[test]
    fn s029_a_cookie_is_the_apps_if_its_host_is_sent_it() {
        for (app, domain, secure, partition, own) in [
            ("https://app.example.com", "app.example.com", true, None, true),
            ("https://app.example.com", ".example.com", false, None, true),
            ("https://app.example.com", ".app.example.com", false, None, true),
            ("https://app.example.com", "example.com", false, None, false),
            ("https://app.example.com", ".pp.example.com", false, None, false),
            ("https://app.example.com", "other.example.com", false, None, false),
            ("http://app.example.com", "app.example.com", true, None, false),
            ("http://localhost:3000", "localhost", true, None, true),
            ("http://127.0.0.1:3000", "127.0.0.1", true, None, true),
            ("http://127.0.0.1:3000", ".0.0.1", false, None, false),
            ("https://a.example.com", "a.example.com", true, Some("https://example.com"), true),
            ("https://a.example.com", "a.example.com", true, Some("https://else.org"), false),
        ] {
            let app = Origin::parse(app).unwrap();
            assert_eq!(cookie(domain, secure, partition).is_of(&app), own, "{app} {domain}");
        }
    }

    /// S-028, S-029: the form is Playwright's; what is not the app's is left out; no value is printed.
    #[test]
    fn s028_s029_the_saved_form_holds_the_apps_own_only() {
        let app = Origin::parse("https://app.example.com").unwrap();
        let text = json!({
            "cookies": [
                {"name": "sid", "value": "s3cret", "domain": "app.example.com", "path": "/", "expires": 1900000000.5,
                 "httpOnly": true, "secure": true, "sameSite": "Lax"},
                {"name": "part", "value": "p", "domain": ".example.com", "path": "/x", "expires": -1,
                 "partitionKey": "https://example.com", "_crHasCrossSiteAncestor": true},
                {"name": "foreign", "value": "f", "domain": "bank.example", "path": "/"},
            ],
            "origins": [
                {"origin": "https://app.example.com", "localStorage": [{"name": "token", "value": "t0ken"}]},
                {"origin": "https://bank.example", "localStorage": [{"name": "x", "value": "y"}]},
            ],
        });
        let text = Secret::new(text.to_string());
        let (read, left_out) = SignIn::from_json(&text, &app).unwrap();
        assert_eq!((read.cookies.len(), read.local_storage.len(), left_out), (2, 1, 2));
        assert_eq!(read.cookies[0].expires, Some(1_900_000_000));
        assert_eq!(read.cookies[1].partition, Some(("https://example.com".into(), true)));
        let again = SignIn::from_json(&read.expose_json(&app), &app).unwrap();
        assert_eq!(again, (read.clone(), 0));
        let printed = format!("{read:?}");
        assert!(!printed.contains("s3cret") && !printed.contains("t0ken"), "{printed}");
        for wrong in ["", "[", r#"{"cookies": 1}"#, r#"{"cookies": [{"name": "a"}]}"#] {
            let error = SignIn::from_json(&Secret::new(wrong.into()), &app).unwrap_err();
            assert_eq!(error.code(), "sign_in", "{wrong}");
        }
    }
}
