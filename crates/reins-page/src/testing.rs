//! For tests: captures written as a little HTML.
//!
//! Beside ordinary attributes an element can carry facts: `:flags="pointer invisible"` (names of
//! [`Flags`]), `:display=inline-block`, `:box="x y w h"`, `:value=…`, `:secret=password`, `:gap=12` (12
//! more siblings after it), `:off` (not on screen). Ids and labels are resolved as the script does.

use crate::capture::{FrameCapture, FrameMeta, parse_capture};
use crate::keys::Key;
use crate::registry::{PublishOptions, RefRegistry};
use crate::snapshot::{PrivateSnapshot, assemble};
use reins_core::{DocumentId, DocumentOrigin, FrameId, NodeKey, NodeNumber, Origin, TabId};
use serde_json::{Value, json};
use std::collections::HashMap;

pub(crate) const URL: &str = "https://shop.example/list?q=1";

#[derive(Default)]
struct Node {
    tag: String,
    attributes: Vec<(String, String)>,
    text: String,
    children: Vec<usize>,
}

struct Html {
    nodes: Vec<Node>,
    number_base: u32,
}

const VOID: &[&str] = &["input", "img", "br", "hr", "wbr", "area", "iframe"];

impl Html {
    fn parse(html: &str, number_base: u32) -> Self {
        let mut nodes = vec![Node { tag: "body".into(), ..Node::default() }];
        let mut open = vec![0];
        let mut rest = html;
        while !rest.is_empty() {
            let top = *open.last().expect("the body stays open");
            if let Some(after) = rest.strip_prefix("</") {
                let end = after.find('>').expect("a closed tag");
                assert_eq!(nodes[top].tag, after[..end], "tags close in order");
                open.pop();
                rest = &after[end + 1..];
            } else if let Some(after) = rest.strip_prefix('<') {
                let end = tag_end(after);
                let node = Self::element(&after[..end]);
                let void = VOID.contains(&node.tag.as_str());
                nodes.push(node);
                let at = nodes.len() - 1;
                nodes[top].children.push(at);
                if !void {
                    open.push(at);
                }
                rest = &after[end + 1..];
            } else {
                let end = rest.find('<').unwrap_or(rest.len());
                nodes.push(Node { text: rest[..end].to_owned(), ..Node::default() });
                let at = nodes.len() - 1;
                nodes[top].children.push(at);
                rest = &rest[end..];
            }
        }
        Self { nodes, number_base }
    }

