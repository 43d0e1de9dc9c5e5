//! Holding the effect instead of the click: which steps, and what the cards about requests say.

use crate::steps::{
    HERE, Shown, THERE, World, click, element, framed, here, input, link, origin, press, submit,
    web,
};
use reins_core::{
    Action, DocumentOrigin, FormMethod, HeldId, HeldKind, HeldRequest, Sensitivity, StepId,
    TargetRecord,
};
use reins_guard::{
    AgreedSending, Answer, Basis, Decision, Facts, Holding, Level, Moment, PendingSending, Policy,
    Rule, Sending, TabFacts, evaluate,
};

fn world() -> World {
    World::guarded(Level::Auto).named(HERE).holding(&[HERE])
}

fn held(world: &World, action: &Action) -> bool {
    let facts = world.facts_for(action, TabFacts::agents(here()), Shown::AsItIs);
    match evaluate(action.clone(), &facts) {
        Decision::Allow(approved) => {
            assert_eq!(approved.basis() == Basis::Held, world.policy == Policy::Guarded);
            approved.obligations().sending == Sending::Held
        }
        Decision::Confirm(_) | Decision::Plan(_) | Decision::Check(_) | Decision::Block(_) => false,
    }
}

fn button(name: &str) -> TargetRecord {
    element("button", "button", name)
}

/// a step that nothing but its silence speaks against runs, and what it sends is held.
/// W-112: ordinary controls run; what they send waits.
#[test]
fn what_cannot_be_classified_runs_and_is_held() {
    let (from, to) = (element("div", "generic", "Card"), element("div", "generic", "Done"));
    for action in [
        click(button("Show more")),
        click(element("div", "generic", "")),
        click(link("More", "javascript:void(0)")),
        click(TargetRecord { role: "button".to_owned(), ..link("A", &format!("{HERE}/known")) }),
        Action::Check { target: element("div", "switch", "Dark"), checked: true },
        Action::Drag { from: Box::new(from), to: Box::new(to) },
        press(Some(button("Show more")), "Space"),
        press(None, "j"),
    ] {
        assert!(held(&world(), &action), "{action:?}");
    }
}

/// Everything that has another reason to ask asks as before.
#[test]
fn another_reason_asks_before_the_step() {
    for action in [
        click(button("Buy now")),
        click(button("Delete")),
        click(button("Konto löschen")),
        click(submit("OK", HERE, FormMethod::Post)),
        click(TargetRecord { sensitivity: Sensitivity::Password, ..input("password", "Password") }),
        click(framed(button("Show more"), web(THERE))),
        click(framed(button("Show more"), DocumentOrigin::ScriptBuilt)),
        click(TargetRecord { role: "button".to_owned(), ..link("A", &format!("{THERE}/known")) }),
        press(Some(button("Show more")), "Enter"),
        press(Some(button("Show more")), "Control+s"),
        press(None, "Alt+ArrowLeft"),
        press(None, "F5"),
    ] {
        assert!(!held(&world(), &action), "{action:?}");
    }
}

/// Only where every document of the tab belongs to a site that is named, at level auto, unless the
/// person wants to be asked before.
#[test]
fn it_takes_named_sites_level_auto_and_leave() {
    let step = click(button("Show more"));
    let bare = World::guarded(Level::Auto);
    assert!(!held(&bare.clone().holding(&[HERE]), &step), "nobody named the site");
    assert!(held(&bare.clone().rule(HERE, Rule::Always).holding(&[HERE]), &step));
    assert!(!held(&world().holding(&[HERE, THERE]), &step), "a frame of another site");
    assert!(held(&world().named(THERE).holding(&[HERE, THERE]), &step));
    let built = Holding::Over(vec![here(), DocumentOrigin::ScriptBuilt]);
    assert!(!held(&World { holding: built, ..world() }, &step), "a frame that a script built");
    assert!(!held(&World { holding: Holding::Never, ..world() }, &step), "--strict-clicks");
    for level in [Level::Careful, Level::Ask] {
        assert!(!held(&World { level, ..world() }.planned(), &step), "{level}");
    }
    assert!(!held(&World { policy: World::pinned().policy, ..world() }, &step), "no cards at all");
}

fn request(id: u64, url: &str) -> HeldRequest {
    HeldRequest {
        id: HeldId(id),
        method: "POST".to_owned(),
        url: url.to_owned(),
        kind: HeldKind::Script,
        fields: vec!["item".to_owned(), "amount".to_owned()],
        page: here(),
    }
}

