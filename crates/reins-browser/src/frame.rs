//! The frames of a tab, across processes, with the browser's exact ids.

use crate::protocol::page::Frame as WireFrame;
use reins_cdp::Session;
use reins_core::{DocumentId, DocumentOrigin, FrameId, NodeNumber, Origin};
use std::sync::Arc;
use url::Url;

/// One frame. It survives navigations; its document does not.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) id: FrameId,
    pub(crate) parent: Option<FrameId>,
    /// The session of the process that holds the frame's document.
    pub(crate) session: Session,
    pub(crate) document: Option<DocumentId>,
    pub(crate) url: String,
    pub(crate) origin: DocumentOrigin,
    /// It shows the browser's error page instead of its address.
    pub(crate) failed: bool,
    /// Its iframe element, as a number in that document of the parent.
    pub(crate) owner: Option<(DocumentId, NodeNumber)>,
    /// When a navigation was asked for that has neither begun nor been given up.
    pub(crate) scheduled: Option<Mark>,
    /// When loading began that has not ended.
    pub(crate) loading: Option<Mark>,
}

/// A position in the order of what happened to a tab.
pub(crate) type Mark = u64;

/// The script world of ours in one document.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) session: Session,
    /// Never reused, unlike `number`, which is only unique within one process.
    pub(crate) unique: Arc<str>,
    pub(crate) number: i64,
}

impl Frame {
    pub(crate) fn new(id: FrameId, parent: Option<FrameId>, session: Session) -> Self {
        Self {
            id,
            parent,
            session,
            document: None,
            url: String::new(),
            origin: DocumentOrigin::ScriptBuilt,
            failed: false,
            owner: None,
            scheduled: None,
            loading: None,
        }
    }

    /// Takes over what the browser says of the frame's document. Whether it is another one.
    pub(crate) fn show(&mut self, wire: &WireFrame, session: &Session) -> bool {
        let fresh = DocumentId::new(wire.loader_id.as_str());
        let replaced = self.document.as_ref() != Some(&fresh);
        self.document = Some(fresh);
        self.session = session.clone();
        self.failed = wire.unreachable_url.is_some();
        self.url = match &wire.unreachable_url {
            // The browser's own error page stands for what could not be loaded.
            Some(url) => url.clone(),
            None => format!("{}{}", wire.url, wire.url_fragment.as_deref().unwrap_or_default()),
        };
        self.origin = origin_of(&wire.url, &wire.security_origin);
        replaced
    }
}

/// Where a document comes from, by its address alone.
pub fn document_origin(url: &str) -> DocumentOrigin {
    let Ok(parsed) = Url::parse(url) else { return DocumentOrigin::ScriptBuilt };
    match (Origin::of(&parsed), parsed.scheme()) {
        (Some(origin), _) => DocumentOrigin::Web(origin),
        (None, "about" | "data" | "blob" | "javascript") => DocumentOrigin::ScriptBuilt,
        (None, _) => DocumentOrigin::Browser,
    }
}

/// A document that the browser gives no web origin although its address has one is sandboxed.
fn origin_of(url: &str, security_origin: &str) -> DocumentOrigin {
    match document_origin(url) {
        DocumentOrigin::Web(origin) if Origin::parse(security_origin).is_err() => {
            DocumentOrigin::Sandboxed(origin)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r154_only_a_web_document_that_is_not_sandboxed_can_be_named() {
        let web = "http://a.example/x";
        for (url, security, named) in [
            (web, "http://a.example", true),
            (web, "://", false),
            (web, "null", false),
            ("about:blank", "http://a.example", false),
            ("about:srcdoc", "http://a.example", false),
            ("data:text/html,x", "null", false),
            ("blob:http://a.example/1", "http://a.example", false),
            ("chrome-error://chromewebdata/", "://", false),
            ("chrome://settings/", "chrome://settings", false),
            ("", "://", false),
        ] {
            assert_eq!(origin_of(url, security).named_as().is_some(), named, "{url} {security}");
        }
        assert_eq!(document_origin("chrome-error://chromewebdata/"), DocumentOrigin::Browser);
    }
}
