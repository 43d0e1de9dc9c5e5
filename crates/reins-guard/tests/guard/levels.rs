//! R-149…R-163: what asks at which level.

use crate::steps::{
    HERE, Shown, Step, THERE, World, catalogue, click, element, form, framed, here, input, link,
    navigate, origin, press, sensitive, submit, type_into, typing, web,
};
use reins_core::{Action, DocumentOrigin, FormMethod, Sensitivity, TargetRecord};
use reins_guard::{
    Answer, Basis, CardKind, Consent, CriticState, Decision, Level, PendingCard, RiskKind, Rule,
    TabFacts, evaluate,
};

fn decide(world: &World, action: &Action) -> Decision {
    decide_shown(world, action, Shown::AsItIs)
}

fn decide_shown(world: &World, action: &Action, shown: Shown) -> Decision {
    evaluate(action.clone(), &world.facts_for(action, TabFacts::agents(here()), shown))
}

fn card(world: &World, action: &Action) -> PendingCard {
    match decide(world, action) {
        Decision::Plan(card) | Decision::Confirm(card) => card,
        other => panic!("{action:?} did not ask: {other:?}"),
    }
}

fn risk(world: &World, action: &Action) -> RiskKind {
    card(world, action).card().risk
}

fn basis(world: &World, action: &Action) -> Basis {
    match decide(world, action) {
        Decision::Allow(approved) => approved.basis(),
        other => panic!("{action:?} was not allowed: {other:?}"),
    }
}

/// Worlds at every level in which as much as possible is allowed beforehand.
fn generous() -> [World; 3] {
    Level::ALL.map(|level| {
        World::guarded(level)
            .named(HERE)
            .named(THERE)
            .planned()
            .rule(HERE, Rule::Always)
            .rule(THERE, Rule::Always)
    })
}

fn asks_everywhere(action: &Action, kind: RiskKind) {
    for world in generous() {
        assert_eq!(risk(&world, action), kind, "{} {action:?}", world.level);
    }
}

/// whatever its label says, image inputs included. A button without a form submits nothing; nothing tells
/// what it does, and it asks as such.
/// W-110, W-111: what commits asks, whatever its caption says.
#[test]
fn r149_every_native_submit_control_asks() {
    for method in [FormMethod::Get, FormMethod::Post, FormMethod::Dialog] {
        asks_everywhere(&click(submit("Harmless", HERE, method)), RiskKind::Submit);
    }
    asks_everywhere(&click(input("image", "")), RiskKind::Submit);
    asks_everywhere(&click(input("submit", "Ok")), RiskKind::Submit);
    // Another element that submits by association, such as a label or a descendant.
    let inside = TargetRecord {
        submission: Some(form(HERE, FormMethod::Post)),
        ..element("span", "generic", "Harmless")
    };
    asks_everywhere(&click(inside), RiskKind::Submit);
    let formless = TargetRecord {
        input_type: Some("submit".to_owned()),
        ..element("button", "button", "Harmless")
    };
    asks_everywhere(&click(formless), RiskKind::Unclassified);
    // A submit control that pretends to be something else is a submit control.
    let disguised = TargetRecord {
        role: "link".to_owned(),
        link: link("x", &format!("{HERE}/known")).link,
        ..submit("Read more", HERE, FormMethod::Post)
    };
    asks_everywhere(&click(disguised), RiskKind::Submit);
}

/// Enter always counts as a possible submit, however it is pressed.
#[test]
fn r150_enter_asks() {
    let field = || TargetRecord { enter: Some(form(HERE, FormMethod::Get)), ..input("text", "Q") };
    for action in [
        press(Some(field()), "Enter"),
        press(Some(input("text", "no form")), "Enter"),
        press(Some(field()), "Shift+Enter"),
        press(Some(field()), "Control+Enter"),
        press(Some(link("A", &format!("{HERE}/known"))), "Enter"),
        press(None, "Enter"),
        typing(field(), "text", false, true),
        typing(field(), "text\n", true, false),
        typing(field(), "te\rxt", true, false),
    ] {
        asks_everywhere(&action, RiskKind::Enter);
    }
    // Inserted as text, a line break in a text area presses nothing.
    let area = TargetRecord { editable: true, ..element("textarea", "textbox", "Notes") };
    let world = World::guarded(Level::Auto).named(HERE);
    assert_eq!(basis(&world, &typing(area, "a\nb", false, false)), Basis::NamedSite);
}

