//! The guard as control and browser use it.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use reins_core::{Action, DocumentOrigin, Origin, StepId, TabId, TurnId};
use reins_guard::{
    Basis, CriticState, Decision, Downloads, Facts, Level, Moment, Policy, SiteRules, TabFacts,
    TurnFacts, evaluate, still_allowed,
};

fn facts<'a>(policy: &'a Policy, rules: &'a SiteRules, turn: &'a TurnFacts) -> Facts<'a> {
    Facts {
        policy,
        level: Level::Auto,
        rules,
        turn,
        tab: TabFacts::agents(DocumentOrigin::Web(
            Origin::parse("https://shop.example").expect("an origin"),
        )),
        published: None,
        downloads: Downloads::Refused,
        user_message_visible: true,
        critic: CriticState::Missing,
        moment: Moment { turn: TurnId(1), step: StepId(1), stops: 0 },
    }
}

///
#[test]
fn a_known_address_is_opened_and_its_approval_ends_with_the_step() {
    let (policy, rules) = (Policy::Guarded, SiteRules::new());
    let mut turn = TurnFacts::default();
    let go = || Action::Navigate { tab: TabId::new("T"), url: "https://shop.example/a".to_owned() };
    let refused = evaluate(go(), &facts(&policy, &rules, &turn));
    assert!(matches!(refused, Decision::Block(refusal) if refusal.code == "unknown_url"));

    turn.approved_urls.insert("https://shop.example/a".to_owned());
    let facts = facts(&policy, &rules, &turn);
    let Decision::Allow(approved) = evaluate(go(), &facts) else { panic!("not allowed") };
    assert_eq!(approved.basis(), Basis::KnownAddress);
    assert!(still_allowed(&approved, &facts).is_ok());
    let stopped = Facts { moment: Moment { stops: 1, ..facts.moment }, ..facts.clone() };
    let refusal = still_allowed(&approved, &stopped).expect_err("the turn was stopped");
    assert_eq!(refusal.code, "approval_expired");
}
