//! What travels over a viewer's WebSocket, and the bounds of what a viewer may send (S-156, S-X09).

use super::limits::{KEY_CHARS, TEXT_CHARS, WHEEL};
use super::ticket::Mode;
use reins_browser::{KeyAction, PersonInput, PointerAction};
use reins_core::{Modifiers, MouseButton, Secret};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// All that a viewer can say. Nothing else is understood.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum FromViewer {
    Ticket {
        ticket: String,
    },
    Input {
        input: Input,
    },
    /// What is selected is to be copied.
    Copy {},
    HandBack {},
    TakeOver {
        ticket: String,
    },
}

/// One thing that a person did at the view.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Input {
    Pointer {
        action: Pointer,
        x: f64,
        y: f64,
        #[serde(default)]
        button: Button,
        #[serde(default)]
        buttons: u8,
        clicks: Option<u8>,
        #[serde(default)]
        modifiers: u8,
    },
    Wheel {
        x: f64,
        y: f64,
        dx: f64,
        dy: f64,
        #[serde(default)]
        modifiers: u8,
    },
    Key {
        action: Press,
        key: String,
        code: String,
        #[serde(default)]
        modifiers: u8,
    },
    Text {
        text: String,
    },
}

/// Which bound an input breaks (S-X09).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum OutOfBounds {
    #[error("clicks is a number from 1 to 3")]
    Clicks,
    #[error("key is a name of 1 to 32 characters")]
    Key,
    #[error("code has at most 32 characters")]
    Code,
    #[error("text has at most 2000 characters; paste it in parts")]
    Text,
    #[error("x and y are fractions from 0 to 1")]
    Place,
    #[error("dx and dy are at most 10000")]
    Turn,
    #[error("modifiers is a bit set: 1 Alt, 2 Control, 4 Meta, 8 Shift")]
    Modifiers,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pointer {
    Move,
    Down,
    Up,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Press {
    Down,
    Up,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Button {
    #[default]
    Left,
    Middle,
    Right,
}

/// Reads a message. `None`: it is none of ours.
pub(crate) fn read(text: &str) -> Option<FromViewer> {
    serde_json::from_str(text).ok()
}

impl Input {
    /// The same within its bounds, or which bound it breaks.
    pub(crate) fn bounded(self) -> Result<PersonInput, OutOfBounds> {
        Ok(match self {
            Self::Pointer { action, x, y, button, buttons, clicks, modifiers } => {
                let clicks = clicks.unwrap_or(1);
                if !(1..=3).contains(&clicks) {
                    return Err(OutOfBounds::Clicks);
                }
                PersonInput::Pointer {
                    action: match action {
                        Pointer::Move => PointerAction::Move,
                        Pointer::Down => PointerAction::Down,
                        Pointer::Up => PointerAction::Up,
                    },
                    x: fraction(x)?,
                    y: fraction(y)?,
                    button: match button {
                        Button::Left => MouseButton::Left,
                        Button::Middle => MouseButton::Middle,
                        Button::Right => MouseButton::Right,
                    },
                    // Back and forward buttons are left out: they would leave the page.
                    buttons: buttons & 7,
                    clicks,
                    modifiers: held(modifiers)?,
                }
            }
            Self::Wheel { x, y, dx, dy, modifiers } => PersonInput::Wheel {
                x: fraction(x)?,
                y: fraction(y)?,
                dx: turned(dx)?,
                dy: turned(dy)?,
                modifiers: held(modifiers)?,
            },
            Self::Key { action, key, code, modifiers } => {
                if key.is_empty() || key.chars().count() > KEY_CHARS {
                    return Err(OutOfBounds::Key);
                }
                if code.chars().count() > KEY_CHARS {
                    return Err(OutOfBounds::Code);
                }
                let action = match action {
                    Press::Down => KeyAction::Down,
                    Press::Up => KeyAction::Up,
                };
                PersonInput::Key { action, key, code, modifiers: held(modifiers)? }
            }
            Self::Text { text } => {
                if text.chars().count() > TEXT_CHARS {
                    return Err(OutOfBounds::Text);
                }
                PersonInput::Text(Secret::new(text))
            }
        })
    }
}

fn fraction(value: f64) -> Result<f64, OutOfBounds> {
    // What is no number is in no range.
    (0.0..=1.0).contains(&value).then_some(value).ok_or(OutOfBounds::Place)
}

fn turned(value: f64) -> Result<f64, OutOfBounds> {
    (-WHEEL..=WHEEL).contains(&value).then_some(value).ok_or(OutOfBounds::Turn)
}

fn held(bits: u8) -> Result<Modifiers, OutOfBounds> {
    if bits > 15 {
        return Err(OutOfBounds::Modifiers);
    }
    Ok(Modifiers {
        alt: bits & 1 != 0,
        control: bits & 2 != 0,
        meta: bits & 4 != 0,
        shift: bits & 8 != 0,
    })
}

/// All that a viewer is told in words. Pictures come as binary messages, each after its `frame_about`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ToViewer<'a> {
    Welcome {
        viewer: String,
        mode: Mode,
        css_width: f64,
        css_height: f64,
        driver: Option<&'a ShownDriver>,
    },
    FrameAbout {
        css_width: f64,
        css_height: f64,
        at: String,
        tab: &'a str,
        url: &'a str,
        title: &'a str,
    },
    Driver {
        driver: Option<&'a ShownDriver>,
    },
    Waiting {
        tool: &'a str,
        since: String,
    },
    WaitingOver,
    Copied {
        text: &'a str,
    },
    FilesWanted {
        several: bool,
    },
    Refused {
        what: &'a str,
        why: &'a str,
    },
}

/// Who drives, as one viewer sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ShownDriver {
    pub(crate) name: String,
    pub(crate) since: String,
    /// Whether it is the viewer who is told.
    pub(crate) you: bool,
}