/// any step on them that puts something in or uses them.
#[test]
fn r151_sensitive_fields_ask() {
    for (kind, secret) in [
        ("password", Sensitivity::Password),
        ("text", Sensitivity::OneTimeCode),
        ("text", Sensitivity::Payment),
    ] {
        let field = || sensitive(kind, "Field", secret);
        for action in [
            click(field()),
            type_into(field()),
            press(Some(field()), "a"),
            press(Some(field()), "Backspace"),
            press(Some(field()), "Enter"),
            typing(field(), "x", true, true),
        ] {
            asks_everywhere(&action, RiskKind::SensitiveField);
        }
    }
    let file = || sensitive("file", "Photo", Sensitivity::File);
    asks_everywhere(&click(file()), RiskKind::Upload);
    asks_everywhere(&Action::Upload { target: file(), files: Vec::new() }, RiskKind::Upload);
    // Leaving such a field is no use of it.
    let world = World::guarded(Level::Auto).named(HERE);
    let leave = press(Some(sensitive("password", "P", Sensitivity::Password)), "Tab");
    assert_eq!(basis(&world, &leave), Basis::Harmless);
}

/// also where structure alone would let the step through.
#[test]
fn r152_risk_words_ask() {
    let known = format!("{HERE}/known");
    for (caption, kind) in [
        ("Buy now", RiskKind::Purchase),
        ("Delete", RiskKind::Delete),
        ("Send", RiskKind::Send),
        ("Sign in", RiskKind::SignIn),
        ("Upload", RiskKind::Upload),
        ("Download", RiskKind::Download),
        ("Unsubscribe", RiskKind::Subscription),
        ("Konto löschen", RiskKind::Delete),
        ("退订", RiskKind::Subscription),
    ] {
        asks_everywhere(&click(link(caption, &known)), kind);
        asks_everywhere(&click(input("checkbox", caption)), kind);
        let check = Action::Check { target: input("radio", caption), checked: true };
        asks_everywhere(&check, kind);
        asks_everywhere(&press(Some(input("checkbox", caption)), " "), kind);
        let options = vec!["Nothing".to_owned(), caption.to_owned()];
        let choose = Action::Select { target: element("select", "combobox", "Action"), options };
        asks_everywhere(&choose, kind);
        // The word says more than that it submits.
        asks_everywhere(&click(submit(caption, HERE, FormMethod::Post)), kind);
    }
}

/// only links, checkboxes, radio buttons and submit controls are classified, and what a
/// page says of itself doesn't count.
/// W-111: what a page says of itself, such as a role, authorizes nothing.
#[test]
fn r153_what_cannot_be_classified_asks() {
    for target in [
        element("button", "button", "Show more"),
        element("div", "generic", ""),
        element("div", "link", "Products"),
        element("div", "checkbox", "A"),
        element("span", "radio", "A"),
        element("div", "option", "A"),
        element("div", "tab", "A"),
        element("label", "generic", "A"),
        element("summary", "button", "Details"),
        element("select", "combobox", "Country"),
        input("text", "Name"),
        input("range", "Size"),
        TargetRecord { role: "button".to_owned(), ..link("A", &format!("{HERE}/known")) },
        TargetRecord { role: "checkbox".to_owned(), ..link("A", &format!("{HERE}/known")) },
        link("More", "javascript:void(0)"),
    ] {
        asks_everywhere(&click(target), RiskKind::Unclassified);
    }
    for action in [crate::steps::back(None), crate::steps::back(Some(&format!("{HERE}/known")))] {
        asks_everywhere(&action, RiskKind::History);
    }
    for chord in
        ["e", "#", "Delete", "Backspace", "Control+s", "Alt+1", "F5", "Control+k", "Meta+ArrowLeft"]
    {
        asks_everywhere(&press(None, chord), RiskKind::Unclassified);
    }
    for chord in ["Control+v", "Meta+v", "Control+c", "Control+X", "Shift+Insert", "Control+Insert"]
    {
        asks_everywhere(&press(Some(input("text", "A")), chord), RiskKind::Clipboard);
    }
}

