//! `fill_form`: several fields in one call. Each field walks the street for itself.

use crate::args::RefArg;
use crate::call::Call;
use crate::error::ControlError;
use crate::reply::Reply;
use crate::tool::tool;
use reins_core::{Action, Secret, Sensitivity, TargetRecord, TypeMode};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    fields: Vec<Field>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Field {
    r#ref: RefArg,
    /// text, an option's label, or true/false for a checkbox
    value: String,
}

tool!(
    "fill_form",
    "Fill a form",
    "Fill several fields of a form one after the other; stops at the first that cannot be filled.",
    Act,
    Forms,
    Args,
    run
);

/// Nobody fills more fields before looking again, and every field is a step.
const MOST_FIELDS: usize = 40;

async fn run(call: &mut Call<'_>, args: Args) -> Result<Reply, ControlError> {
    if args.fields.is_empty() || args.fields.len() > MOST_FIELDS {
        return Err(wrong(
            format!("there are {} fields", args.fields.len()),
            format!("Give 1 to {MOST_FIELDS} fields"),
        ));
    }
    let mut done = Reply::default();
    let count = args.fields.len();
    for (at, field) in args.fields.into_iter().enumerate() {
        let filled = one(call, field).await;
        let reply = match filled {
            Ok(reply) => reply,
            // What was filled before must be told as well.
            Err(error) if at > 0 => {
                done.text.push_str(&format!("\n{} of {count} fields filled; then: {error}", at));
                done.facts.insert("filled".into(), at.into());
                done.outcome = Some(reins_core::Outcome::Refused(reins_core::Refusal::new(
                    error.code(),
                    error.to_string(),
                    "The fields before it are filled.",
                )));
                done.facts.insert("outcome".into(), "refused".into());
                done.facts.insert("code".into(), error.code().into());
                return Ok(done);
            }
            Err(error) => return Err(error),
        };
        let failed = reply.failed();
        join(&mut done, reply);
        if failed {
            done.facts.insert("filled".into(), at.into());
            return Ok(done);
        }
    }
    done.facts.insert("filled".into(), count.into());
    Ok(done)
}

async fn one(call: &mut Call<'_>, field: Field) -> Result<Reply, ControlError> {
    let target = call.resolve(field.r#ref.0).await?;
    let action = match kind(&target) {
        Kind::Switch => {
            let checked = match field.value.trim() {
                "true" | "on" | "checked" => true,
                "false" | "off" | "" => false,
                other => {
                    return Err(wrong(
                        format!("the value of a {} is '{other}'", target.role),
                        "value is true or false there".into(),
                    ));
                }
            };
            Action::Check { target, checked }
        }
        Kind::Choice => Action::Select { target, options: vec![field.value] },
        Kind::Text => Action::Type {
            target,
            text: Secret::new(field.value),
            kept: None,
            mode: TypeMode::Replace,
            keys: false,
            enter: false,
        },
    };
    call.act(action).await
}

enum Kind {
    Switch,
    Choice,
    Text,
}

fn kind(target: &TargetRecord) -> Kind {
    match target.role.as_str() {
        "checkbox" | "radio" | "switch" | "menuitemcheckbox" | "menuitemradio" => Kind::Switch,
        _ if target.tag == "select" => Kind::Choice,
        "listbox" | "combobox" if !target.editable && target.sensitivity == Sensitivity::None => {
            Kind::Choice
        }
        _ => Kind::Text,
    }
}

/// Adds one field's answer to what was told of those before.
fn join(done: &mut Reply, reply: Reply) {
    if !done.text.is_empty() && !reply.text.is_empty() {
        done.text.push('\n');
    }
    // Every act says in its own line how it ended; that nothing else changed says nothing here.
    done.text.push_str(&reply.text);
    done.page = match (done.page.take(), reply.page) {
        (Some(mut before), Some(after)) => {
            before.text.push('\n');
            before.text.push_str(&after.text);
            before.state = after.state;
            before.whole = after.whole;
            Some(before)
        }
        (before, after) => after.or(before),
    };
    done.outcome = reply.outcome;
    done.moved |= reply.moved;
    done.changed = match (done.changed, reply.changed) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (before, after) => after.or(before),
    };
    done.verdict = reply.verdict;
    done.approved = reply.approved.or(done.approved);
    done.facts.extend(reply.facts);
    done.stored.extend(reply.stored);
}

fn wrong(reason: String, hint: String) -> ControlError {
    ControlError::Arguments { tool: "fill_form", reason, hint }
}
