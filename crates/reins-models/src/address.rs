//! Base addresses of model servers.

use crate::error::AddressError;
use crate::provider::Format;
use std::fmt;
use url::{Host, Url};

/// A checked base address: https, or http on this machine; no credentials, query or fragment
/// . Never ends in a slash or in a request path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BaseUrl(Url);

/// Request paths that people paste along with the base; longest first.
const CHAT_PATHS: [&str; 4] = ["/chat/completions", "/completions", "/responses", "/models"];
const MESSAGES_PATHS: [&str; 4] = ["/v1/messages", "/v1/models", "/messages", "/v1"];
const GEMINI_PATHS: [&str; 5] = ["/chat/completions", "/openai", "/models", "/v1beta", "/v1"];

/// Where everyone's own server is at Azure, and the one path below which it speaks the usual formats.
const AZURE_HOSTS: [&str; 3] =
    [".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"];
const AZURE_PATH: &str = "/openai/v1";

impl BaseUrl {
    /// Checks and normalizes an address. Doing it again changes nothing.
    pub fn parse(text: &str, format: Format) -> Result<Self, AddressError> {
        let text = text.trim();
        let shown = || text.to_owned();
        let mut url = Url::parse(text).map_err(|_| AddressError::NotAbsolute(hide(text)))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::HoldsCredentials);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(AddressError::HoldsQuery);
        }
        match (url.scheme(), url.host()) {
            (_, None) => return Err(AddressError::NotAbsolute(shown())),
            ("https", Some(_)) => {}
            ("http", Some(host)) if is_this_machine(&host) => {}
            ("http", Some(_)) => return Err(AddressError::NotEncrypted(shown())),
            _ => return Err(AddressError::NotAbsolute(shown())),
        }
        let mut path = url.path().trim_end_matches('/').to_owned();
        let pasted: &[&str] = match format {
            Format::Chat | Format::Responses => &CHAT_PATHS,
            Format::Messages => &MESSAGES_PATHS,
            Format::Gemini => &GEMINI_PATHS,
        };
        // As in `…/models/gemini:generateContent`.
        if let (Format::Gemini, Some(at)) = (format, path.rfind("/models/"))
            && path[at..].contains(':')
        {
            path.truncate(at);
        }
        while let Some(end) = pasted.iter().find(|end| path.ends_with(**end)) {
            path.truncate(path.len() - end.len());
            path.truncate(path.trim_end_matches('/').len());
        }
        let is_openai = matches!(format, Format::Chat | Format::Responses);
        if is_openai && url.host_str().is_some_and(is_azure) {
            // Also in place of the older paths, which hold the model and want a version besides.
            AZURE_PATH.clone_into(&mut path);
        }
        url.set_path(&path);
        Ok(Self(url))
    }

    /// The address of a request: this base and a path that starts with a slash, maybe with a query.
    pub fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        let (path, query) = path.split_once('?').map_or((path, None), |(p, q)| (p, Some(q)));
        url.set_query(query);
        url.set_path(&format!("{}{path}", self.0.path().trim_end_matches('/')));
        url
    }

    /// The host, as in a URL.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Whether it names this machine.
    pub fn is_local(&self) -> bool {
        self.0.host().is_some_and(|host| is_this_machine(&host))
    }

    /// Whether it has no path at all, as when a person left out the usual `/v1`.
    pub fn is_bare(&self) -> bool {
        self.0.path().trim_end_matches('/').is_empty()
    }

    /// Scheme, host and port: what a model list belongs to.
    pub fn server(&self) -> String {
        self.0[..url::Position::BeforePath].to_owned()
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

/// Whether a host is somebody's server at Azure.
pub(crate) fn is_azure(host: &str) -> bool {
    AZURE_HOSTS.iter().any(|end| host.ends_with(end))
}

fn is_this_machine(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

/// A text that is no address may still hold a password or key after `@` or `?`.
fn hide(text: &str) -> String {
    let end = text.find(['@', '?', '#']).unwrap_or(text.len());
    if end < text.len() { "…".to_owned() } else { text.chars().take(200).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(text: &str) -> Result<String, AddressError> {
        BaseUrl::parse(text, Format::Chat).map(|base| base.to_string())
    }

    /// https, or http on this machine only.
    #[test]
    fn r016_r217_https_or_this_machine() {
        for good in [
            "https://api.example.com/v1",
            "http://localhost:11434/v1",
            "http://127.0.0.1:8080",
            "http://127.9.9.9:1/v1",
            "http://[::1]:8080/v1",
            "http://models.localhost/v1",
        ] {
            assert_eq!(chat(good).as_deref(), Ok(good));
        }
        for bad in
            ["http://192.168.1.5:8080/v1", "http://api.example.com", "http://localhost.evil.com"]
        {
            assert_eq!(chat(bad), Err(AddressError::NotEncrypted(bad.to_owned())));
        }
        for bad in ["ftp://x/v1", "file:///etc", "api.example.com/v1", "", "https://"] {
            assert!(matches!(chat(bad), Err(AddressError::NotAbsolute(_))), "{bad}");
        }
    }

    /// no credentials, query or fragment; and the refusal does not repeat them.
    #[test]
    fn r017_nothing_secret_in_an_address() {
        for (bad, error) in [
            ("https://me:hunter2@example.com/v1", AddressError::HoldsCredentials),
            ("https://me@example.com/v1", AddressError::HoldsCredentials),
            ("https://example.com/v1?key=hunter2", AddressError::HoldsQuery),
            ("https://example.com/v1#hunter2", AddressError::HoldsQuery),
            ("https//me:hunter2@example.com", AddressError::NotAbsolute("…".to_owned())),
        ] {
            let got = chat(bad).expect_err(bad);
            assert!(!got.to_string().contains("hunter2"), "{got}");
            assert_eq!(got, error);
        }
    }

    /// pasted request paths are taken off, and normalizing again changes nothing.
    #[test]
    fn r027_pasted_paths() {
        for (format, pasted, base) in [
            (Format::Chat, "https://h/v1/chat/completions", "https://h/v1"),
            (Format::Chat, " https://h/v1/chat/completions/ ", "https://h/v1"),
            (Format::Chat, "https://h/api/v1/", "https://h/api/v1"),
            (Format::Chat, "https://h/v1/models", "https://h/v1"),
            (Format::Chat, "https://h/v1/responses", "https://h/v1"),
            (Format::Chat, "https://h/", "https://h"),
            (Format::Messages, "https://h/v1/messages", "https://h"),
            (Format::Messages, "https://h/v1", "https://h"),
            (Format::Messages, "https://h/proxy/v1/messages", "https://h/proxy"),
            (Format::Responses, "https://h/v1/responses", "https://h/v1"),
            (Format::Gemini, "https://h/v1beta", "https://h"),
            (Format::Gemini, "https://h/v1beta/openai/chat/completions", "https://h"),
            (Format::Gemini, "https://h/p/v1beta/models/g-3:streamGenerateContent", "https://h/p"),
            (Format::Chat, "https://a.openai.azure.com", "https://a.openai.azure.com/openai/v1"),
            (
                Format::Chat,
                "https://openai.azure.com.evil.com",
                "https://openai.azure.com.evil.com",
            ),
        ] {
            let once = BaseUrl::parse(pasted, format).expect(pasted);
            assert_eq!(once.to_string(), base);
            let again = BaseUrl::parse(&once.to_string(), format).expect(base);
            assert_eq!(again, once);
        }
        let base = BaseUrl::parse("https://h/v1", Format::Chat).expect("base");
        assert_eq!(base.join("/chat/completions").as_str(), "https://h/v1/chat/completions");
        let bare = BaseUrl::parse("https://h", Format::Messages).expect("base");
        assert_eq!(bare.join("/v1/messages").as_str(), "https://h/v1/messages");
    }
}