impl ToViewer<'_> {
    pub(crate) fn json(&self) -> String {
        // Plain data of ours always encodes.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn input(json: &str) -> Option<Result<PersonInput, OutOfBounds>> {
        match read(&format!(r#"{{"type":"input","input":{json}}}"#))? {
            FromViewer::Input { input } => Some(input.bounded()),
            _ => None,
        }
    }

    /// S-156: pointer, wheel, key and text; never script or a command.
    #[test]
    fn s156_nothing_but_the_four_kinds_is_understood() {
        for good in [
            r#"{"kind":"pointer","action":"move","x":0,"y":1,"buttons":1,"modifiers":15}"#,
            r#"{"kind":"pointer","action":"down","x":0.5,"y":0.5,"button":"right","buttons":2,"clicks":2,"modifiers":0}"#,
            r#"{"kind":"wheel","x":0.5,"y":0.5,"dx":0,"dy":-10000}"#,
            r#"{"kind":"key","action":"up","key":"Enter","code":"Enter","modifiers":0}"#,
            r#"{"kind":"text","text":"Grüße 你好"}"#,
        ] {
            assert!(matches!(input(good), Some(Ok(_))), "{good}");
        }
        for bad in [
            r#"{"kind":"script","text":"alert(1)"}"#,
            r#"{"kind":"text","text":"a","script":"b"}"#,
            r#"{"kind":"key","action":"press","key":"a","code":"KeyA","modifiers":0}"#,
            r#"{"kind":"pointer","action":"move","x":"0","y":0}"#,
            r#"{"kind":"pointer","action":"move","x":0,"y":0,"button":"back"}"#,
            r#"{"kind":"navigate","url":"http://a.example"}"#,
            r#"{"method":"Page.navigate","params":{}}"#,
        ] {
            assert!(input(bad).is_none(), "{bad}");
        }
        for other in
            ["", "[]", "null", "{}", r#"{"type":"eval","ticket":"x"}"#, r#"{"type":"ticket"}"#]
        {
            assert!(read(other).is_none(), "{other}");
        }
        assert!(matches!(read(r#"{"type":"hand_back"}"#), Some(FromViewer::HandBack {})));
        assert!(matches!(read(r#"{"type":"copy"}"#), Some(FromViewer::Copy {})));
    }

    /// S-X09: each bound, on both sides.
    #[test]
    fn s_x09_input_is_bounded() {
        let key = |n: usize| {
            format!(
                r#"{{"kind":"key","action":"down","key":"{}","code":"","modifiers":0}}"#,
                "k".repeat(n)
            )
        };
        let text = |n: usize| format!(r#"{{"kind":"text","text":"{}"}}"#, "é".repeat(n));
        let wheel = |d: &str| format!(r#"{{"kind":"wheel","x":0,"y":0,"dx":{d},"dy":0}}"#);
        let point = |x: &str| format!(r#"{{"kind":"pointer","action":"move","x":{x},"y":0}}"#);
        let clicks =
            |n: u8| format!(r#"{{"kind":"pointer","action":"down","x":0,"y":0,"clicks":{n}}}"#);
        for (json, good) in [
            (key(32), true),
            (key(33), false),
            (key(0), false),
            (text(2_000), true),
            (text(2_001), false),
            (wheel("10000"), true),
            (wheel("10000.5"), false),
            (wheel("-10001"), false),
            (point("1"), true),
            (point("1.0001"), false),
            (point("-0.0001"), false),
            (clicks(3), true),
            (clicks(0), false),
            (clicks(4), false),
        ] {
            assert_eq!(input(&json).unwrap().is_ok(), good, "{json}");
        }
    }

    /// What was typed is nowhere printed.
    #[test]
    fn s105_a_text_prints_as_redacted() {
        let text = input(r#"{"kind":"text","text":"hunter2"}"#).unwrap().unwrap();
        assert!(!format!("{text:?}").contains("hunter2"));
    }

    proptest! {
        /// S-X09: whatever is accepted lies within the bounds.
        #[test]
        fn s_x09_what_is_accepted_is_within_the_bounds(x in any::<f64>(), y in any::<f64>(), dx in any::<f64>(), buttons in any::<u8>(), modifiers in any::<u8>()) {
            let wheel = Input::Wheel { x, y, dx, dy: -dx, modifiers };
            if let Ok(PersonInput::Wheel { x, y, dx, dy, .. }) = wheel.bounded() {
                prop_assert!((0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y));
                prop_assert!(dx.abs() <= WHEEL && dy.abs() <= WHEEL);
            }
            let pointer = Input::Pointer { action: Pointer::Move, x, y, button: Button::Left, buttons, clicks: None, modifiers };
            if let Ok(PersonInput::Pointer { x, y, buttons, .. }) = pointer.bounded() {
                prop_assert!((0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y));
                prop_assert!(buttons < 8);
            }
        }

        #[test]
        fn s156_any_text_is_read_without_harm(text in ".{0,200}") {
            if let Some(FromViewer::Input { input }) = read(&text) {
                drop(input.bounded());
            }
        }
    }
}
