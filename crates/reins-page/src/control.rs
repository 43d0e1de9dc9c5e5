//! Lines of controls: fields with their values, selects with their options, things to press.

use crate::keys::Key;
use crate::line::Piece;
use crate::name::squeeze;
use crate::outline::Writer;
use crate::press::clip;
use crate::role;
use crate::tree::{Id, Kind};

/// Options of a select that are listed; the value is always shown.
const OPTIONS_SHOWN: usize = 12;
/// Bytes of listed options in one line.
const OPTIONS_BYTES: usize = 240;
/// What a secret's value is shown as.
pub(crate) const REDACTED: &str = "[redacted]";

impl Writer<'_, '_> {
    pub(crate) fn control(&mut self, id: Id, role: &str, depth: u16) {
        let name = self.namer.name(id, role).text;
        match role {
            "textbox" | "searchbox" | "spinbutton" | "date" | "datetime" | "month" | "week"
            | "time-input" | "color" => self.field(id, role, &name, depth),
            "slider" => {
                let value = [Key::AriaValueText, Key::AriaValueNow, Key::LiveValue]
                    .iter()
                    .find_map(|key| self.tree.text_fact(id, *key))
                    .unwrap_or_default()
                    .to_owned();
                self.push_widget(id, role, &name, &value, depth);
            }
            "file" => {
                let files = self.tree.fact(id, Key::Files).unwrap_or("no file").to_owned();
                self.push_widget(id, role, &name, &files, depth);
            }
            "combobox" if self.tree.tag(id) == "select" => self.select(id, &name, depth),
            "listbox" if self.tree.tag(id) == "select" => self.select(id, &name, depth),
            "combobox" => {
                let value = match self.tree.tag(id) {
                    "input" => self.value(id),
                    _ => self.namer.text(id),
                };
                let value = if value == name { String::new() } else { value };
                self.push_widget(id, role, &name, &value, depth);
            }
            "listbox" => {
                self.flush(depth);
                self.push_widget(id, role, &name, "", depth);
                self.flush(depth);
                self.children(id, depth + 1);
                self.flush(depth + 1);
            }
            "treeitem" | "menuitem" | "tab" | "option" | "menuitemcheckbox" | "menuitemradio" => {
                self.item(id, role, &name, depth);
            }
            "link" | "doc-backlink" | "doc-biblioref" | "doc-glossref" | "doc-noteref" => {
                self.push_widget(id, "link", &name, "", depth);
                self.inner_widgets(id, depth);
            }
            _ => self.push_widget(id, role, &name, "", depth),
        }
    }

    /// The current value, `[redacted]` when the page script kept it back.
    fn value(&self, id: Id) -> String {
        let Some(value) = self.tree.fact(id, Key::LiveValue) else { return String::new() };
        if self.tree.has(id, Key::Secret) { REDACTED.to_owned() } else { squeeze(value) }
    }

    fn field(&mut self, id: Id, role: &str, name: &str, depth: u16) {
        let native = matches!(self.tree.tag(id), "input" | "textarea");
        let value = if native { self.value(id) } else { self.namer.text(id) };
        let word = match role {
            "time-input" => "time",
            word => word,
        };
        if value.is_empty() {
            let hint = [Key::Placeholder, Key::AriaPlaceholder]
                .iter()
                .find_map(|key| self.tree.text_fact(id, *key))
                .map(squeeze)
                .filter(|hint| hint != name);
            if let Some(hint) = hint {
                self.hint = Some(Piece::Note("hint", hint));
            }
        }
        if self.tree.text_fact(id, Key::AriaInvalid).is_some_and(|value| value != "false") {
            let wrong = [Key::AriaErrorMessage, Key::AriaDescribedBy]
                .iter()
                .map(|key| self.namer.referred_text(id, *key))
                .find(|text| !text.is_empty());
            self.hint = wrong.map(|text| Piece::Note("error", clip(&text))).or(self.hint.take());
        }
        self.push_widget(id, word, name, &value, depth);
    }

