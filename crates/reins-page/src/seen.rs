//! Whether a page shows something: for tests of pages, without publishing anything.

use crate::line::{Line, Piece};
use crate::name::squeeze;
use crate::snapshot::PrivateSnapshot;
use reins_core::NodeKey;

/// What a control holds, as a snapshot would say it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Its role.
    pub role: String,
    /// Its name. Page text.
    pub name: String,
    /// The text in it; a secret is `[redacted]`.
    pub value: String,
    /// Its states, such as `checked`.
    pub states: Vec<String>,
}

impl PrivateSnapshot {
    /// Whether a text is shown anywhere, also off screen, whatever its case and spaces.
    pub fn says(&self, text: &str) -> bool {
        let wanted = folded(text);
        let lines: Vec<String> = self.lines.iter().map(|line| folded(&plain(line))).collect();
        lines.iter().any(|line| line.contains(&wanted)) || lines.join(" ").contains(&wanted)
    }

    /// How many elements of a role have a name that contains this one, whatever its case.
    pub fn count(&self, role: &str, name: &str) -> usize {
        let (role, wanted) = (role.trim().to_lowercase(), folded(name));
        let acting = self
            .elements
            .iter()
            .filter(|element| element.role == role && folded(&element.name).contains(&wanted))
            .count();
        if acting > 0 {
            return acting;
        }
        let named = |line: &&Line| match line.pieces.as_slice() {
            _ if role == "heading" => {
                let text = plain(line);
                text.starts_with('#') && folded(&text).contains(&wanted)
            }
            [Piece::Text(word), Piece::Quoted(name), ..] => {
                *word == role && folded(name).contains(&wanted)
            }
            _ => false,
        };
        self.lines.iter().filter(named).count()
    }

    /// What a control holds now, if it is on the page.
    pub fn held(&self, key: &NodeKey) -> Option<Held> {
        let at = self.place(key)?;
        let element = &self.elements[at];
        let mut held =
            Held { role: element.role.clone(), name: element.name.clone(), ..Held::default() };
        for line in &self.lines {
            let Some(place) = line.pieces.iter().position(|piece| *piece == Piece::Ref(at)) else {
                continue;
            };
            for piece in &line.pieces[place + 1..] {
                match piece {
                    Piece::Mark(mark) => held.states.push((*mark).to_owned()),
                    Piece::Value(value) => held.value.clone_from(value),
                    Piece::Note(..) | Piece::Address(_) | Piece::OptionsOf(_) => {}
                    _ => break,
                }
            }
            break;
        }
        Some(held)
    }

    /// The lines below the one that is about an element, or all lines without one.
    pub fn lines_below(&self, key: Option<&NodeKey>) -> Option<Vec<String>> {
        let Some(key) = key else { return Some(self.lines.iter().map(plain).collect()) };
        let at = self.place(key)?;
        let mentions = |line: &Line| {
            line.about == Some(at)
                || line.words == Some(at)
                || line.pieces.contains(&Piece::Ref(at))
        };
        let first = self.lines.iter().position(mentions)?;
        let depth = self.lines[first].depth;
        let mut lines = vec![plain(&self.lines[first])];
        lines.extend(
            self.lines[first + 1..].iter().take_while(|line| line.depth > depth).map(plain),
        );
        Some(lines)
    }

    fn place(&self, key: &NodeKey) -> Option<usize> {
        self.elements.iter().position(|element| self.key(element).as_ref() == Some(key))
    }
}

fn plain(line: &Line) -> String {
    line.render(&|_| None).trim_start().trim_start_matches("- ").to_owned()
}

fn folded(text: &str) -> String {
    squeeze(text).to_lowercase()
}

#[cfg(test)]
mod tests {
    use crate::testing::{capture, snapshot};

    /// S-033: what a test of a page asks about is found as it is shown, and what is hidden is not.
    #[test]
    fn s033_what_is_shown_is_found() {
        let page = snapshot(vec![capture(
            r#"<h2>Order  list</h2><p>Total: <b>12 €</b></p><p :flags="invisible">SECRET</p>
               <button>Place order</button><input type=checkbox aria-label=Gift :flags="checked">"#,
        )]);
        assert!(page.says("order list") && page.says("total: 12 €") && !page.says("secret"));
        assert_eq!(page.count("button", "place"), 1);
        assert_eq!(page.count("heading", "Order list"), 1);
        assert_eq!(page.count("link", "place"), 0);
        let boxed = page.elements.iter().find(|element| element.role == "checkbox").unwrap();
        let held = page.held(&page.key(boxed).unwrap()).unwrap();
        assert_eq!((held.name.as_str(), held.states), ("Gift", vec!["checked".to_owned()]));
    }
}
