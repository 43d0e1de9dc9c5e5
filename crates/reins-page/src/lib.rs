//! What a page says: captured facts to snapshot lines, refs, deltas and page text.

/// The script that reads pages. It is installed in every frame before any page script, in the
/// isolated world [`WORLD`].
pub const SCRIPT: &str = include_str!("../../../web/dist/page.js");

/// The name of the isolated world that [`SCRIPT`] runs in.
pub const WORLD: &str = "reins";
