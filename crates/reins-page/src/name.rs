//! Accessible names and descriptions: Accessible Name and Description Computation 1.2, HTML-AAM.

use crate::hidden::{self, Reach};
use crate::keys::Key;
use crate::role::{self, input_type};
use crate::tree::{Display, Id, Kind, Tree};
use std::collections::HashSet;

/// A name is not followed further than this; what is published is shorter still.
const NAME_LIMIT: usize = 1_200;
/// References and content are not followed deeper than this.
const DEPTH_LIMIT: u32 = 60;

/// Where a name comes from decides whether the same text is shown a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// `aria-labelledby`, `aria-label`, `alt`, `title` and the like.
    Author,
    /// Label elements, legends, captions.
    Label,
    /// The element's own content.
    Content,
    /// There is no name.
    Nothing,
}

/// A computed name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) from: From,
}

/// Computes names over one tree. With a [`Reach`], text that nobody can see is left out (R-040).
#[derive(Clone, Copy)]
pub(crate) struct Namer<'a> {
    tree: &'a Tree,
    seen_only: Option<Reach>,
}

struct Walk {
    visited: HashSet<Id>,
    /// Inside what `aria-labelledby` refers to: references are not followed a second time.
    referred: bool,
    /// Inside a referenced root that is itself hidden: hidden content counts.
    hidden: bool,
    depth: u32,
}

impl<'a> Namer<'a> {
    /// The specification's own computation.
    pub(crate) fn exact(tree: &'a Tree) -> Self {
        Self { tree, seen_only: None }
    }

    /// Leaves out text that nobody can see.
    pub(crate) fn seen(tree: &'a Tree, reach: Reach) -> Self {
        Self { tree, seen_only: Some(reach) }
    }

    /// The name of an element with this role.
    ///
    /// A control whose whole name is visually hidden keeps it: such labels are how icon buttons
    /// are named, and `aria-label` would say the same without any text in the page.
    pub(crate) fn name(&self, id: Id, role: &str) -> Name {
        let name = self.compute(id, role);
        let says = name.text.chars().any(char::is_alphanumeric);
        if !says && self.seen_only.is_some() && role::is_widget(role) {
            let whole = Namer::exact(self.tree).compute(id, role);
            return Name { text: squeeze(&whole.text), ..whole };
        }
        name
    }

    fn compute(&self, id: Id, role: &str) -> Name {
        let mut walk = Walk { visited: HashSet::new(), referred: false, hidden: false, depth: 0 };
        let name = |text: String, from| {
            let text = self.finish(&text);
            (!text.is_empty()).then_some(Name { text, from })
        };
        let exempt = matches!(self.tree.tag(id), "abbr" | "iframe" | "frame" | "li" | "dl")
            || self.tree.has(id, Key::Role);
        if prohibits(role) && !exempt {
            return Name { text: String::new(), from: From::Nothing };
        }
        if let Some(found) = name(self.labelled_by(id, &mut walk), From::Author) {
            return found;
        }
        if let Some(found) = name(self.own_label(id), From::Author) {
            return found;
        }
        walk.visited.insert(self.tree.canonical(id));
        let (text, from) = self.native(id, &mut walk);
        if let Some(found) = name(text, from) {
            return found;
        }
        if role::named_by_content(role) || matches!(self.tree.tag(id), "summary" | "label") {
            walk.visited.remove(&self.tree.canonical(id));
            if let Some(found) = name(self.content(id, &mut walk), From::Content) {
                return found;
            }
        }
        if matches!(role, "dialog" | "alertdialog" | "article")
            && let Some(heading) = self.first_heading(id)
            && let Some(found) = name(self.part(heading, &mut walk, false), From::Content)
        {
            return found;
        }
        if let Some(found) = name(self.tooltip(id), From::Author) {
            return found;
        }
        Name { text: String::new(), from: From::Nothing }
    }

    /// ARIA 1.3, "name from heading": the first one inside, in tree order.
    fn first_heading(&self, id: Id) -> Option<Id> {
        let mut open: Vec<Id> = self.tree.children(id).collect();
        open.reverse();
        let mut left = 200;
        while let Some(at) = open.pop() {
            left -= 1;
            if left == 0 {
                return None;
            }
            if role::role(self.tree, at) == "heading" {
                return Some(at);
            }
            let mut inner: Vec<Id> = self.tree.children(at).collect();
            inner.reverse();
            open.extend(inner);
        }
        None
    }

    /// The text inside an element, as a name would have it.
    pub(crate) fn text(&self, id: Id) -> String {
        let mut walk = Walk { visited: HashSet::new(), referred: false, hidden: false, depth: 0 };
        self.finish(&self.content(id, &mut walk))
    }

    /// A name as it is shown, or exactly as the specification has it.
    fn finish(&self, text: &str) -> String {
        if self.seen_only.is_some() { squeeze(text) } else { fold(text) }
    }

