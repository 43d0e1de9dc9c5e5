//! Which pictures of a screen are kept.

use crate::limits::FRAME_GAP;

/// Lets a picture through when it differs from the last one and that one is old enough.
#[derive(Debug, Default)]
pub struct Sparse {
    last: Option<(u64, u32)>,
}

impl Sparse {
    /// Whether to keep this picture.
    pub fn keeps(&mut self, at_ms: u64, jpeg: &[u8]) -> bool {
        let sum = crc32fast::hash(jpeg);
        let keeps = self.last.is_none_or(|(last, before)| {
            let since = u128::from(at_ms.saturating_sub(last));
            sum != before && since >= FRAME_GAP.as_millis()
        });
        if keeps {
            self.last = Some((at_ms, sum));
        }
        keeps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_sparse_and_never_the_same_twice_in_a_row() {
        let mut sparse = Sparse::default();
        assert!(sparse.keeps(1_000, b"a"));
        assert!(!sparse.keeps(2_999, b"b"));
        assert!(!sparse.keeps(9_000, b"a"));
        assert!(sparse.keeps(9_000, b"b"));
    }
}
