//! One Chromium with the dashboard in it: a person's keys and pointer, and what the page then is.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

use crate::api::Api;
use reins_cdp::testing::{Chromium, chrome};
use reins_cdp::{Connection, Events, Session};
use serde_json::{Value, json};
use std::ops::Deref;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

/// Less than a call's deadline, so that what the page shows instead can still be told.
const PATIENCE: Duration = Duration::from_secs(40);

/// The fastest change of a page that a test waits for is a picture away.
const UNTIL: &str = "(async () => { for (;;) { const found = (() => EXPRESSION)(); if (found) return found; \
     await new Promise(requestAnimationFrame) } })()";

/// The dashboard in a Chromium of its own, and the scripted daemon behind it.
pub(crate) struct Dashboard {
    pub(crate) api: Api,
    page: Page,
}

impl Dashboard {
    /// Opens the daemon's one-time link and waits for the page behind it.
    pub(crate) async fn open(place: &str) -> Self {
        Self::with(Api::start().await, place).await
    }

    pub(crate) async fn with(api: Api, place: &str) -> Self {
        let dashboard = Self::unsigned(api, "/#code=one-time").await;
        dashboard.until("document.querySelector('nav')").await;
        if !place.is_empty() {
            dashboard.go(place).await;
        }
        dashboard
    }

    /// A page of the daemon for nobody yet.
    pub(crate) async fn unsigned(api: Api, path: &str) -> Self {
        let page = Page::open(&api.url(path)).await;
        Self { api, page }
    }
}

impl Deref for Dashboard {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

/// A page in a Chromium, with a person before it.
pub(crate) struct Page {
    session: Session,
    requests: std::sync::Mutex<Events>,
    _chromium: Chromium,
}

impl Page {
    pub(crate) async fn open(url: &str) -> Self {
        let chromium = Chromium::start(&chrome().expect("a Chromium: set CHROME")).await.unwrap();
        let connection = Connection::websocket(&chromium.url(), LONG).await.unwrap();
        let root = connection.root();
        let new = json!({"url": "about:blank"});
        let target: Value = root.call("Target.createTarget", new, LONG).await.unwrap();
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached: Value = root.call("Target.attachToTarget", attach, LONG).await.unwrap();
        let session = connection.session(attached["sessionId"].as_str().unwrap());
        let requests = session.events(&["Network.requestWillBeSent", "Network.webSocketCreated"]);
        for method in ["Page.enable", "Runtime.enable", "Network.enable", "DOM.enable"] {
            let _: Value = session.call(method, json!({}), LONG).await.unwrap();
        }
        let page = Self { session, requests: std::sync::Mutex::new(requests), _chromium: chromium };
        // Headless pages have the focus only if they are told so.
        page.call("Emulation.setFocusEmulationEnabled", json!({"enabled": true})).await;
        page.size(1280, 900).await;
        page.call("Page.navigate", json!({"url": url})).await;
        page.until("document.querySelector('h1')").await;
        page
    }

    pub(crate) async fn call(&self, method: &'static str, params: Value) -> Value {
        self.session.call(method, params, LONG).await.unwrap()
    }

    pub(crate) async fn size(&self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size).await;
    }

    pub(crate) async fn scheme(&self, scheme: &str) {
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        self.call("Emulation.setEmulatedMedia", json!({"features": [feature]})).await;
    }

    /// Goes to a place of the dashboard and waits until it was read.
    pub(crate) async fn go(&self, place: &str) {
        self.run(&format!("location.hash = {}", json!(place))).await;
        self.until(&format!(
            "location.hash === {} && document.querySelector('h1') && !document.querySelector('main > .quiet[role=status]')",
            json!(place)
        ))
        .await;
    }