    /// The text of what `aria-errormessage` or `aria-describedby` refer to.
    pub(crate) fn referred_text(&self, id: Id, key: Key) -> String {
        let mut parts = Vec::new();
        for target in self.tree.references(id, key) {
            let hidden = self.is_hidden(target);
            let mut walk = Walk { visited: HashSet::new(), referred: true, hidden, depth: 0 };
            parts.push(fold(&self.part(target, &mut walk, true)));
        }
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    }

    fn labelled_by(&self, id: Id, walk: &mut Walk) -> String {
        let mut parts = Vec::new();
        let mut seen = Vec::new();
        for target in self.tree.references(id, Key::AriaLabelledBy) {
            let mut inner = Walk {
                visited: HashSet::new(),
                referred: true,
                hidden: self.is_hidden(target),
                depth: walk.depth + 1,
            };
            parts.push(fold(&self.part(target, &mut inner, true)));
            // Within one name nothing is said twice.
            seen.extend(inner.visited);
        }
        walk.visited.extend(seen);
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    }

    fn own_label(&self, id: Id) -> String {
        [Key::AriaLabel, Key::InternalsLabel]
            .iter()
            .find_map(|key| self.tree.text_fact(id, *key))
            .unwrap_or_default()
            .to_owned()
    }

    fn tooltip(&self, id: Id) -> String {
        if let Some(title) = self.tree.text_fact(id, Key::Title) {
            return title.to_owned();
        }
        // HTML-AAM: after the tooltip, text fields fall back on their placeholder.
        let field = match self.tree.tag(id) {
            "textarea" => true,
            "input" => matches!(
                input_type(self.tree, id).as_str(),
                "text" | "password" | "number" | "search" | "tel" | "email" | "url"
            ),
            _ => self.tree.flags(id).editable(),
        };
        let hint = [Key::Placeholder, Key::AriaPlaceholder];
        let hint = hint.iter().find_map(|key| self.tree.text_fact(id, *key));
        if field { hint.unwrap_or_default().to_owned() } else { String::new() }
    }

    /// What the host language names the element by (HTML-AAM, SVG-AAM).
    fn native(&self, id: Id, walk: &mut Walk) -> (String, From) {
        let tree = self.tree;
        let fact = |key| tree.fact(id, key).unwrap_or_default().to_owned();
        match tree.tag(id) {
            "img" | "area" | "image" => (fact(Key::Alt), From::Author),
            "input" => {
                let labels = self.labels(id, walk);
                if !fold(&labels).is_empty() {
                    return (labels, From::Label);
                }
                let text = match input_type(tree, id).as_str() {
                    "button" | "reset" | "submit" => {
                        let value = tree.fact(id, Key::LiveValue).unwrap_or_default();
                        match (value.is_empty(), input_type(tree, id).as_str()) {
                            (false, _) => value.to_owned(),
                            (_, "submit") => "Submit".to_owned(),
                            (_, "reset") => "Reset".to_owned(),
                            _ => String::new(),
                        }
                    }
                    "image" => {
                        let alt = fact(Key::Alt);
                        if alt.trim().is_empty() && !tree.has(id, Key::Title) {
                            "Submit".to_owned()
                        } else {
                            alt
                        }
                    }
                    _ => String::new(),
                };
                (text, From::Author)
            }
            "select" | "textarea" | "button" | "meter" | "progress" | "output" => {
                (self.labels(id, walk), From::Label)
            }
            "fieldset" => (self.child(id, "legend", walk), From::Label),
            "table" => {
                let caption = self.child(id, "caption", walk);
                if caption.trim().is_empty() && !tree.has(id, Key::Title) {
                    (fact(Key::Summary), From::Author)
                } else {
                    (caption, From::Label)
                }
            }
            "optgroup" | "option" => (fact(Key::Label), From::Author),
            "svg" | "g" | "a" | "text" | "path" | "circle" | "ellipse" | "line" | "polygon"
            | "polyline" | "rect" | "use" | "symbol" => {
                let title = self.child(id, "title", walk);
                if title.trim().is_empty() {
                    (fact(Key::XlinkTitle), From::Author)
                } else {
                    (title, From::Author)
                }
            }
            _ => (String::new(), From::Nothing),
        }
    }

    /// The labels of a control, in tree order.
    fn labels(&self, id: Id, walk: &mut Walk) -> String {
        let mut parts = Vec::new();
        for label in self.tree.references(id, Key::Labels) {
            let mut inner = Walk {
                visited: walk.visited.clone(),
                referred: walk.referred,
                hidden: false,
                depth: walk.depth + 1,
            };
            if self.is_hidden(label) {
                continue;
            }
            parts.push(fold(&self.part(label, &mut inner, true)));
        }
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    }