/// at level ask every step that can change something asks, and never more than that.
#[test]
fn r155_level_ask_asks_for_every_step_that_can_change_something() {
    let world = World::guarded(Level::Ask).named(HERE).named(THERE).planned();
    for action in [
        navigate(&format!("{HERE}/known")),
        click(link("A", &format!("{HERE}/known"))),
        click(input("checkbox", "A")),
        type_into(input("text", "A")),
        press(Some(input("text", "A")), "a"),
    ] {
        assert!(matches!(decide(&world, &action), Decision::Confirm(_)), "{action:?}");
        assert_eq!(risk(&world, &action), RiskKind::Change);
    }
    for step in catalogue().iter().filter(|step| step.group == crate::steps::Group::Look) {
        let decision = evaluate(step.action.clone(), &world.facts(step));
        assert!(matches!(decision, Decision::Allow(_)), "{}", step.name);
    }
}

/// at level auto low-risk steps on named sites and known addresses run without a card, a
/// plan or a critic.
#[test]
fn r157_level_auto_decides_from_the_table_alone() {
    for critic in [CriticState::Available, CriticState::Missing] {
        let world = World { critic, ..World::guarded(Level::Auto).named(HERE) };
        for (action, expected) in [
            (navigate(&format!("{HERE}/known")), Basis::KnownAddress),
            (click(link("A", &format!("{HERE}/known"))), Basis::KnownAddress),
            (click(input("checkbox", "A")), Basis::NamedSite),
            (type_into(input("text", "A")), Basis::NamedSite),
            (press(Some(input("text", "A")), "ArrowLeft"), Basis::Harmless),
            (press(None, "PageDown"), Basis::Harmless),
            (press(None, " "), Basis::Harmless),
            (press(Some(input("number", "A")), "ArrowUp"), Basis::NamedSite),
            (press(Some(element("div", "slider", "A")), "ArrowUp"), Basis::NamedSite),
        ] {
            assert_eq!(basis(&world, &action), expected, "{action:?}");
        }
    }
}

/// a shown link to a site that nobody named asks once, however it is followed: which of
/// many links is followed may be the page's choice, and tells that site something.
#[test]
fn r221_a_link_to_a_site_that_nobody_named_asks_once() {
    let known = format!("{THERE}/known");
    for world in [World::guarded(Level::Auto), World::guarded(Level::Auto).behind_mcp()] {
        let world = world.named(HERE);
        for action in [navigate(&known), click(link("A", &known))] {
            let pending = card(&world, &action);
            assert_eq!(pending.card().risk, RiskKind::CrossOrigin, "{action:?}");
            let Consent { grants, .. } = pending.answer(Answer::Allow).expect("an approval");
            assert!(grants.asked.contains(&origin(THERE)), "{grants:?}");
            let mut again = world.clone();
            again.turn.grant(&grants);
            again.turn.asked.extend(grants.asked);
            assert_eq!(basis(&again, &action), Basis::KnownAddress);
        }
        // Another host of the same site learns nothing new.
        let www = HERE.replace("https://", "https://www.");
        assert_eq!(basis(&world, &click(link("A", &format!("{www}/known")))), Basis::KnownAddress);
    }
}

