//! What counts as hidden text (R-036…R-040), and what does not.
//!
//! Off screen is not hidden. `opacity: 0`, text of the background's colour and text
//! pushed above the page stay in: the filter makes hidden text rarer, it never proves that
//! none is left.

use crate::keys::Key;
use crate::tree::{Flags, Id, Rect, Tree};

/// A box this thin, cutting off its content, shows nobody anything (the "visually hidden" pattern).
const TINY: i32 = 1;

/// The part of the page that can be scrolled to, horizontally.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reach {
    /// The scroll position.
    pub(crate) scroll_x: i32,
    /// The leftmost place that scrolling reaches; negative on right-to-left pages.
    pub(crate) leftmost: i32,
}

/// Whether an element's own text cannot be seen, by its style.
pub(crate) fn own_text_is_hidden(flags: Flags) -> bool {
    flags.invisible() || flags.transparent() || flags.tiny_font() || flags.indented()
}

/// Whether nothing inside the element can be seen, by its box.
pub(crate) fn box_is_hidden(tree: &Tree, reach: Reach, id: Id) -> bool {
    let Some(element) = tree.element(id) else { return false };
    let Some(rect) = element.rect else { return false };
    is_tiny(rect, element.flags) || (is_off_left(reach, rect) && !scrolls_back(tree, id))
}

fn is_tiny(rect: Rect, flags: Flags) -> bool {
    flags.clips() && (rect.width <= TINY || rect.height <= TINY)
}

fn is_off_left(reach: Reach, rect: Rect) -> bool {
    let right = i64::from(rect.x) + i64::from(rect.width) + i64::from(reach.scroll_x);
    rect.width > 0 && right <= i64::from(reach.leftmost)
}

/// Whether it is only scrolled out of view inside a box of its own.
fn scrolls_back(tree: &Tree, id: Id) -> bool {
    tree.ancestors(id).any(|at| tree.flags(at).scrolls())
}

/// Whether assistive technology is not to see the element (captured only when referred to).
pub(crate) fn is_withheld(tree: &Tree, id: Id) -> bool {
    tree.fact(id, Key::AriaHidden) == Some("true") && !tree.flags(id).focused()
}
