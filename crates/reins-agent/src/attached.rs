//! What the person gave with the task. It stands at the very beginning of what is sent, so that it is
//! cached, and stays there whatever else is left out.

use reins_models::{Message, Part};

/// A picture counts as so many bytes of text: about what models charge for one.
const PICTURE_BYTES: usize = 5_000;

/// The messages with the attached parts at the beginning of the first one of the person. They get no
/// message of their own: some models want the roles to take turns.
pub(crate) fn before(attached: &[Part], mut messages: Vec<Message>) -> Vec<Message> {
    if attached.is_empty() {
        return messages;
    }
    match messages.first_mut() {
        Some(Message::User(parts)) => {
            parts.splice(0..0, attached.iter().cloned());
        }
        _ => messages.insert(0, Message::User(attached.to_vec())),
    }
    messages
}

/// Their weight in bytes.
pub(crate) fn weight(attached: &[Part]) -> usize {
    let of = |part: &Part| match part {
        Part::Text(text) => text.len(),
        Part::Image(_) => PICTURE_BYTES,
    };
    attached.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_attached_comes_first_and_disturbs_nobodys_turn() {
        let text = |text: &str| Part::Text(text.to_owned());
        let attached = [text("a list"), text("more")];
        let answer = Message::Assistant { text: "ok".into(), calls: vec![], kept: vec![] };
        let messages = before(&attached, vec![Message::user("task"), answer.clone()]);
        let first = Message::User(vec![text("a list"), text("more"), text("task")]);
        assert_eq!(messages, [first, answer.clone()]);
        let messages = before(&attached, vec![answer.clone()]);
        assert_eq!(messages, [Message::User(attached.to_vec()), answer.clone()]);
        assert_eq!(before(&[], vec![answer.clone()]), [answer]);
        assert_eq!(weight(&attached), 10);
    }
}
