//! One browser with one page, driven by bare protocol calls; the script is the product's own.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use reins_cdp::testing::{Chromium, chrome};
use reins_cdp::{Connection, Session};
use reins_core::{DocumentId, DocumentOrigin, FrameId, Origin, TabId, TargetRecord};
use reins_page::{
    CaptureOptions, FrameCapture, FrameMeta, PrivateSnapshot, PublishOptions, RefRegistry, SCRIPT,
    WORLD, assemble, needs, parse_capture, record,
};
use reins_testing::{Page, Site};
use serde_json::{Value, json};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(30);

pub(crate) struct World {
    pub(crate) site: Site,
    session: Session,
    context: i64,
    _chromium: Chromium,
}

impl World {
    /// Opens a page with this body and waits until it has loaded.
    pub(crate) async fn open(body: &str) -> Self {
        let site = Site::start([("/", Page::html(body))]).await.unwrap();
        let chromium = Chromium::start(&chrome().expect("a Chromium: set CHROME")).await.unwrap();
        let connection = Connection::websocket(&chromium.url(), LONG).await.unwrap();
        let root = connection.root();
        let new = json!({"url": "about:blank"});
        let target: Value = root.call("Target.createTarget", new, LONG).await.unwrap();
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached: Value = root.call("Target.attachToTarget", attach, LONG).await.unwrap();
        let session = connection.session(attached["sessionId"].as_str().unwrap());
        let mut world = Self { site, session, context: 0, _chromium: chromium };
        for method in ["Page.enable", "DOM.enable", "Runtime.enable"] {
            let _: Value = world.session.call(method, json!({}), LONG).await.unwrap();
        }
        let script = json!({"source": SCRIPT, "worldName": WORLD, "runImmediately": true});
        world.call("Page.addScriptToEvaluateOnNewDocument", script).await;
        world.go("/").await;
        world
    }

    /// Loads another page of the site, or the same one again.
    pub(crate) async fn go(&mut self, path: &str) {
        let mut events =
            self.session.events(&["Page.loadEventFired", "Runtime.executionContextCreated"]);
        let url = self.site.url(path);
        self.call("Page.navigate", json!({ "url": url })).await;
        let mut seen = None;
        loop {
            let event = events.next().await.expect("the browser is there");
            let params: Value = event.parse().unwrap();
            if event.method() == "Runtime.executionContextCreated" {
                let context = &params["context"];
                if context["name"] == WORLD && context["origin"] != "://" {
                    seen = context["id"].as_i64().or(seen);
                }
            } else if let Some(context) = seen {
                self.context = context;
                return;
            }
        }
    }

    pub(crate) async fn call(&self, method: &'static str, params: Value) -> Value {
        self.session.call(method, params, LONG).await.unwrap()
    }

    /// Runs an expression in the page's own world.
    pub(crate) async fn page(&self, expression: &str) -> Value {
        let run = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", run).await;
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Runs a function in the script's world.
    pub(crate) async fn ours(&self, function: &str, arguments: &[Value]) -> Value {
        let arguments: Vec<Value> =
            arguments.iter().map(|value| json!({ "value": value })).collect();
        let run = json!({"functionDeclaration": function, "executionContextId": self.context,
            "arguments": arguments, "returnByValue": true});
        let answer = self.call("Runtime.callFunctionOn", run).await;
        assert!(answer.get("exceptionDetails").is_none(), "{function}: {answer}");
        answer["result"]["value"].clone()
    }

    fn meta(&self) -> FrameMeta {
        let url = self.site.url("/");
        FrameMeta {
            frame: FrameId::new("main"),
            document: DocumentId::new("document"),
            origin: DocumentOrigin::Web(Origin::parse(&url).unwrap()),
            url,
            owner: None,
        }
    }

    /// The raw text that the script hands over, closed roots fetched as [`needs`] tells.
    pub(crate) async fn raw(&self, options: &CaptureOptions) -> String {
        let argument: Value = serde_json::from_str(&options.to_json()).unwrap();
        let mut json = String::new();
        for _ in 0..needs::ROUNDS {
            let captured = self.ours(needs::CAPTURE, std::slice::from_ref(&argument)).await;
            json = captured.as_str().unwrap().to_owned();
            let capture = parse_capture(self.meta(), &json).unwrap();
            let found = self.call("DOM.performSearch", json!({"query": "<"})).await;
            let found = u32::try_from(found["resultCount"].as_u64().unwrap()).unwrap();
            let excess = needs::excess(found, &[capture.searchable()]);
            if excess == Some(0) || self.adopt(excess).await == 0 {
                break;
            }
        }
        json
    }

    async fn adopt(&self, excess: Option<u32>) -> u64 {
        let run = json!({"functionDeclaration": needs::SUSPECTS, "executionContextId": self.context,
            "arguments": [{"value": excess.map_or(-1, i64::from)}],
            "serializationOptions": needs::serialization()});
        let listed = self.call("Runtime.callFunctionOn", run).await;
        let mut roots = Vec::new();
        for id in needs::closed_roots(&listed.to_string()) {
            let resolve = json!({"backendNodeId": id, "executionContextId": self.context});
            let root = self.call("DOM.resolveNode", resolve).await;
            roots.push(json!({"objectId": root["object"]["objectId"]}));
        }
        if roots.is_empty() {
            return 0;
        }
        let run = json!({"functionDeclaration": needs::ADOPT, "executionContextId": self.context,
            "arguments": roots, "returnByValue": true});
        self.call("Runtime.callFunctionOn", run).await["result"]["value"].as_u64().unwrap()
    }

    pub(crate) async fn capture(&self, options: &CaptureOptions) -> FrameCapture {
        parse_capture(self.meta(), &self.raw(options).await).unwrap()
    }

    pub(crate) async fn snapshot(&self, options: &CaptureOptions) -> PrivateSnapshot {
        let capture = self.capture(options).await;
        let (url, title) = (self.site.url("/"), capture.title.clone());
        assemble(TabId::new("tab"), url, title, vec![capture], Vec::new())
    }

    /// The lines as a model first sees them; the site's changing address is left out.
    pub(crate) async fn lines(&self) -> String {
        let snapshot = self.snapshot(&CaptureOptions::bounded(8_192)).await;
        let shown = RefRegistry::new().publish(&snapshot, &PublishOptions::default());
        shown.text.replace(&format!(":{}", self.site.port()), ":PORT")
    }

    /// The number of the first element that matches in the page.
    pub(crate) async fn number(&self, selector: &str) -> u32 {
        let function = "selector => __reins.number(document.querySelector(selector))";
        let number = self.ours(function, &[json!(selector)]).await;
        u32::try_from(number.as_u64().unwrap()).unwrap()
    }

    pub(crate) async fn record(&self, selector: &str) -> TargetRecord {
        let number = self.number(selector).await;
        let facts = self.ours(needs::FACTS, &[json!(number)]).await;
        let meta = self.meta();
        record(&TabId::new("tab"), &meta, &meta.origin, facts.as_str().unwrap()).unwrap()
    }
}
