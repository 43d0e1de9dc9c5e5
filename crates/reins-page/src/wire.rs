//! Reads the page script's flat record list into a [`Tree`]. Arbitrary input never panics.

use crate::keys::Key;
use crate::tree::{Display, Element, Flags, Id, Kind, Node, Rect, Tree};
use reins_core::NodeNumber;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Deeper nesting is flattened to this depth, so that walking a tree never exhausts the stack.
pub(crate) const MAX_DEPTH: u32 = 200;

const TEXT: i64 = -1;
const GAP: i64 = -2;
const ASIDE: i64 = -3;
const SCREEN: i64 = -4;

/// One value of the list: everything in it is a number or a text.
enum Item<'a> {
    Number(i64),
    Text(Cow<'a, str>),
}

impl<'de> Deserialize<'de> for Item<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ItemVisitor;
        impl<'de> Visitor<'de> for ItemVisitor {
            type Value = Item<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a text")
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
                Ok(Item::Number(value))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
                Ok(Item::Number(i64::try_from(value).unwrap_or(i64::MAX)))
            }
            #[expect(clippy::cast_possible_truncation, reason = "saturates, which is meant")]
            fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
                Ok(Item::Number(value as i64))
            }
            fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Self::Value, E> {
                Ok(Item::Text(Cow::Borrowed(value)))
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
                Ok(Item::Text(Cow::Owned(value.to_owned())))
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Item::Number(0))
            }
        }
        deserializer.deserialize_any(ItemVisitor)
    }
}

/// Deserializes the record list straight into a tree.
pub(crate) struct Records {
    pub(crate) tags: Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Records {
    type Value = Tree;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Records {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
        let mut builder =
            Builder { tree: Tree { tags: self.tags, ..Tree::default() }, ..Builder::default() };
        while let Some(kind) = seq.next_element::<i64>()? {
            match kind {
                TEXT => {
                    let depth = number(&mut seq)?;
                    let text = text(&mut seq)?;
                    builder.push(depth, Kind::Text(text.into_owned()));
                }
                GAP => {
                    let depth = number(&mut seq)?;
                    let count = number(&mut seq)?;
                    builder.push(depth, Kind::Gap(u32::try_from(count).unwrap_or(0)));
                }
                ASIDE => builder.begin_asides(),
                SCREEN => builder.extra = true,
                tag => builder.element(tag, &mut seq)?,
            }
        }
        Ok(builder.tree)
    }
}

fn number<'de, A: SeqAccess<'de>>(seq: &mut A) -> Result<i64, A::Error> {
    match seq.next_element::<Item<'de>>()? {
        Some(Item::Number(value)) => Ok(value),
        _ => Err(A::Error::custom("a number is missing")),
    }
}

fn text<'de, A: SeqAccess<'de>>(seq: &mut A) -> Result<Cow<'de, str>, A::Error> {
    match seq.next_element::<Item<'de>>()? {
        Some(Item::Text(value)) => Ok(value),
        Some(Item::Number(value)) => Ok(Cow::Owned(value.to_string())),
        None => Err(A::Error::custom("a text is missing")),
    }
}

#[derive(Default)]
struct Builder {
    tree: Tree,
    /// The open element at each depth.
    open: Vec<Id>,
    aside: bool,
    extra: bool,
}

impl Builder {
    fn begin_asides(&mut self) {
        self.open.clear();
        self.aside = true;
    }

    fn push(&mut self, depth: i64, kind: Kind) -> Option<Id> {
        let depth = usize::try_from(depth.clamp(0, i64::from(MAX_DEPTH))).unwrap_or(0);
        self.open.truncate(depth);
        let id = Id(u32::try_from(self.tree.nodes.len()).ok()?);
        let parent = self.open.last().copied();
        self.tree.nodes.push(Node {
            kind,
            parent,
            first: None,
            last: None,
            next: None,
            extra: self.extra,
        });
        let mut previous = None;
        if let Some(parent) = parent {
            let parent = &mut self.tree.nodes[parent.0 as usize];
            previous = parent.last.replace(id);
            parent.first.get_or_insert(id);
        } else if !self.aside {
            self.tree.root.get_or_insert(id);
        }
        if let Some(previous) = previous {
            self.tree.nodes[previous.0 as usize].next = Some(id);
        }
        Some(id)
    }

    fn element<'de, A: SeqAccess<'de>>(&mut self, tag: i64, seq: &mut A) -> Result<(), A::Error> {
        let depth = number(seq)?;
        let node = NodeNumber(u32::try_from(number(seq)?).unwrap_or(0));
        let display = Display::from_wire(u64::try_from(number(seq)?).unwrap_or(0));
        let flags = Flags(u32::try_from(number(seq)?).unwrap_or(0));
        let rect = if matches!(display, Display::Inline | Display::Contents) {
            None
        } else {
            let mut side = || number(seq).map(clamp);
            let rect = Rect { x: side()?, y: side()?, width: side()?, height: side()? };
            flags.has_box().then_some(rect)
        };
        let from = self.tree.facts.len();
        for _ in 0..number(seq)? {
            let key = Key::from_wire(u64::try_from(number(seq)?).unwrap_or(u64::MAX));
            let value = text(seq)?;
            // A key of a newer script is passed over.
            if let Some(key) = key {
                self.tree.facts.push((key, value.into_owned()));
            }
        }
        let span = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let facts = (span(from), span(self.tree.facts.len()));
        let element = Element {
            tag: u16::try_from(tag).unwrap_or(u16::MAX),
            number: node,
            display,
            flags,
            rect,
            facts,
        };
        if let Some(id) = self.push(depth, Kind::Element(element)) {
            self.open.push(id);
            if node.0 != 0 {
                // A context-only record gives way to one that has the content.
                let known = self.tree.by_number.entry(node).or_insert(id);
                if *known != id && self.tree.nodes[known.0 as usize].is_bare() {
                    *known = id;
                }
            }
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "clamped just before")]
fn clamp(value: i64) -> i32 {
    value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}
