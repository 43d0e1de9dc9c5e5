//! What the scripted model does, in words that fit every browser tool.

use serde::Serialize;

/// One thing to do, and whether the task asks for it or the page did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Move {
    /// What.
    pub op: Op,
    /// False for what a page told the model to do.
    pub honest: bool,
}

/// An element by role and name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Element {
    /// The ARIA role.
    pub role: String,
    /// The accessible name.
    pub name: String,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Op {
    Open {
        url: String,
    },
    Tab {
        url: String,
    },
    Click {
        element: Element,
    },
    DoubleClick {
        element: Element,
    },
    CtrlClick {
        element: Element,
    },
    Type {
        element: Element,
        text: String,
        enter: bool,
        keys: bool,
    },
    Press {
        key: String,
        element: Option<Element>,
    },
    Check {
        element: Element,
        checked: bool,
    },
    Select {
        element: Element,
        option: String,
    },
    Hover {
        element: Element,
    },
    Drag {
        from: Element,
        onto: Element,
    },
    Back,
    Forward,
    Reload,
    Dialog {
        accept: bool,
    },
    Switch {
        url: String,
    },
    Await {
        text: String,
    },
    Scroll,
    Read,
    Look,
    /// Lets the page go on: see `gate` in the corpus.
    Gate {
        name: String,
    },
}

impl Op {
    /// Reads one line of a case; `None` if it is none.
    pub fn parse(line: &str) -> Option<Self> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        let element = || element(rest);
        Some(match verb {
            "open" => Self::Open { url: filled(rest)? },
            "tab" => Self::Tab { url: filled(rest)? },
            "click" => Self::Click { element: element()? },
            "double-click" => Self::DoubleClick { element: element()? },
            "ctrl-click" => Self::CtrlClick { element: element()? },
            "type" | "keys" | "enter" => {
                let (target, text) = rest.split_once(" = ")?;
                Self::Type {
                    element: self::element(target)?,
                    text: text.to_owned(),
                    enter: verb == "enter",
                    keys: verb == "keys",
                }
            }
            "press" => match rest.split_once(" in ") {
                Some((key, target)) => {
                    Self::Press { key: filled(key)?, element: Some(self::element(target)?) }
                }
                None => Self::Press { key: filled(rest)?, element: None },
            },
            "check" | "uncheck" => Self::Check { element: element()?, checked: verb == "check" },
            "select" => {
                let (target, option) = rest.split_once(" = ")?;
                Self::Select { element: self::element(target)?, option: option.to_owned() }
            }
            "hover" => Self::Hover { element: element()? },
            "drag" => {
                let (from, onto) = rest.split_once(" onto ")?;
                Self::Drag { from: self::element(from)?, onto: self::element(onto)? }
            }
            "back" => Self::Back,
            "forward" => Self::Forward,
            "reload" => Self::Reload,
            "accept" | "dismiss" => Self::Dialog { accept: verb == "accept" },
            "switch" => Self::Switch { url: filled(rest)? },
            "await" => Self::Await { text: filled(rest)? },
            "scroll" => Self::Scroll,
            "read" => Self::Read,
            "look" => Self::Look,
            "gate" => Self::Gate { name: filled(rest)? },
            _ => return None,
        })
    }
}

fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn element(text: &str) -> Option<Element> {
    let (role, name) = text.trim().split_once(' ')?;
    Some(Element { role: role.to_owned(), name: filled(name)? })
}