    /// The content of the first child with this tag.
    fn child(&self, id: Id, tag: &str, walk: &mut Walk) -> String {
        let Some(child) = self.tree.children(id).find(|at| self.tree.tag(*at) == tag) else {
            return String::new();
        };
        self.part(child, walk, true)
    }

    fn is_hidden(&self, id: Id) -> bool {
        let flags = self.tree.flags(id);
        flags.hidden() || flags.invisible() || hidden::is_withheld(self.tree, id)
    }

    /// What one node contributes to the name of something else.
    fn part(&self, id: Id, walk: &mut Walk, directly: bool) -> String {
        let tree = self.tree;
        let element = match &tree.node(id).kind {
            Kind::Text(text) => return text.clone(),
            Kind::Gap(_) => return String::new(),
            Kind::Element(element) => element,
        };
        if walk.depth > DEPTH_LIMIT || !walk.visited.insert(tree.canonical(id)) {
            return String::new();
        }
        if !walk.hidden && !directly {
            if element.flags.hidden() || hidden::is_withheld(tree, id) {
                return String::new();
            }
            if self.seen_only.is_some_and(|reach| hidden::box_is_hidden(tree, reach, id)) {
                return String::new();
            }
        }
        walk.depth += 1;
        let text = self.element_part(id, walk, directly);
        walk.depth -= 1;
        text
    }

    fn element_part(&self, id: Id, walk: &mut Walk, directly: bool) -> String {
        let tree = self.tree;
        // A slot is only a place; what is in it counts, whatever is said of the place.
        if tree.tag(id) == "slot" {
            return self.content_again(id, walk);
        }
        let role = role::role(tree, id);
        let invisible = tree.flags(id).invisible() && !walk.hidden;
        if !invisible {
            if !walk.referred {
                let labelled = self.labelled_by(id, walk);
                if !labelled.is_empty() {
                    return labelled;
                }
            }
            if let Some(value) = self.embedded_value(id, role, walk, directly) {
                return value;
            }
            let own = self.own_label(id);
            if !own.is_empty() {
                return own;
            }
            if role != "none" {
                let (native, _) = self.native(id, walk);
                if !fold(&native).is_empty() {
                    return native;
                }
            }
        }
        let content = self.content_again(id, walk);
        if !fold(&content).is_empty() || invisible {
            return content;
        }
        let title = self.tooltip(id);
        if title.is_empty() { content } else { title }
    }

    /// The value of a control inside the label or content that names something else.
    fn embedded_value(
        &self,
        id: Id,
        role: &str,
        walk: &mut Walk,
        directly: bool,
    ) -> Option<String> {
        if directly && walk.referred {
            return None;
        }
        let tree = self.tree;
        match role {
            "textbox" | "searchbox" => Some(match tree.tag(id) {
                "input" | "textarea" => {
                    tree.fact(id, Key::LiveValue).unwrap_or_default().to_owned()
                }
                _ => self.content_again(id, walk),
            }),
            "combobox" | "listbox" => Some(self.chosen(id, walk)),
            "slider" | "spinbutton" | "scrollbar" | "progressbar" | "meter" => {
                [Key::AriaValueText, Key::AriaValueNow, Key::LiveValue]
                    .iter()
                    .find_map(|key| tree.text_fact(id, *key))
                    .map(str::to_owned)
            }
            _ => None,
        }
    }

    /// The text of the chosen options of a select or listbox.
    fn chosen(&self, id: Id, walk: &mut Walk) -> String {
        let tree = self.tree;
        if tree.tag(id) == "input" {
            return tree.fact(id, Key::LiveValue).unwrap_or_default().to_owned();
        }
        let mut parts = Vec::new();
        let mut open: Vec<Id> = tree.children(id).collect();
        open.reverse();
        while let Some(at) = open.pop() {
            let chosen =
                tree.flags(at).selected() || tree.fact(at, Key::AriaSelected) == Some("true");
            if chosen && role::role(tree, at) == "option" {
                parts.push(fold(&self.part(at, walk, true)));
            } else {
                let mut inner: Vec<Id> = tree.children(at).collect();
                inner.reverse();
                open.extend(inner);
            }
        }
        if parts.is_empty() && tree.tag(id) != "select" {
            return self.content_again(id, walk);
        }
        parts.join(" ")
    }

    /// The content of an element that has just been entered, which is not to be entered twice.
    fn content_again(&self, id: Id, walk: &mut Walk) -> String {
        walk.visited.remove(&self.tree.canonical(id));
        self.content(id, walk)
    }