/// each way to name a site, and what does not name it.
#[test]
fn r154_typing_needs_a_named_site() {
    let act = |site: &str| {
        let target = TargetRecord { origin: web(site), top: web(site), ..input("text", "A") };
        type_into(target)
    };
    let unnamed = World::guarded(Level::Auto);
    assert_eq!(risk(&unnamed, &act(HERE)), RiskKind::UnnamedSite);

    let mut planned = unnamed.clone();
    planned.turn.planned.insert(origin(HERE));
    let mut asked = unnamed.clone();
    asked.turn.asked.insert(origin(HERE));
    let mut given = unnamed.clone();
    given.turn.approve_url(&format!("{HERE}/page"));
    for world in [
        unnamed.clone().named(HERE),
        unnamed.clone().rule(HERE, Rule::Always),
        planned,
        asked,
        given,
    ] {
        assert_eq!(basis(&world, &act(HERE)), Basis::NamedSite);
        assert_eq!(risk(&world, &act("https://shop.example:444")), RiskKind::UnnamedSite);
        assert_eq!(risk(&world, &act("http://shop.example")), RiskKind::UnnamedSite);
        assert_eq!(risk(&world, &act("https://evil.example")), RiskKind::UnnamedSite);
    }
    // A rule holds for the exact origin only; a name given in words also for its www twin.
    let ruled = unnamed.clone().rule(HERE, Rule::Always);
    assert_eq!(risk(&ruled, &act("https://www.shop.example")), RiskKind::UnnamedSite);
    let named = unnamed.named("http://www.shop.example");
    assert_eq!(basis(&named, &act(HERE)), Basis::NamedSite);
    assert_eq!(risk(&named, &act("https://my.shop.example")), RiskKind::UnnamedSite);
}

/// a script-built or sandboxed frame is never named, whatever its page is.
#[test]
fn r154_a_frame_that_a_script_built_is_never_named() {
    for document in [DocumentOrigin::ScriptBuilt, DocumentOrigin::Sandboxed(origin(HERE))] {
        let world = World::guarded(Level::Auto).named(HERE).rule(HERE, Rule::Always);
        let action = type_into(framed(input("text", "A"), document.clone()));
        let pending = card(&world, &action);
        assert_eq!(pending.card().risk, RiskKind::UnnamedSite);
        assert_eq!(pending.card().always_offer, None);
        let consent = pending.answer(Answer::Allow).expect("allowed");
        assert!(consent.grants.asked.is_empty() && consent.grants.planned.is_empty());
        // It stays so when the top is built by script, too.
        let popup = TargetRecord { origin: document.clone(), top: document, ..input("text", "A") };
        assert_eq!(risk(&world, &type_into(popup)), RiskKind::UnnamedSite);
    }
}

/// an "always" rule names the site at level careful as well, and risky steps still ask.
#[test]
fn r158_always_is_named_and_no_more() {
    let world = World::guarded(Level::Careful).planned().rule(HERE, Rule::Always);
    assert!(matches!(decide(&world, &type_into(input("text", "A"))), Decision::Check(_)));
    assert_eq!(risk(&world, &click(submit("Ok", HERE, FormMethod::Post))), RiskKind::Submit);
}

/// the first step shows the plan; consent names its sites for this turn.
#[test]
fn r163_the_plan_names_the_first_step_and_its_sites() {
    let mut world = World::guarded(Level::Careful);
    let step = click(link("News", &format!("{THERE}/known")));
    let Decision::Plan(pending) = decide(&world, &step) else { panic!("no plan") };
    let shown = pending.card().clone();
    assert_eq!(shown.kind, CardKind::Plan);
    assert!(shown.title.contains("News"), "{}", shown.title);
    assert_eq!(shown.sites, ["other.example", "shop.example"]);
    assert!(shown.detail.contains("other.example and shop.example"), "{}", shown.detail);
    assert_eq!(shown.always_offer, None);

    let consent = pending.answer(Answer::Allow).expect("allowed");
    assert_eq!(consent.approved.basis(), Basis::Person);
    world.turn.grant(&consent.grants);
    assert!(matches!(decide(&world, &step), Decision::Check(_)), "low risk goes to the critic");
    let elsewhere = navigate("https://third.example/known");
    world.turn.saw_link("https://third.example/known");
    assert_eq!(risk(&world, &elsewhere), RiskKind::CrossOrigin, "not in the plan");
    let risky = click(submit("Ok", HERE, FormMethod::Post));
    assert!(matches!(decide(&world, &risky), Decision::Confirm(_)), "never included");
}

