//! `click`: a trusted click on an element.

use crate::args::RefArg;
use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_core::{Action, Gesture, Modifiers, MouseButton};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    r#ref: RefArg,
    #[serde(default)]
    button: Option<Button>,
    /// 2 = double click
    #[serde(default)]
    count: Option<u8>,
    /// keys held
    #[serde(default)]
    modifiers: Option<Vec<Modifier>>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Button {
    Left,
    Middle,
    Right,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
enum Modifier {
    Alt,
    Control,
    Meta,
    Shift,
}

tool!("click", "Click", "Click an element.", Act, Core, Args, run);

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    let count = args.count.unwrap_or(1);
    if !(1..=3).contains(&count) {
        return Err(ControlError::Arguments {
            tool: "click",
            reason: format!("count is {count}"),
            hint: "count is 1, 2 or 3".into(),
        });
    }
    let button = match args.button {
        None | Some(Button::Left) => MouseButton::Left,
        Some(Button::Middle) => MouseButton::Middle,
        Some(Button::Right) => MouseButton::Right,
    };
    let mut modifiers = Modifiers::default();
    for held in args.modifiers.unwrap_or_default() {
        match held {
            Modifier::Alt => modifiers.alt = true,
            Modifier::Control => modifiers.control = true,
            Modifier::Meta => modifiers.meta = true,
            Modifier::Shift => modifiers.shift = true,
        }
    }
    let target = call.resolve(args.r#ref.0).await?;
    call.session.state().clicked = Some(args.r#ref.0);
    let gesture = Gesture::Click { button, count, modifiers };
    call.act(Action::Pointer { target, gesture }).await
}