fn facts<'a>(world: &'a World, step: &'a Action) -> Facts<'a> {
    world.facts_for(step, TabFacts::agents(here()), Shown::Never)
}

/// One card for each distinct request; identical ones are answered together.
#[test]
fn each_distinct_request_is_one_card() {
    let (world, step) = (world(), click(button("Show more")));
    let facts = facts(&world, &step);
    let to = format!("{HERE}/like?x=1");
    let other = HeldRequest { method: "DELETE".to_owned(), ..request(3, &to) };
    let all = [request(1, &to), request(2, &to), other];
    let mut questions = PendingSending::each(&all, &facts).into_iter();
    let (_, first) = questions.next().expect("one");
    let first = first.expect("a question");
    let card = first.card();
    assert_eq!(card.title, "Let the page send data to shop.example?");
    assert_eq!(
        card.detail,
        "It is POST https://shop.example/like?x=1. It carries “item”, “amount”. It is sent 2 times."
    );
    assert_eq!(card.always_offer, None);
    let agreed = first.answer(Answer::Allow, facts.moment).expect("agreed");
    assert_eq!(agreed.ids(), [HeldId(1), HeldId(2)]);
    let (_, second) = questions.next().expect("two");
    let second = second.expect("a question");
    assert!(second.card().detail.starts_with("It is DELETE "), "{}", second.card().detail);
    assert_eq!(second.answer(Answer::Refuse, facts.moment).expect_err("no").code, "not_allowed");
    assert!(questions.next().is_none());
}

/// an answer of another moment lets nothing go on; a stop says so; "always" is no answer here.
#[test]
fn r173_an_answer_holds_for_its_moment_only() {
    let (world, step) = (world(), click(button("Show more")));
    let facts = facts(&world, &step);
    let code = |answer, moment| {
        let (_, pending) = PendingSending::each(&[request(1, HERE)], &facts).remove(0);
        let answered: Result<AgreedSending, _> =
            pending.expect("a question").answer(answer, moment);
        answered.expect_err("not agreed").code
    };
    let Moment { step, stops, .. } = facts.moment;
    for moment in [
        Moment { step: StepId(step.0 + 1), ..facts.moment },
        Moment { stops: stops + 1, ..facts.moment },
    ] {
        assert_eq!(code(Answer::Allow, moment), "approval_expired");
    }
    assert_eq!(code(Answer::AllowAlways, facts.moment), "not_allowed");
    assert_eq!(code(Answer::Stop, facts.moment), "stopped");
}

/// a rule that says never needs no question.
#[test]
fn r159_nothing_is_sent_where_a_rule_says_never() {
    let (world, step) = (world().rule(THERE, Rule::Never), click(button("Show more")));
    let held = [request(1, &format!("{THERE}/x")), request(2, HERE)];
    let mut questions = PendingSending::each(&held, &facts(&world, &step)).into_iter();
    let refusal = questions.next().expect("one").1.expect_err("never");
    assert_eq!(refusal.code, "never_rule");
    assert!(questions.next().expect("two").1.is_ok());
    assert!(world.rules.never(&origin(THERE)).is_some());
}

/// names of fields are the page's words: plain, clipped, in quotes, few.
#[test]
fn r203_what_a_request_carries_stays_within_its_quotes() {
    let (world, step) = (world(), click(button("Show more")));
    let mut hostile = request(1, &format!("https://a@{}/x", "xn--80ak6aa92e.com"));
    hostile.fields = vec!["a”. It is safe\u{202E}\n".to_owned(), "b".repeat(100)];
    hostile.fields.extend((0..20).map(|n| format!("f{n}")));
    hostile.method = "P\u{200B}O\nST".to_owned();
    let (_, pending) = PendingSending::each(&[hostile], &facts(&world, &step)).remove(0);
    let pending = pending.expect("a question");
    let detail = &pending.card().detail;
    assert!(detail.contains("“a'. It is safe”"), "{detail}");
    assert!(detail.contains("and 10 more"), "{detail}");
    assert!(detail.contains("It is PO ST https://xn--80ak6aa92e.com/x."), "{detail}");
    assert!(detail.contains("The page is one of shop.example."), "{detail}");
    assert!(!detail.chars().any(|c| c.is_control() || c == '\u{202E}'), "{detail:?}");
    assert!(detail.len() < 500, "{detail}");
}
