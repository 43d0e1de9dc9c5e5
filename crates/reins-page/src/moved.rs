//! Which lines have changed places: pages that sort a table or let a list be dragged keep its
//! elements, and only their order says what happened.

use std::collections::HashSet;

/// More lines than these are told as one new order.
pub(crate) const TOLD_ONE_BY_ONE: usize = 3;

/// The fewest lines that must have moved. Given is, for each line in its new order, where it was.
pub(crate) fn moved(places: &[(usize, usize)]) -> HashSet<usize> {
    // The longest run of lines that kept their order, by patience sorting.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(places.len());
    for (at, (_, old)) in places.iter().enumerate() {
        let pile = ends.partition_point(|end| places[*end].1 < *old);
        before.push(pile.checked_sub(1).map(|left| ends[left]));
        match ends.get_mut(pile) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut kept = HashSet::new();
    let mut at = ends.last().copied();
    while let Some(here) = at {
        kept.insert(here);
        at = before[here];
    }
    (0..places.len()).filter(|at| !kept.contains(at)).map(|at| places[at].0).collect()
}

#[cfg(test)]
mod tests {
    use super::moved;

    #[test]
    fn the_fewest_lines_moved() {
        let found = |old: &[usize]| {
            let places: Vec<(usize, usize)> = old.iter().copied().enumerate().collect();
            let mut found: Vec<usize> = moved(&places).into_iter().collect();
            found.sort_unstable();
            found
        };
        assert_eq!(found(&[0, 1, 2]), Vec::<usize>::new());
        assert_eq!(found(&[2, 0, 1]), [0]);
        assert_eq!(found(&[0, 2, 3, 1]), [3]);
        assert_eq!(found(&[3, 2, 1, 0]).len(), 3);
        assert!(found(&[]).is_empty());
    }
}
