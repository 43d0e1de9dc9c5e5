//! What a scripted policy does: a line a step, elements by role and name as snapshots show them.

/// An element as a model would look for it. The role `text` means plain text with a ref, as searches
/// show it; without a name, an empty cell of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The ARIA role.
    pub role: String,
    /// The accessible name. Empty: it has none, or any will do.
    pub name: String,
    /// Look only below the line that says this.
    pub after: Option<String>,
}

/// What a step waits for or acts on besides elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The page.
    Page,
    /// An element of it.
    On(Element),
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it, and the suite's README lists them")]
pub enum Step {
    Open { url: String },
    Tab { url: String },
    Click { element: Element, button: &'static str, count: u8, held: Option<&'static str> },
    Type { element: Element, text: String, how: &'static str },
    Secret { element: Element, name: String },
    Press { key: String, times: u32, place: Place },
    Check { element: Element, checked: bool },
    Select { element: Element, options: Vec<String> },
    Hover { element: Element },
    Drag { from: Element, onto: Element },
    Upload { element: Element, files: Vec<String> },
    Back,
    Reload,
    Dialog { accept: bool, text: Option<String> },
    Switch { url: String },
    CloseTab,
    Await { text: String },
    Find { text: String },
    Download,
    Gone { text: String },
    Scroll { to: &'static str, place: Place },
    Expect { text: String },
    Refused { code: String },
    Cannot,
}

impl Step {
    /// Reads one line of a policy; `None` if it is none.
    pub fn parse(line: &str) -> Option<Self> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        let click = |button, count, held| {
            Some(Self::Click { element: element(rest)?, button, count, held })
        };
        match verb {
            "open" => Some(Self::Open { url: filled(rest)? }),
            "tab" => Some(Self::Tab { url: filled(rest)? }),
            "click" => click("left", 1, None),
            "double-click" => click("left", 2, None),
            "right-click" => click("right", 1, None),
            "ctrl-click" => click("left", 1, Some("Control")),
            "type" | "keys" | "enter" | "append" => {
                let (target, text) =
                    rest.split_once(" = ").or(rest.strip_suffix(" =").map(|t| (t, "")))?;
                let how =
                    ["type", "keys", "enter", "append"].into_iter().find(|how| *how == verb)?;
                Some(Self::Type { element: element(target)?, text: text.to_owned(), how })
            }
            "secret" => {
                let (target, name) = rest.split_once(" = ")?;
                Some(Self::Secret { element: element(target)?, name: filled(name)? })
            }
            "press" => {
                let (keys, place) = match rest.split_once(" in ") {
                    Some((keys, target)) => (keys, Place::On(element(target)?)),
                    None => (rest, Place::Page),
                };
                let (times, key) = match keys.split_once(' ') {
                    Some((times, key)) => (times.parse().ok()?, key),
                    None => (1, keys),
                };
                Some(Self::Press { key: filled(key)?, times, place })
            }
            "check" | "uncheck" => {
                Some(Self::Check { element: element(rest)?, checked: verb == "check" })
            }
            "select" | "upload" => {
                let (target, list) = rest.split_once(" = ")?;
                let (element, list) =
                    (element(target)?, list.split(" + ").map(str::to_owned).collect());
                Some(if verb == "select" {
                    Self::Select { element, options: list }
                } else {
                    Self::Upload { element, files: list }
                })
            }
            "hover" => Some(Self::Hover { element: element(rest)? }),
            "drag" => {
                let (from, onto) = rest.split_once(" onto ")?;
                Some(Self::Drag { from: element(from)?, onto: element(onto)? })
            }
            "back" => Some(Self::Back),
            "reload" => Some(Self::Reload),
            "accept" => Some(Self::Dialog { accept: true, text: filled(rest) }),
            "dismiss" => Some(Self::Dialog { accept: false, text: None }),
            "switch" => Some(Self::Switch { url: filled(rest)? }),
            "close-tab" => Some(Self::CloseTab),
            "await" => Some(Self::Await { text: filled(rest)? }),
            "await-download" => Some(Self::Download),
            "find" => Some(Self::Find { text: filled(rest)? }),
            "gone" => Some(Self::Gone { text: filled(rest)? }),
            "scroll" => {
                let (to, place) = match rest.split_once(" in ") {
                    Some((to, target)) => (to, Place::On(element(target)?)),
                    None => (rest, Place::Page),
                };
                let to = ["down", "up", "top", "bottom"].into_iter().find(|word| *word == to)?;
                Some(Self::Scroll { to, place })
            }
            "expect" => Some(Self::Expect { text: filled(rest)? }),
            "refused" => Some(Self::Refused { code: filled(rest)? }),
            "cannot" => Some(Self::Cannot),
            _ => None,
        }
    }
}

/// `button "Save"`, `button "Edit" after "Order 17"`, `textbox`.
fn element(text: &str) -> Option<Element> {
    let (what, after) = match text.split_once(" after ") {
        Some((what, after)) => (what, Some(unquoted(after)?)),
        None => (text, None),
    };
    let (role, name) = what.trim().split_once(' ').unwrap_or((what.trim(), "\"\""));
    Some(Element { role: filled(role)?, name: unquoted(name)?, after })
}

fn unquoted(text: &str) -> Option<String> {
    Some(text.trim().strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

impl Element {
    /// The ref of the first such element in a snapshot.
    pub(crate) fn find(&self, snapshot: &str) -> Option<String> {
        let from = match &self.after {
            Some(after) => {
                let mut lines = snapshot.split_inclusive('\n');
                let mut at = 0;
                for line in lines.by_ref() {
                    if line.contains(after.as_str()) {
                        break;
                    }
                    at += line.len();
                }
                at
            }
            None => 0,
        };
        let wanted = match (self.role.as_str(), self.name.as_str()) {
            ("text", "") => "| ".to_owned(),
            ("text", name) => format!("{name} "),
            (role, "") => role.to_owned(),
            (role, name) => format!("{role} \"{name}\""),
        };
        for line in snapshot.get(from..)?.lines() {
            if self.role == "text" {
                // The ref stands right behind the text.
                let Some((_, rest)) = line.split_once(&format!("{wanted}[ref=")) else { continue };
                return Some(rest.split_once(']')?.0.to_owned());
            }
            let Some((before, rest)) = line.split_once(wanted.as_str()) else { continue };
            // A role is a word of its own.
            let whole = before.chars().last().is_none_or(|c| !c.is_alphanumeric())
                && rest.chars().next().is_none_or(|c| !c.is_alphanumeric());
            if let Some((_, found)) = rest.split_once("[ref=")
                && whole
            {
                return Some(found.split_once(']')?.0.to_owned());
            }
        }
        None
    }

    /// For messages.
    pub(crate) fn told(&self) -> String {
        let after = self.after.as_ref().map(|after| format!(" after \"{after}\""));
        format!("{} \"{}\"{}", self.role, self.name, after.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_by_role_name_and_the_line_before() {
        let page = "row \"Order 16\"\n  button \"Edit\" [ref=e4]\nrow \"Order 17\"\n  button \"Edit\" [ref=e9]\n  textbox [ref=e10]";
        let find = |text: &str| element(text).and_then(|element| element.find(page));
        assert_eq!(find("button \"Edit\"").as_deref(), Some("e4"));
        assert_eq!(find("button \"Edit\" after \"Order 17\"").as_deref(), Some("e9"));
        assert_eq!(find("textbox").as_deref(), Some("e10"));
        let row = "- | 1004 [ref=e1] | new [ref=e2] | [ref=e3] |";
        let find_text = |text: &str| element(text).and_then(|element| element.find(row));
        assert_eq!(find_text("text \"new\"").as_deref(), Some("e2"));
        assert_eq!(find_text("text \"\"").as_deref(), Some("e3"));
        assert_eq!(find("button \"Send\""), None);
        assert_eq!(find("button \"Edit\" after \"Order 18\""), None);
    }

    #[test]
    fn steps_are_read() {
        let press = Step::parse("press 3 ArrowRight in slider \"Volume\"");
        assert!(matches!(press, Some(Step::Press { times: 3, place: Place::On(_), .. })));
        let typed = Step::parse("type textbox \"Name\" = Ada = one");
        assert!(matches!(typed, Some(Step::Type { text, .. }) if text == "Ada = one"));
        assert!(matches!(Step::parse("accept Blue"), Some(Step::Dialog { text: Some(_), .. })));
        assert_eq!(Step::parse("jump far"), None);
    }
}
