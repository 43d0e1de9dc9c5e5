//! Counters in Prometheus' text form. They are of the whole daemon and name no tenant.

use crate::app::App;
use crate::session::lock;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;

/// What is counted.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    counts: Mutex<BTreeMap<(&'static str, String), u64>>,
}

const STARTS: &str = "reins_browser_starts_total";
const ENDS: &str = "reins_browser_ends_total";
const MINUTES: &str = "reins_browser_minutes_total";
const CALLS: &str = "reins_tool_calls_total";
const REQUESTS: &str = "reins_http_requests_total";
const SANDBOXES: &str = "reins_sandboxes";
const BROWSERS: &str = "reins_browsers";

/// Name, kind and meaning of each, in the order in which they are shown.
const ABOUT: &[(&str, &str, &str)] = &[
    (STARTS, "counter", "Browser starts by how they went."),
    (ENDS, "counter", "Browser ends by reason."),
    (MINUTES, "counter", "Browser minutes, rounded up for each browser."),
    (CALLS, "counter", "Tool calls by tool and outcome."),
    (REQUESTS, "counter", "HTTP answers by status."),
];

impl Metrics {
    fn add(&self, name: &'static str, labels: String, by: u64) {
        *lock(&self.counts).entry((name, labels)).or_default() += by;
    }

    /// A browser started, or did not.
    pub(crate) fn started(&self, well: bool) {
        self.add(STARTS, format!("outcome=\"{}\"", if well { "started" } else { "failed" }), 1);
    }

    /// A browser ended.
    pub(crate) fn ended(&self, reason: &'static str, minutes: u64) {
        self.add(ENDS, format!("reason=\"{reason}\""), 1);
        self.add(MINUTES, String::new(), minutes);
    }

    /// A tool call ended. Names and outcomes are from closed lists.
    pub(crate) fn call(&self, tool: &str, outcome: &str) {
        self.add(CALLS, format!("tool=\"{tool}\",outcome=\"{outcome}\""), 1);
    }

    /// A request was answered.
    pub(crate) fn answered(&self, status: u16) {
        self.add(REQUESTS, format!("status=\"{status}\""), 1);
    }

    /// Everything as text.
    pub(crate) fn text(&self, app: &App, sandboxes: usize) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        for (name, about, value) in [
            (SANDBOXES, "Sandboxes that are kept.", sandboxes),
            (BROWSERS, "Browsers that run.", app.running().len()),
        ] {
            let _ = writeln!(text, "# HELP {name} {about}\n# TYPE {name} gauge\n{name} {value}");
        }
        let counts = lock(&self.counts);
        for (name, kind, about) in ABOUT {
            let _ = writeln!(text, "# HELP {name} {about}\n# TYPE {name} {kind}");
            for ((_, labels), count) in counts.iter().filter(|((of, _), _)| of == name) {
                let _ = match labels.as_str() {
                    "" => writeln!(text, "{name} {count}"),
                    labels => writeln!(text, "{name}{{{labels}}} {count}"),
                };
            }
        }
        text
    }
}