/// A risky first step shows one card, which says both.
#[test]
fn r163_a_risky_first_step_is_one_card() {
    let world = World::guarded(Level::Careful);
    let Decision::Plan(pending) = decide(&world, &click(submit("Buy", HERE, FormMethod::Post)))
    else {
        panic!("no plan")
    };
    assert_eq!(pending.card().risk, RiskKind::Purchase);
    assert!(pending.card().detail.starts_with("This may buy"), "{}", pending.card().detail);
}

/// without a critic every step is a card that says why, and no plan is shown.
#[test]
fn r189_without_a_critic_careful_asks_every_time() {
    for planned in [false, true] {
        let mut world = World { critic: CriticState::Missing, ..World::guarded(Level::Careful) };
        world.turn.plan_allowed = planned;
        let world = world.named(HERE);
        for action in [
            type_into(input("text", "A")),
            navigate(&format!("{HERE}/known")),
            click(submit("Buy", HERE, FormMethod::Post)),
        ] {
            let Decision::Confirm(pending) = decide(&world, &action) else { panic!("{action:?}") };
            let card = pending.card();
            assert!(card.detail.contains("no fast model is set up"), "{}", card.detail);
            assert!(card.note.is_some());
            assert_eq!(card.always_offer, None);
        }
    }
}

/// only if a rule for the tab's site alone would settle it.
#[test]
fn r161_always_is_offered_only_where_it_would_settle_the_step() {
    let offer = |world: &World, action: &Action| card(world, action).card().always_offer.clone();
    let typing = || type_into(input("text", "A"));
    let in_frame = |site: &str| type_into(framed(input("text", "A"), web(site)));
    let planned = |level| World::guarded(level).planned();

    for level in [Level::Auto, Level::Careful] {
        let world = planned(level);
        assert_eq!(offer(&world, &typing()), Some(origin(HERE)), "the site is unnamed");
        assert_eq!(offer(&world, &in_frame(THERE)), None, "two sites are unnamed");
        let other_named = planned(level).named(THERE);
        assert_eq!(offer(&other_named, &in_frame(THERE)), Some(origin(HERE)));
        let top_named = planned(level).named(HERE);
        assert_eq!(offer(&top_named, &in_frame(THERE)), None, "not the tab's site");
    }
    // A destination counts at level careful.
    let cross = click(link("A", &format!("{THERE}/known")));
    assert_eq!(offer(&planned(Level::Careful), &cross), None);
    assert_eq!(offer(&planned(Level::Careful).named(THERE), &cross), Some(origin(HERE)));
    // Level ask never offers it: a rule would skip no card there.
    assert_eq!(offer(&planned(Level::Ask), &typing()), None);
}

/// accepting stores the origin that was shown and lets the step run.
#[test]
fn r161_accepting_the_offer_stores_the_rule_that_settles_the_step() {
    let world = World::guarded(Level::Auto);
    let action = type_into(input("text", "A"));
    let consent = card(&world, &action).answer(Answer::AllowAlways).expect("allowed");
    assert_eq!(consent.grants.rule, Some((origin(HERE), Rule::Always)));
    let settled = world.rule(HERE, Rule::Always);
    assert_eq!(basis(&settled, &action), Basis::NamedSite);
}