    /// Name from content: generated text and all children, with spaces where boxes part words.
    fn content(&self, id: Id, walk: &mut Walk) -> String {
        let tree = self.tree;
        if walk.depth > DEPTH_LIMIT || !walk.visited.insert(tree.canonical(id)) {
            return String::new();
        }
        let mut out = String::new();
        if !tree.flags(id).invisible() || walk.hidden {
            push_generated(&mut out, tree.fact(id, Key::Before));
        }
        let flags = tree.flags(id);
        let own_text_hidden = !walk.hidden
            && (flags.invisible()
                || (self.seen_only.is_some() && hidden::own_text_is_hidden(flags)));
        let owned = tree.references(id, Key::AriaOwns);
        for child in tree.children(id).chain(owned) {
            if out.len() > NAME_LIMIT {
                break;
            }
            match &tree.node(child).kind {
                Kind::Text(text) => {
                    if !own_text_hidden {
                        out.push_str(text);
                    }
                }
                Kind::Gap(_) => {}
                Kind::Element(element) => {
                    let apart = match element.display {
                        Display::Inline | Display::Contents => tree.tag_name(element) == "br",
                        _ => true,
                    };
                    if apart {
                        out.push(' ');
                    }
                    out.push_str(&self.part(child, walk, false));
                    if apart {
                        out.push(' ');
                    }
                }
            }
        }
        if !tree.flags(id).invisible() || walk.hidden {
            push_generated(&mut out, tree.fact(id, Key::After));
        }
        out
    }
}

/// The text of a computed `content` value. Icon fonts' private characters say nothing.
fn push_generated(out: &mut String, content: Option<&str>) {
    let Some(content) = content else { return };
    let (apart, content) = match content.strip_prefix(' ') {
        Some(rest) => (true, rest),
        None => (false, content),
    };
    // After a slash comes the alternative text, which replaces the content.
    let mut texts = String::new();
    let mut chars = content.chars();
    // What stands inside url(), counter() and the like is no text.
    let mut nested = 0u32;
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => texts.extend(chars.next().filter(|_| nested == 0)),
                        c if nested == 0 => texts.push(c),
                        _ => {}
                    }
                }
            }
            '(' => nested += 1,
            ')' => nested = nested.saturating_sub(1),
            '/' if nested == 0 => texts.clear(),
            _ => {}
        }
    }
    texts.retain(|c| !matches!(c, '\u{E000}'..='\u{F8FF}'));
    if apart {
        out.push(' ');
    }
    out.push_str(&texts);
    if apart {
        out.push(' ');
    }
}

/// Roles that must not be named (ARIA 1.2, "prohibited").
fn prohibits(role: &str) -> bool {
    matches!(
        role,
        "caption"
            | "code"
            | "deletion"
            | "emphasis"
            | "generic"
            | "insertion"
            | "mark"
            | "none"
            | "paragraph"
            | "strong"
            | "subscript"
            | "superscript"
            | "term"
            | "time"
            | "definition"
            | "suggestion"
    )
}

/// Whether the author names the element directly; used where a role depends on it. References are
/// only looked at for any text at all, since names and roles would otherwise chase each other.
pub(crate) fn is_named_by_author(tree: &Tree, id: Id) -> bool {
    is_labelled(tree, id) || tree.text_fact(id, Key::Title).is_some()
}

/// The same without tooltips.
pub(crate) fn is_labelled(tree: &Tree, id: Id) -> bool {
    tree.references(id, Key::AriaLabelledBy).into_iter().any(|target| says_anything(tree, target))
        || tree.text_fact(id, Key::AriaLabel).is_some()
}

fn says_anything(tree: &Tree, root: Id) -> bool {
    let mut open = vec![root];
    let mut left = 300;
    while let Some(id) = open.pop() {
        left -= 1;
        if left == 0 {
            return true;
        }
        match &tree.node(id).kind {
            Kind::Text(text) if !text.trim().is_empty() => return true,
            Kind::Element(_) => {
                const SAYING: [Key; 4] = [Key::AriaLabel, Key::Alt, Key::LiveValue, Key::Title];
                if SAYING.iter().any(|key| tree.text_fact(id, *key).is_some()) {
                    return true;
                }
                open.extend(tree.children(id));
            }
            _ => {}
        }
    }
    false
}

/// White space as one space, none at the ends. Only the white space of HTML: a no-break space is
/// part of a name.
fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(is_html_space).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

pub(crate) fn is_html_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

/// White space as one space, none at the ends; invisible control characters away.
pub(crate) fn squeeze(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut space = false;
    for c in text.chars() {
        if c.is_whitespace() || c == '\u{a0}' {
            space = !out.is_empty();
        } else if c.is_control() || is_invisible_format(c) {
        } else {
            if space {
                out.push(' ');
            }
            space = false;
            out.push(c);
        }
    }
    out
}

/// Characters that show nothing and can carry hidden text or reorder what is shown: zero-width and
/// direction marks, soft hyphens, tag characters, variation selectors beyond the emoji one.
pub(crate) fn is_invisible_format(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{180e}'
            | '\u{fe00}'..='\u{fe0e}' | '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}'
    )
}