    fn element(source: &str) -> Node {
        let (tag, mut rest) = source.split_once([' ', '\n']).unwrap_or((source, ""));
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                break;
            }
            let end = rest.find(['=', ' ', '\n']).unwrap_or(rest.len());
            let name = rest[..end].to_owned();
            rest = &rest[end..];
            let value = match rest.strip_prefix('=') {
                None => String::new(),
                Some(after) => match after.strip_prefix('"') {
                    Some(quoted) => {
                        let end = quoted.find('"').expect("a closed value");
                        rest = &quoted[end + 1..];
                        quoted[..end].to_owned()
                    }
                    None => {
                        let end = after.find([' ', '\n']).unwrap_or(after.len());
                        rest = &after[end..];
                        after[..end].to_owned()
                    }
                },
            };
            attributes.push((name, value));
        }
        Node { tag: tag.to_owned(), attributes, ..Node::default() }
    }

    fn attribute(&self, at: usize, name: &str) -> Option<&str> {
        let found = self.nodes[at].attributes.iter().find(|(have, _)| have == name);
        found.map(|(_, value)| value.as_str())
    }

    fn number(&self, at: usize) -> u32 {
        // A test about elements that change places numbers them itself.
        if let Some(number) = self.attribute(at, ":n") {
            return number.parse().expect("a number");
        }
        self.number_base + u32::try_from(at).expect("few nodes") + 1
    }

    fn by_id(&self, id: &str) -> Option<usize> {
        (0..self.nodes.len()).find(|at| self.attribute(*at, "id") == Some(id))
    }

    fn descendants(&self, at: usize) -> Vec<usize> {
        let mut all = Vec::new();
        for child in &self.nodes[at].children {
            all.push(*child);
            all.extend(self.descendants(*child));
        }
        all
    }

    fn labels(&self, control: usize) -> Vec<u32> {
        (0..self.nodes.len())
            .filter(|at| self.nodes[*at].tag == "label")
            .filter(|label| match self.attribute(*label, "for") {
                Some(id) => self.by_id(id) == Some(control),
                None => {
                    self.descendants(*label).into_iter().find(|at| is_control(&self.nodes[*at].tag))
                        == Some(control)
                }
            })
            .map(|label| self.number(label))
            .collect()
    }

    fn records(&self, at: usize, depth: usize, tags: &mut Vec<String>, out: &mut Vec<Value>) {
        let node = &self.nodes[at];
        if node.tag.is_empty() {
            out.extend([json!(-1), json!(depth), json!(node.text)]);
            return;
        }
        let tag = tags.iter().position(|tag| *tag == node.tag).unwrap_or_else(|| {
            tags.push(node.tag.clone());
            tags.len() - 1
        });
        let display = self.attribute(at, ":display").unwrap_or(default_display(&node.tag));
        let display = DISPLAYS.iter().position(|name| *name == display).expect("a display");
        let boxed = display != 1 && display != 3;
        let mut flags = u32::from(boxed);
        if self.attribute(at, ":off").is_none() {
            flags |= 1 << 1;
        }
        for name in self.attribute(at, ":flags").unwrap_or_default().split_whitespace() {
            flags |= 1 << flag_bit(name);
        }
        let number = self.number(at);
        out.extend([json!(tag), json!(depth), json!(number), json!(display), json!(flags)]);
        if boxed {
            let sides = self.attribute(at, ":box").unwrap_or("10 10 200 20");
            out.extend(sides.split(' ').map(|side| json!(side.parse::<i32>().expect("a side"))));
        }
        let facts = self.facts(at);
        out.push(json!(facts.len()));
        for (key, value) in facts {
            out.extend([json!(key), json!(value)]);
        }
        for child in &node.children {
            self.records(*child, depth + 1, tags, out);
        }
        if let Some(count) = self.attribute(at, ":gap") {
            out.extend([json!(-2), json!(depth), json!(count.parse::<i64>().expect("a count"))]);
        }
    }

    fn facts(&self, at: usize) -> Vec<(usize, String)> {
        let key = |name: &str| Key::ALL.iter().position(|key| key.name() == name);
        let mut facts = Vec::new();
        for (name, value) in &self.nodes[at].attributes {
            let (name, value) = match name.as_str() {
                ":value" => ("=value", value.clone()),
                ":secret" => ("=secret", value.clone()),
                ":before" => ("=before", format!("\"{value}\"")),
                ":submission" => ("=submission", value.replace("&quot;", "\"")),
                "aria-labelledby" | "aria-describedby" | "aria-errormessage" => {
                    let ids = value.split(' ').filter_map(|id| self.by_id(id));
                    let numbers: Vec<String> = ids.map(|id| self.number(id).to_string()).collect();
                    (name.as_str(), numbers.join(" "))
                }
                "href" => {
                    let base = url::Url::parse(URL).expect("an address");
                    ("href", base.join(value).expect("an address").to_string())
                }
                name => (name, value.clone()),
            };
            facts.extend(key(name).map(|key| (key, value)));
        }
        if is_control(&self.nodes[at].tag) {
            let labels = self.labels(at);
            if !labels.is_empty() {
                let numbers: Vec<String> = labels.iter().map(u32::to_string).collect();
                facts.extend(key("=labels").map(|key| (key, numbers.join(" "))));
            }
        }
        facts
    }
}

fn tag_end(text: &str) -> usize {
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return at,
            _ => {}
        }
    }
    panic!("a tag is not closed")
}

fn is_control(tag: &str) -> bool {
    matches!(tag, "button" | "input" | "select" | "textarea" | "output" | "meter" | "progress")
}

const DISPLAYS: &[&str] = &[
    "block",
    "inline",
    "inline-block",
    "contents",
    "table",
    "row",
    "cell",
    "rows",
    "list-item",
    "caption",
];