/// no risky card offers it, at any level, in any world.
#[test]
fn r162_risky_cards_never_offer_always() {
    for level in Level::ALL {
        for named in [false, true] {
            let mut world = World::guarded(level).planned();
            if named {
                world = world.named(HERE).named(THERE);
            }
            for step in &catalogue() {
                let Decision::Confirm(pending) = evaluate(step.action.clone(), &world.facts(step))
                else {
                    continue;
                };
                let card = pending.card();
                if !matches!(
                    card.risk,
                    RiskKind::UnnamedSite | RiskKind::NewSite | RiskKind::CrossOrigin
                ) {
                    assert_eq!(card.always_offer, None, "{}", step.name);
                    let refusal = pending.answer(Answer::AllowAlways).expect_err(step.name);
                    assert_eq!(refusal.code, "not_allowed");
                }
            }
        }
    }
}

/// The MCP door: an address that nothing named is asked once, with the exact address; then its
/// site is open for the session.
#[test]
fn an_unnamed_site_is_asked_once_where_no_message_is_visible() {
    let mut world = World::guarded(Level::Auto).behind_mcp();
    let first = navigate("https://news.example.com/today?x=1");
    let pending = card(&world, &first);
    assert_eq!(pending.card().risk, RiskKind::NewSite);
    assert!(
        pending.card().detail.contains("https://news.example.com/today?x=1"),
        "{}",
        pending.card().detail
    );
    assert_eq!(pending.card().always_offer, Some(origin("https://news.example.com")));
    let consent = pending.answer(Answer::Allow).expect("allowed");
    world.turn.grant(&consent.grants);

    for url in ["https://news.example.com/other", "https://www.example.com/"] {
        assert_eq!(basis(&world, &navigate(url)), Basis::KnownAddress, "{url}");
    }
    for url in
        ["https://example.org/", "http://news.example.com/", "https://news.example.com:8443/"]
    {
        assert_eq!(risk(&world, &navigate(url)), RiskKind::NewSite, "{url}");
    }
    let here =
        |site: &str| TargetRecord { origin: web(site), top: web(site), ..input("text", "A") };
    let typing = type_into(here("https://news.example.com"));
    assert_eq!(basis(&world, &typing), Basis::NamedSite, "one card, not two");
}

/// The MCP door: `--site` names a site, and a published link is a known address.
#[test]
fn a_named_site_and_a_shown_link_ask_nothing_at_the_mcp_door() {
    let world = World::guarded(Level::Auto).behind_mcp().named(HERE);
    assert_eq!(basis(&world, &navigate(&format!("{HERE}/anything"))), Basis::KnownAddress);
    assert_eq!(basis(&world, &click(link("A", &format!("{HERE}/known")))), Basis::KnownAddress);
    assert_eq!(risk(&world, &navigate(&format!("{THERE}/known?x"))), RiskKind::NewSite);
}

/// A pinned session asks nothing.
#[test]
fn a_pinned_session_needs_no_cards() {
    for step in &catalogue() {
        let decision = evaluate(step.action.clone(), &World::pinned().facts(step));
        match decision {
            Decision::Allow(approved) => assert_eq!(approved.basis(), Basis::PinnedApp),
            Decision::Block(_) => {}
            other => panic!("{}: {other:?}", step.name),
        }
    }
}

/// Every step in the catalogue is judged by name as the reference page lists it, so each name is
/// there once.
#[test]
fn the_catalogue_names_each_step_once() {
    let mut names: Vec<&str> = catalogue().iter().map(|step: &Step| step.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// A kept secret is typed after a card at every level, whatever the field, and the card names it.
#[test]
fn r151_a_kept_secret_asks() {
    for field in [sensitive("password", "Password", Sensitivity::Password), input("text", "User")] {
        for enter in [false, true] {
            let Action::Type { target, text, mode, keys, .. } = type_into(field.clone()) else {
                panic!("typing types")
            };
            let kept = Some("work-login".parse().expect("a name"));
            let action = Action::Type { target, text, kept, mode, keys, enter };
            asks_everywhere(&action, RiskKind::KeptSecret);
            for world in generous() {
                let card = card(&world, &action);
                assert!(card.card().title.contains("the secret work-login"));
            }
        }
    }
}