    pub(crate) async fn run(&self, expression: &str) -> Value {
        let run = json!({"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true});
        let answer = self.call("Runtime.evaluate", run).await;
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true, and answers it.
    pub(crate) async fn until(&self, expression: &str) -> Value {
        let text = expression.replace('\n', " ");
        match tokio::time::timeout(PATIENCE, self.run(&UNTIL.replace("EXPRESSION", &text))).await {
            Ok(value) => value,
            Err(_) => panic!(
                "never so: {expression}\n{}",
                self.run("document.body.innerText + ' focus ' + document.activeElement.outerHTML.slice(0, 200)").await
            ),
        }
    }

    /// Waits until the page shows a text.
    pub(crate) async fn shows(&self, text: &str) {
        self.until(&format!("document.body.innerText.includes({})", json!(text))).await;
    }

    pub(crate) async fn text(&self) -> String {
        self.run("document.body.innerText").await.as_str().unwrap().to_owned()
    }

    /// What has the focus: its accessible words, as far as they are its label or text.
    pub(crate) async fn focused(&self) -> String {
        let words = "(e => e.getAttribute('aria-label') || e.labels?.[0]?.innerText || e.innerText || e.localName)(document.activeElement)";
        self.run(words).await.as_str().unwrap().trim().to_owned()
    }

    /// One key press of the person.
    pub(crate) async fn key(&self, key: &str) {
        self.key_with(key, 0).await;
    }

    pub(crate) async fn key_with(&self, key: &str, modifiers: u32) {
        let (code, number, text) = match key {
            "Tab" => ("Tab", 9, ""),
            "Enter" => ("Enter", 13, "\r"),
            "Escape" => ("Escape", 27, ""),
            " " => ("Space", 32, " "),
            letter => ("KeyA", 65, letter),
        };
        let mut press = json!({"type": "keyDown", "key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers});
        if !text.is_empty() && modifiers == 0 {
            press["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", press.clone()).await;
        press["type"] = json!("keyUp");
        press.as_object_mut().unwrap().remove("text");
        self.call("Input.dispatchKeyEvent", press).await;
    }

    /// Where an element is: left, top, width, height.
    pub(crate) async fn place(&self, selector: &str) -> [f64; 4] {
        let place = format!(
            "(e => {{ e.scrollIntoView({{block: 'nearest'}}); const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height] }})(document.querySelector({}))",
            json!(selector)
        );
        serde_json::from_value(self.run(&place).await).unwrap()
    }

    pub(crate) async fn pointer(&self, kind: &str, x: f64, y: f64, clicks: u32) {
        let buttons = u32::from(kind == "mousePressed");
        let event = json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": clicks});
        self.call("Input.dispatchMouseEvent", event).await;
    }

    /// A click of the person at the middle of an element.
    pub(crate) async fn click(&self, selector: &str) {
        let [left, top, width, height] = self.place(selector).await;
        let (x, y) = (left + width / 2.0, top + height / 2.0);
        self.pointer("mouseMoved", x, y, 0).await;
        self.pointer("mousePressed", x, y, 1).await;
        self.pointer("mouseReleased", x, y, 1).await;
    }

    /// A click of the person on the button with this text.
    pub(crate) async fn press(&self, text: &str) {
        let mark = format!(
            "(() => {{ document.querySelectorAll('[data-pressed]').forEach(e => delete e.dataset.pressed); \
             const b = [...document.querySelectorAll('button, a, summary')].find(b => b.innerText.trim().replace(/\\s+/g, ' ') === {} && !b.disabled); \
             if (!b) return false; b.dataset.pressed = ''; return true }})()",
            json!(text)
        );
        self.until(&mark).await;
        self.click("[data-pressed]").await;
    }

    /// Every address that the page asked for since it was opened.
    pub(crate) fn asked(&self) -> Vec<String> {
        let mut asked = Vec::new();
        let mut requests = self.requests.lock().unwrap();
        while let Some(event) = requests.try_next() {
            let params: Value = event.parse().unwrap();
            let url = params["request"]["url"].as_str().or(params["url"].as_str());
            asked.push(url.unwrap().to_owned());
        }
        asked
    }
}
