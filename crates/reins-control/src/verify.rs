//! Looking whether a page shows what it should, for agents that test it.

use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use reins_core::{Ref, Sensitivity, TargetRecord};
use reins_page::Held;
use std::fmt::Write as _;

impl Call<'_> {
    /// Whether a text is on the page.
    pub(crate) async fn verify_text(&mut self, text: &str) -> Result<Reply, ControlError> {
        let tab = self.tab()?;
        if text.trim().is_empty() {
            return Err(wrong("verify_text", "text is empty", "text is what the page should show"));
        }
        let page = self.read_all(&tab).await?;
        if page.says(text) { Ok(verified("text", text)) } else { Err(missing("text", text)) }
    }

    /// Whether an element of this role and name is on the page.
    pub(crate) async fn verify_element(
        &mut self,
        role: &str,
        name: &str,
    ) -> Result<Reply, ControlError> {
        let tab = self.tab()?;
        let page = self.read_all(&tab).await?;
        match page.count(role, name) {
            0 => Err(missing(role, name)),
            count => Ok(verified(role, name).with("count", count)),
        }
    }

    /// Whether every item is in a list, or on the page.
    pub(crate) async fn verify_list(
        &mut self,
        list: Option<Ref>,
        items: &[String],
    ) -> Result<Reply, ControlError> {
        let tab = self.tab()?;
        let list = match list {
            Some(list) => Some(self.resolve(list).await?.node),
            None => None,
        };
        let page = self.read_all(&tab).await?;
        let Some(lines) = page.lines_below(list.as_ref()) else {
            return Err(ControlError::NotVerified("the list is not shown any more".into()));
        };
        let lines: Vec<String> = lines.iter().map(|line| line.to_lowercase()).collect();
        let lacks = items.iter().find(|item| {
            let item = item.trim().to_lowercase();
            !lines.iter().any(|line| line.contains(&item))
        });
        match lacks {
            Some(item) => Err(missing("item", item)),
            None => Ok(Reply::text(format!("verified: all {} items are shown", items.len()))),
        }
    }

    /// Whether a control holds a value, or is in a state.
    pub(crate) async fn verify_value(
        &mut self,
        control: Ref,
        value: &str,
    ) -> Result<Reply, ControlError> {
        let target = self.resolve(control).await?;
        if !matches!(target.sensitivity, Sensitivity::None | Sensitivity::File) {
            return Err(ControlError::NotVerified(
                "what a field for secrets holds is not read, so it cannot be compared".into(),
            ));
        }
        let page = self.read_all(&target.node.tab).await?;
        let Some(held) = page.held(&target.node) else {
            return Err(ControlError::NotVerified("the control is not shown any more".into()));
        };
        let now = state(&held);
        if now.trim() == value.trim() {
            return Ok(verified(&held.role, value));
        }
        let now = reins_guard::clip_middle(&reins_guard::plain_text(&now), SHOWN_BYTES);
        Err(ControlError::NotVerified(format!("the {} holds \"{now}\"", held.role)))
    }

    /// How a test in Playwright's language names an element.
    pub(crate) async fn locator(&mut self, element: Ref) -> Result<Reply, ControlError> {
        let target = self.resolve(element).await?;
        let page = self.read_all(&target.node.tab).await?;
        let same = if target.name.is_empty() { 0 } else { page.count(&target.role, &target.name) };
        let locator = locator(&target);
        let mut reply = Reply::text(locator);
        if same != 1 {
            let _ = write!(
                reply.text,
                "\n{} elements are named so; narrow it in the test",
                if same == 0 { "several or no".to_owned() } else { same.to_string() }
            );
        }
        Ok(reply)
    }
}

/// Longer values are cut where an error shows them.
const SHOWN_BYTES: usize = 200;

/// A checkbox, radio or switch as `true` or `false`; anything else by its text.
fn state(held: &Held) -> String {
    match held.role.as_str() {
        "checkbox" | "radio" | "switch" | "menuitemcheckbox" | "menuitemradio" => {
            held.states.iter().any(|state| state == "checked").to_string()
        }
        _ => held.value.clone(),
    }
}

fn locator(target: &TargetRecord) -> String {
    let name = serde_json::to_string(target.name.trim()).unwrap_or_default();
    match (target.role.as_str(), target.name.trim()) {
        ("", "") => format!("page.locator(\"{}\")", target.tag),
        ("" | "generic" | "paragraph", _) => format!("page.getByText({name}, {{ exact: true }})"),
        (role, "") => format!("page.getByRole(\"{role}\")"),
        (role, _) => format!("page.getByRole(\"{role}\", {{ name: {name}, exact: true }})"),
    }
}

fn verified(what: &str, words: &str) -> Reply {
    let words = reins_guard::clip_middle(&reins_guard::plain_text(words), SHOWN_BYTES);
    Reply::text(format!("verified: {what} \"{words}\""))
}

fn missing(what: &str, words: &str) -> ControlError {
    let words = reins_guard::clip_middle(&reins_guard::plain_text(words), SHOWN_BYTES);
    ControlError::NotVerified(format!("{what} \"{words}\" is not on the page"))
}

fn wrong(tool: &'static str, reason: &str, hint: &str) -> ControlError {
    ControlError::Arguments { tool, reason: reason.into(), hint: hint.into() }
}