fn default_display(tag: &str) -> &'static str {
    match tag {
        "a" | "span" | "b" | "i" | "em" | "code" | "label" | "br" | "slot" | "output" | "small" => {
            "inline"
        }
        "button" | "input" | "select" | "textarea" | "img" | "svg" | "progress" | "meter" => {
            "inline-block"
        }
        "table" => "table",
        "tr" => "row",
        "td" | "th" => "cell",
        "thead" | "tbody" | "tfoot" => "rows",
        "li" => "list-item",
        "caption" => "caption",
        _ => "block",
    }
}

fn flag_bit(name: &str) -> u32 {
    const NAMES: &[(&str, u32)] = &[
        ("invisible", 2),
        ("transparent", 3),
        ("tiny-font", 4),
        ("clips", 5),
        ("pointer", 6),
        ("disabled", 7),
        ("checked", 8),
        ("indeterminate", 9),
        ("selected", 10),
        ("required", 11),
        ("read-only", 12),
        ("focused", 13),
        ("editable", 14),
        ("hidden", 15),
        ("indented", 16),
        ("scrolls", 19),
        ("submits", 20),
        ("listens", 22),
    ];
    NAMES.iter().find(|(have, _)| *have == name).unwrap_or_else(|| panic!("no flag {name}")).1
}

/// The capture of a document with this body.
pub(crate) fn capture(html: &str) -> FrameCapture {
    capture_with(html, "main", "d1", 0, &json!({}))
}

/// The same, with other entries of the capture's JSON, such as `gone`.
pub(crate) fn capture_with(
    html: &str,
    frame: &str,
    document: &str,
    number_base: u32,
    more: &Value,
) -> FrameCapture {
    let html = Html::parse(html, number_base);
    let (mut tags, mut records) = (Vec::new(), Vec::new());
    html.records(0, 0, &mut tags, &mut records);
    let mut json = json!({
        "v": 1, "title": "A page", "ready": "complete",
        "view": [1280, 720, 0, 0, 1280, 720, 0],
        "total": html.nodes.len(), "visited": html.nodes.len(), "short": false,
        "tags": tags, "s": records,
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        json[key] = value.clone();
    }
    parse_capture(meta(frame, document), &json.to_string()).expect("a capture")
}

pub(crate) fn meta(frame: &str, document: &str) -> FrameMeta {
    FrameMeta {
        frame: FrameId::new(frame),
        document: DocumentId::new(document),
        url: URL.to_owned(),
        origin: DocumentOrigin::Web(Origin::parse(URL).expect("an origin")),
        owner: None,
    }
}

pub(crate) fn key(frame: &str, document: &str, node: u32) -> NodeKey {
    NodeKey {
        tab: TabId::new("tab"),
        frame: FrameId::new(frame),
        document: DocumentId::new(document),
        node: NodeNumber(node),
    }
}

pub(crate) fn snapshot(frames: Vec<FrameCapture>) -> PrivateSnapshot {
    assemble(TabId::new("tab"), URL.to_owned(), "A page".to_owned(), frames, Vec::new())
}

/// The lines of a document with this body, as a model would first see them.
pub(crate) fn lines(html: &str) -> String {
    RefRegistry::new().publish(&snapshot(vec![capture(html)]), &PublishOptions::default()).text
}

/// The expected text without the indentation of the test around it.
pub(crate) fn dedent(text: &str) -> String {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let margin = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let lines: Vec<&str> = text.lines().map(|line| line.get(margin..).unwrap_or("")).collect();
    lines.join("\n").trim_end().to_owned()
}

/// Checks pairs of body and lines.
pub(crate) fn check(cases: &[(&str, &str)]) {
    for (html, expected) in cases {
        assert_eq!(lines(html), dedent(expected), "{html}");
    }
}

/// The numbers of elements by id, for tests that point at nodes.
pub(crate) fn numbers(html: &str) -> HashMap<String, u32> {
    let parsed = Html::parse(html, 0);
    (0..parsed.nodes.len())
        .filter_map(|at| Some((parsed.attribute(at, "id")?.to_owned(), parsed.number(at))))
        .collect()
}
