//! Asks a model for a plan.

use super::read::Flaw;
use super::{Form, Plan};
use crate::mode::Mode;
use crate::questions::object_in;
use crate::text::clip_middle;
use reins_models::{ChatRequest, Message, Model, ModelError, Purpose, Reasoning, Shape, Usage};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// The task as the planner sees it. Longer ones are rare, and both ends say what is wanted.
const TASK_BYTES: usize = 16_000;

/// Tokens of a full plan: twenty short steps and sixty short items.
const PLAN_TOKENS: u32 = 2_000;

/// Tokens of an intent.
const INTENT_TOKENS: u32 = 400;

/// What a plan is made from. Pictures never belong to it (W-231).
#[derive(Clone, Debug, Default)]
pub(crate) struct PlanInput<'a> {
    /// The person's words.
    pub(crate) task: &'a str,
    /// What kind of task it may be (W-245).
    pub(crate) mode: Mode,
    /// The address that the person gave to start from.
    pub(crate) start: Option<&'a str>,
    /// What was said before, oldest first.
    pub(crate) before: Option<&'a str>,
    /// What the planner asked, and what the person answered.
    pub(crate) answered: Option<(&'a str, &'a str)>,
}

/// What asking brought, and what it used.
pub(crate) struct Asked {
    pub(crate) plan: Result<Plan, NoPlan>,
    pub(crate) used: Vec<Usage>,
}

/// Why there is no plan.
#[derive(Debug)]
pub(crate) enum NoPlan {
    /// The person stopped it.
    Stopped,
    /// The model failed.
    Failed(ModelError),
    /// What it wrote was no plan, twice (W-246).
    Unusable(&'static str),
}

/// Asks for a plan; what is no plan is sent back once (W-246).
pub(crate) async fn plan(
    model: &dyn Model,
    form: Form,
    input: &PlanInput<'_>,
    cancel: &CancellationToken,
) -> Asked {
    let mut used = Vec::new();
    let mut request = request(form, input);
    let mut wrong = "it was no plan";
    for _ in 0..2 {
        let reply = tokio::select! {
            biased;
            () = cancel.cancelled() => return Asked { plan: Err(NoPlan::Stopped), used },
            reply = reins_models::reply(model, request.clone()) => reply,
        };
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => return Asked { plan: Err(NoPlan::Failed(error)), used },
        };
        used.extend(reply.usage);
        let read = object_in(&reply.text).ok_or(Flaw("the answer must be one JSON object"));
        match read.and_then(|value| super::read::read(&value, form)) {
            Ok(plan) => return Asked { plan: Ok(plan), used },
            Err(Flaw(what)) => wrong = what,
        }
        let text = if reply.text.trim().is_empty() { "{}".to_owned() } else { reply.text };
        request.purpose = Purpose::PlanRepair;
        request.messages.push(Message::Assistant { text, calls: Vec::new(), kept: Vec::new() });
        request
            .messages
            .push(Message::user(format!("That cannot be used: {wrong}. Answer again.")));
    }
    Asked { plan: Err(NoPlan::Unusable(wrong)), used }
}

const INSTRUCTIONS: &str = "\
You plan a task that another program will carry out in the user's web browser. You see neither the \
pages nor the tools. Plan only what the user's own words ask for; add nothing they did not ask for. \
Write briefly and plainly, in the language of the user's words.
\"action\": execute; plan_only if the user wants a plan and nothing done; clarify only if the task \
cannot be begun without one answer of the user that no page can give.
\"question\": what to ask for clarify, else \"\".
\"summary\": one sentence that says what will be done.
\"recipient\": the exact name of who gets a message, if the user asked to send one, else \"\".";

const FULL: &str = "
\"steps\": the steps, one brief sentence each.
\"risks\": what costs money, is seen by others or cannot be undone; [] if nothing.
\"memory\": none; notes if facts have to be carried from page to page; list if the same is to be done \
for several things that the user named.
\"items\": those things, in the user's own words; [] if there is no list.";

const COMPACT: &str = "
\"steps\": [] unless action is plan_only.";

fn request(form: Form, input: &PlanInput<'_>) -> ChatRequest {
    let more = match form {
        Form::Full => FULL,
        Form::Compact => COMPACT,
    };
    let mut matter = String::new();
    if let Some(before) = input.before {
        matter.push_str(&format!("Said before:\n{before}\n\n"));
    }
    if let Some(start) = input.start {
        matter.push_str(&format!("It begins at {start}.\n\n"));
    }
    matter.push_str(&format!("Mode: {}\n", input.mode.as_str()));
    matter.push_str(&format!("Task: {}", clip_middle(input.task, TASK_BYTES)));
    if let Some((question, answer)) = input.answered {
        matter.push_str(&format!(
            "\n\nYou asked: {question}\nThe user answered: {answer}\nDo not ask again what this answers."
        ));
    }
    ChatRequest {
        system: format!("{INSTRUCTIONS}{more}\nAnswer with one JSON object only."),
        messages: vec![Message::user(matter)],
        max_tokens: Some(if form == Form::Full { PLAN_TOKENS } else { INTENT_TOKENS }),
        // Thoughts would use the tokens up (W-246).
        reasoning: Reasoning::Off,
        purpose: if input.answered.is_some() { Purpose::Replan } else { Purpose::Plan },
        shape: Some(Shape { name: "plan", schema: schema(form) }),
        ..ChatRequest::default()
    }
}

fn schema(form: Form) -> Value {
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let mut properties = json!({
        "action": {"type": "string", "enum": ["execute", "plan_only", "clarify"]},
        "question": text, "recipient": text, "steps": texts, "summary": text,
    });
    if form == Form::Full {
        properties["items"] = texts.clone();
        properties["memory"] = json!({"type": "string", "enum": ["none", "notes", "list"]});
        properties["risks"] = texts;
    }
    let required: Vec<&String> =
        properties.as_object().into_iter().flat_map(|all| all.keys()).collect();
    json!({
        "type": "object", "required": required, "additionalProperties": false,
        "properties": properties,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w231_w239_w254_each_form_asks_for_its_fields() {
        let input = PlanInput {
            task: "order it",
            start: Some("https://a.example"),
            ..PlanInput::default()
        };
        let full = request(Form::Full, &input);
        let compact = request(Form::Compact, &input);
        let fields = |request: &ChatRequest| {
            request
                .shape
                .as_ref()
                .map_or(0, |shape| shape.schema["required"].as_array().map_or(0, Vec::len))
        };
        assert_eq!((fields(&full), fields(&compact)), (8, 5));
        assert!(compact.max_tokens < full.max_tokens);
        assert!(format!("{:?}", full.messages).contains("It begins at https://a.example."));
        assert_eq!((full.purpose, full.reasoning), (Purpose::Plan, Reasoning::Off));
        let answered = PlanInput { answered: Some(("Which?", "the blue one")), ..input };
        let again = request(Form::Full, &answered);
        assert_eq!(again.purpose, Purpose::Replan, "W-254: told apart in a trace");
    }
}
