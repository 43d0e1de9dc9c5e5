//! One frame's captured facts as a tree of elements and texts, in flat-tree order.

use crate::keys::Key;
use crate::name::is_html_space;
use reins_core::NodeNumber;
use std::collections::HashMap;

/// An index into [`Tree::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(pub(crate) u32);

/// How an element takes part in layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Display {
    Block,
    Inline,
    InlineBlock,
    Contents,
    Table,
    TableRow,
    TableCell,
    TableRows,
    ListItem,
    TableCaption,
}

impl Display {
    pub(crate) fn from_wire(number: u64) -> Self {
        use Display::*;
        [Block, Inline, InlineBlock, Contents, Table, TableRow, TableCell, TableRows, ListItem]
            .get(usize::try_from(number).unwrap_or(usize::MAX))
            .copied()
            .unwrap_or(if number == 9 { TableCaption } else { Block })
    }

    /// Whether it flows in a line with the text around it.
    pub(crate) fn is_inline(self) -> bool {
        matches!(self, Display::Inline | Display::InlineBlock | Display::Contents)
    }
}

/// What is true of an element; the bits of `Flag` in `facts.ts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Flags(pub(crate) u32);

macro_rules! flags {
    ($($name:ident = $bit:literal),* $(,)?) => {
        impl Flags { $(pub(crate) fn $name(self) -> bool { self.0 & (1 << $bit) != 0 })* }
    };
}

flags! {
    has_box = 0, on_screen = 1, invisible = 2, transparent = 3, tiny_font = 4, clips = 5,
    pointer = 6, disabled = 7, checked = 8, indeterminate = 9, selected = 10, required = 11,
    read_only = 12, focused = 13, editable = 14, hidden = 15, indented = 16,
    scrolls = 19, submits = 20, bare = 21, listens = 22,
}

/// A box in CSS pixels, relative to the viewport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rect {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

/// An element's facts.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) tag: u16,
    /// 0 for elements that nothing can point at.
    pub(crate) number: NodeNumber,
    pub(crate) display: Display,
    pub(crate) flags: Flags,
    pub(crate) rect: Option<Rect>,
    pub(crate) facts: (u32, u32),
}

/// What a node is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Element(Element),
    Text(String),
    /// So many sibling subtrees were left out here; 0 when they were not counted.
    Gap(u32),
}

/// A node with its links.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) parent: Option<Id>,
    pub(crate) first: Option<Id>,
    pub(crate) last: Option<Id>,
    pub(crate) next: Option<Id>,
    /// Reached only because it was on screen, after the room in document order was used up.
    pub(crate) extra: bool,
}

impl Node {
    pub(crate) fn is_bare(&self) -> bool {
        matches!(&self.kind, Kind::Element(element) if element.flags.bare())
    }
}

/// The captured tree of one frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) tags: Vec<String>,
    pub(crate) facts: Vec<(Key, String)>,
    pub(crate) by_number: HashMap<NodeNumber, Id>,
    /// The first node, when there is one in the page's own order.
    pub(crate) root: Option<Id>,
}

impl Tree {
    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The element's facts, unless the node is text.
    pub(crate) fn element(&self, id: Id) -> Option<&Element> {
        match &self.node(id).kind {
            Kind::Element(element) => Some(element),
            _ => None,
        }
    }

    /// The tag name, empty for text.
    pub(crate) fn tag(&self, id: Id) -> &str {
        self.element(id).map_or("", |element| self.tag_name(element))
    }

    pub(crate) fn tag_name(&self, element: &Element) -> &str {
        self.tags.get(usize::from(element.tag)).map_or("", String::as_str)
    }

    pub(crate) fn flags(&self, id: Id) -> Flags {
        self.element(id).map_or(Flags::default(), |element| element.flags)
    }

    pub(crate) fn parent(&self, id: Id) -> Option<Id> {
        self.node(id).parent
    }

    pub(crate) fn children(&self, id: Id) -> Children<'_> {
        Children { tree: self, next: self.node(id).first }
    }

    pub(crate) fn ancestors(&self, id: Id) -> Ancestors<'_> {
        Ancestors { tree: self, next: self.parent(id) }
    }

    /// A fact of the element.
    pub(crate) fn fact(&self, id: Id, key: Key) -> Option<&str> {
        let (from, to) = self.element(id)?.facts;
        self.facts
            .get(from as usize..to as usize)?
            .iter()
            .find(|(have, _)| *have == key)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn has(&self, id: Id, key: Key) -> bool {
        self.fact(id, key).is_some()
    }

    /// A fact without surrounding white space, None when that leaves nothing.
    pub(crate) fn text_fact(&self, id: Id, key: Key) -> Option<&str> {
        self.fact(id, key)
            .map(|text| text.trim_matches(is_html_space))
            .filter(|text| !text.is_empty())
    }

    /// The one record that stands for an element which was captured more than once.
    pub(crate) fn canonical(&self, id: Id) -> Id {
        self.element(id)
            .and_then(|element| self.by_number.get(&element.number))
            .copied()
            .unwrap_or(id)
    }

    /// The nodes that a reference fact (`aria-labelledby`, labels, …) points at.
    pub(crate) fn references(&self, id: Id, key: Key) -> Vec<Id> {
        self.fact(id, key)
            .unwrap_or_default()
            .split(' ')
            .filter_map(|number| number.parse().ok())
            .filter_map(|number| self.by_number.get(&NodeNumber(number)).copied())
            .collect()
    }
}

pub(crate) struct Children<'a> {
    tree: &'a Tree,
    next: Option<Id>,
}

impl Iterator for Children<'_> {
    type Item = Id;

    fn next(&mut self) -> Option<Id> {
        let id = self.next?;
        self.next = self.tree.node(id).next;
        Some(id)
    }
}

pub(crate) struct Ancestors<'a> {
    tree: &'a Tree,
    next: Option<Id>,
}

impl Iterator for Ancestors<'_> {
    type Item = Id;

    fn next(&mut self) -> Option<Id> {
        let id = self.next?;
        self.next = self.tree.parent(id);
        Some(id)
    }
}