    fn select(&mut self, id: Id, name: &str, depth: u16) {
        let mut options = Vec::new();
        let mut chosen = Vec::new();
        let mut left_out = 0;
        let mut open: Vec<Id> = self.tree.children(id).collect();
        open.reverse();
        while let Some(at) = open.pop() {
            match &self.tree.node(at).kind {
                Kind::Gap(count) => left_out += *count as usize,
                Kind::Element(element) if self.tree.tag_name(element) == "option" => {
                    let text = self.namer.name(at, "option").text;
                    if element.flags.selected() {
                        chosen.push(text.clone());
                    }
                    options.push(text);
                }
                Kind::Element(_) => {
                    let mut inner: Vec<Id> = self.tree.children(at).collect();
                    inner.reverse();
                    open.extend(inner);
                }
                Kind::Text(_) => {}
            }
        }
        let secret = self.tree.has(id, Key::Secret);
        let value =
            if secret && !chosen.is_empty() { REDACTED.to_owned() } else { chosen.join(", ") };
        let role = role::role(self.tree, id);
        let whole = options.join("\u{1f}");
        let mut note = None;
        if let Some(same) = self.options.get(&whole) {
            note = (!options.is_empty()).then_some(Piece::OptionsOf(*same));
        } else if options.len() > 1 {
            let mut shown = String::new();
            let mut count = 0;
            for option in &options {
                if count == OPTIONS_SHOWN || shown.len() + option.len() > OPTIONS_BYTES {
                    break;
                }
                if count > 0 {
                    shown.push_str(" | ");
                }
                shown.push_str(option);
                count += 1;
            }
            let more = options.len() - count + left_out;
            if more > 0 {
                shown.push_str(&format!(" | +{more} more"));
            }
            note = Some(Piece::Note("choices", shown));
            self.options.insert(whole, self.out.elements.len());
        }
        self.hint = note;
        self.push_widget(id, role, name, &value, depth);
    }

    /// Whether an item is one link within the page, as tabs are: a click on the item is one on it.
    fn is_all_link(&self, id: Id, name: &str) -> bool {
        let mut links = self.tree.children(id).filter(|at| self.tree.element(*at).is_some());
        let (Some(link), None) = (links.next(), links.next()) else { return false };
        self.tree.tag(link) == "a"
            && self.tree.fact(link, Key::Href).is_some_and(|href| {
                let here = &self.capture.meta.url;
                let document = |url: &str| url.split('#').next().map(str::to_owned);
                href.contains('#') && document(href) == document(here)
            })
            && self.namer.name(link, "link").text == name
            && !self.holds_widgets(link)
    }

    /// An item of a tree, menu or list, which may hold further items.
    fn item(&mut self, id: Id, role: &str, name: &str, depth: u16) {
        let nested: Vec<Id> = self
            .tree
            .children(id)
            .filter(|at| {
                matches!(role::role(self.tree, *at), "group" | "menu" | "tree" | "list" | "listbox")
            })
            .collect();
        if nested.is_empty() {
            self.push_widget(id, role, name, "", depth);
            if !self.is_all_link(id, name) {
                self.inner_widgets(id, depth);
            }
            return;
        }
        let mut own = String::new();
        for child in self.tree.children(id).filter(|at| !nested.contains(at)) {
            match &self.tree.node(child).kind {
                Kind::Text(text) => own.push_str(text),
                Kind::Element(_) => {
                    own.push(' ');
                    own.push_str(&self.namer.text(child));
                }
                Kind::Gap(_) => {}
            }
        }
        let own = squeeze(&own);
        self.flush(depth);
        self.push_widget(id, role, if own.is_empty() { name } else { &own }, "", depth);
        self.flush(depth);
        for group in nested {
            self.children(group, depth + 1);
            self.flush(depth + 1);
        }
    }
}
