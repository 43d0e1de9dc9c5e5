//! Reads and cleans what a model wrote as a plan.

use super::{Form, MemoryKind, Plan, PlanAction};
use crate::memory::{ITEM_CHARS, ITEMS};
use crate::text::plain_line;
use serde_json::Value;

/// A plan is read by a person on a small screen.
const SUMMARY_CHARS: usize = 300;

/// One step or risk is a brief sentence (W-239).
const STEP_CHARS: usize = 160;

/// More steps than this are no plan but a transcript.
const STEPS: usize = 20;

/// More risks than this are not read.
const RISKS: usize = 6;

/// What is wrong with an answer, in words that end "That cannot be used: …" for the model.
#[derive(Debug)]
pub(super) struct Flaw(pub(super) &'static str);

/// A plan from an answer.
pub(super) fn read(value: &Value, form: Form) -> Result<Plan, Flaw> {
    let line = |key: &str, most: usize| plain_line(value[key].as_str().unwrap_or_default(), most);
    let lines = |key: &str, count: usize, most: usize| -> Vec<String> {
        let all = value[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        all.map(|text| plain_line(text, most)).filter(|text| !text.is_empty()).take(count).collect()
    };
    let action = match value["action"].as_str() {
        Some("execute") => PlanAction::Execute,
        Some("plan_only") => PlanAction::PlanOnly,
        Some("clarify") => PlanAction::Clarify,
        _ => return Err(Flaw("\"action\" must be execute, plan_only or clarify")),
    };
    let mut plan = Plan {
        action,
        summary: line("summary", SUMMARY_CHARS),
        steps: lines("steps", STEPS, STEP_CHARS),
        risks: lines("risks", RISKS, STEP_CHARS),
        memory: match value["memory"].as_str() {
            Some("list") => MemoryKind::List,
            Some("notes") => MemoryKind::Notes,
            _ => MemoryKind::None,
        },
        items: lines("items", ITEMS, ITEM_CHARS),
        question: line("question", SUMMARY_CHARS),
        recipient: Some(line("recipient", ITEM_CHARS)).filter(|name| !name.is_empty()),
    };
    if plan.summary.is_empty() {
        return Err(Flaw("\"summary\" must say in one sentence what will be done"));
    }
    if plan.action == PlanAction::Clarify && plan.question.is_empty() {
        return Err(Flaw("\"question\" must ask the person what is missing"));
    }
    let needs_steps = match form {
        Form::Full => plan.action != PlanAction::Clarify,
        Form::Compact => plan.action == PlanAction::PlanOnly,
    };
    if needs_steps && plan.steps.is_empty() {
        return Err(Flaw("\"steps\" must list the steps"));
    }
    if form == Form::Compact && plan.action == PlanAction::Execute {
        plan.steps.clear();
    }
    if plan.memory != MemoryKind::List || plan.items.is_empty() {
        plan.items.clear();
        if plan.memory == MemoryKind::List {
            plan.memory = MemoryKind::Notes;
        }
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn w244_every_field_is_bounded_and_cleaned() {
        let written = json!({
            "action": "execute", "summary": " Order\n it\u{202e} ", "memory": "list",
            "steps": vec!["go\tthere"; STEPS + 9], "risks": ["", "costs money"],
            "items": [], "recipient": "", "question": "x".repeat(5000), "more": 1,
        });
        let plan = read(&written, Form::Full).expect("a plan");
        assert_eq!((plan.summary.as_str(), plan.steps.len()), ("Order it", STEPS));
        assert_eq!((plan.steps[0].as_str(), plan.risks.len()), ("go there", 1));
        assert_eq!((plan.memory, plan.recipient), (MemoryKind::Notes, None));
        assert!(plan.question.chars().count() <= SUMMARY_CHARS + 1);
    }

    #[test]
    fn w239_the_compact_form_has_steps_for_a_plan_only() {
        let written = |action: &str, steps: &[&str]| json!({"action": action, "summary": "s", "steps": steps});
        let read = |action: &str, steps: &[&str], form| read(&written(action, steps), form);
        assert_eq!(read("execute", &["a"], Form::Compact).expect("intent").steps.len(), 0);
        assert_eq!(read("plan_only", &["a"], Form::Compact).expect("intent").steps.len(), 1);
        assert!(read("plan_only", &[], Form::Compact).is_err());
        assert!(read("execute", &[], Form::Full).is_err());
        assert!(read("run", &["a"], Form::Full).is_err());
        assert!(read("clarify", &[], Form::Full).is_err(), "no question");
    }
}
