//! What holds over every combination of policy, level, rule and fact, for every kind of step.

use crate::steps::{
    HERE, Shown, Step, THERE, TYPED, World, catalogue, element, form, framed, here, link, origin,
    sensitive, web,
};
use proptest::prelude::*;
use reins_core::{
    Action, DocumentOrigin, FormMethod, Gesture, Link, Modifiers, MouseButton, Sensitivity,
    TargetRecord,
};
use reins_guard::{
    Basis, Card, CriticState, CriticVerdict, Decision, Downloads, Holding, Level, Moment,
    Navigation, PendingCard, Policy, RiskKind, Rule, Sending, TabFacts, clip_middle, evaluate,
    plain_text, still_allowed,
};

/// How much a decision asks: nothing, the critic, the person, or it is no question at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strictness {
    Allow,
    /// It runs, and what it sends asks.
    Hold,
    Check,
    Ask,
    Block,
}

fn strictness(decision: &Decision) -> Strictness {
    match decision {
        Decision::Allow(approved) if approved.basis() == Basis::Held => Strictness::Hold,
        Decision::Allow(_) => Strictness::Allow,
        Decision::Check(_) => Strictness::Check,
        Decision::Plan(_) | Decision::Confirm(_) => Strictness::Ask,
        Decision::Block(_) => Strictness::Block,
    }
}

fn decide(world: &World, step: &Step) -> Decision {
    evaluate(step.action.clone(), &world.facts(step))
}

fn pending(decision: Decision) -> Option<PendingCard> {
    match decision {
        Decision::Plan(card) | Decision::Confirm(card) => Some(card),
        Decision::Check(check) => {
            check.decide(Ok(CriticVerdict::Escalate { reason: Some("hm".to_owned()) })).err()
        }
        Decision::Allow(_) | Decision::Block(_) => None,
    }
}

/// Every combination of the facts that a person or a setting decides, where it can matter.
fn worlds() -> Vec<World> {
    let mut worlds = Vec::new();
    for base in bases() {
        for named in [&[][..], &[HERE], &[THERE], &[HERE, THERE]] {
            for rules in [
                &[][..],
                &[(HERE, Rule::Always)],
                &[(THERE, Rule::Always)],
                &[(HERE, Rule::Never)],
                &[(THERE, Rule::Never), (HERE, Rule::Always)],
            ] {
                let world = named.iter().fold(base.clone(), |world, site| world.named(site));
                worlds
                    .push(rules.iter().fold(world, |world, (site, rule)| world.rule(site, *rule)));
            }
        }
    }
    worlds
}

/// The levels with the flags that they look at, and both doors.
fn bases() -> Vec<World> {
    let careful = World::guarded(Level::Careful);
    let levels = [
        World::guarded(Level::Auto),
        World { downloads: Downloads::Allowed, ..World::guarded(Level::Auto) },
        careful.clone(),
        careful.clone().planned(),
        World { critic: CriticState::Missing, ..careful },
        World::guarded(Level::Ask),
        World::guarded(Level::Auto).holding(&[HERE]),
        World::guarded(Level::Auto).holding(&[HERE, THERE]),
        World::guarded(Level::Ask).holding(&[HERE]),
    ];
    levels.into_iter().flat_map(|world| [world.clone(), world.behind_mcp()]).collect()
}

/// …R-153: no level, rule or flag lets a step of the risky list run unasked, except
/// that what one sends, of which nothing tells what it does, is asked instead of the step itself.
#[test]
fn r008_nothing_skips_the_risky_list() {
    let steps: Vec<Step> = catalogue().into_iter().filter(|step| step.risky).collect();
    assert!(steps.len() > 40, "the list is there: {}", steps.len());
    for world in worlds() {
        for step in &steps {
            let decision = decide(&world, step);
            if strictness(&decision) == Strictness::Hold {
                check_held(&world, step, &decision);
                continue;
            }
            assert!(
                strictness(&decision) >= Strictness::Ask,
                "{} in {world:?}: {decision:?}",
                step.name
            );
        }
    }
}

/// only where nothing else speaks against it, at level auto, on sites that are all named.
fn check_held(world: &World, step: &Step, decision: &Decision) {
    let Decision::Allow(approved) = decision else { panic!("{}: {decision:?}", step.name) };
    assert_eq!(approved.obligations().sending, Sending::Held, "{}", step.name);
    assert!(approved.needs_receipt(), "{}", step.name);
    assert_eq!(world.level, Level::Auto);
    let Holding::Over(shown) = &world.holding else { panic!("{} in {world:?}", step.name) };
    let named =
        |site: &str| world.turn.named.contains(&origin(site)) || world.rules.always(&origin(site));
    assert!(named(HERE) && (!shown.contains(&web(THERE)) || named(THERE)), "{world:?}");
    let strict = World { holding: Holding::Never, ..world.clone() };
    match decide(&strict, step) {
        Decision::Confirm(card) => assert_eq!(card.card().risk, RiskKind::Unclassified),
        other => panic!("{}: {other:?}", step.name),
    }
}

/// `--strict-clicks` never asks less, and makes a difference only where what a step sends is held. What
/// is not held was agreed to, or is as it was before.
#[test]
fn strict_clicks_never_ask_less() {
    let mut held = std::collections::BTreeSet::new();
    for world in worlds() {
        let strict = World { holding: Holding::Never, ..world.clone() };
        for step in &catalogue() {
            let (now, then) = (decide(&world, step), decide(&strict, step));
            if strictness(&now) == Strictness::Hold {
                held.insert(step.name);
                assert!(strictness(&then) > Strictness::Hold, "{}", step.name);
            } else {
                assert_eq!(strictness(&now), strictness(&then), "{} in {world:?}", step.name);
            }
            for decision in [now, then] {
                let Decision::Allow(approved) = decision else { continue };
                let held = approved.basis() == Basis::Held;
                assert_eq!(approved.obligations().sending == Sending::Held, held, "{}", step.name);
            }
        }
    }
    for name in ["a button that submits nothing", "drag one element onto another"] {
        assert!(held.contains(name), "{name}: {held:?}");
    }
    for name in ["a submit control, whatever it says", "Enter on a link", "go back or forward"] {
        assert!(!held.contains(name), "{name}");
    }
}

/// R-143…R-148: a block depends on nothing that a level, a name, a plan or an "always" changes.
#[test]
fn blocks_beat_everything() {
    let worlds = worlds();
    for step in &catalogue() {
        for world in worlds.iter().step_by(2) {
            let never: Vec<_> =
                world.rules.iter().filter(|(_, rule)| *rule == Rule::Never).collect();
            let mut bare = World::guarded(Level::Auto);
            bare.rules = never.into_iter().map(|(origin, rule)| (origin.clone(), rule)).collect();
            bare.user_message_visible = world.user_message_visible;
            bare.downloads = world.downloads;
            let code = |decision: Decision| match decision {
                Decision::Block(refusal) => Some(refusal.code),
                _ => None,
            };
            assert_eq!(
                code(decide(world, step)),
                code(decide(&bare, step)),
                "{} in {world:?}",
                step.name
            );
        }
    }
}

/// A stricter level never asks less.
#[test]
fn r006_levels_are_ordered() {
    for world in worlds().into_iter().step_by(3) {
        for step in &catalogue() {
            let at = |level| strictness(&decide(&World { level, ..world.clone() }, step));
            let [auto, careful, ask] = Level::ALL.map(at);
            assert!(auto <= careful && careful <= ask, "{}: {world:?}", step.name);
        }
    }
}

/// Naming a site, planning or an "always" rule never makes the guard ask more, and a "never"
/// rule never makes it ask less.
#[test]
fn names_and_rules_point_one_way() {
    for world in worlds().into_iter().step_by(3) {
        for step in &catalogue() {
            let now = strictness(&decide(&world, step));
            let with = |world: World| strictness(&decide(&world, step));
            for site in [HERE, THERE] {
                let ruled = world.rules.iter().any(|(origin, _)| origin.to_string() == site);
                if !ruled {
                    assert!(with(world.clone().rule(site, Rule::Always)) <= now, "{}", step.name);
                }
                assert!(with(world.clone().rule(site, Rule::Never)) >= now, "{}", step.name);
                assert!(with(world.clone().named(site)) <= now, "{}", step.name);
                let mut asked = world.clone();
                asked.turn.asked.insert(origin(site));
                assert!(with(asked) <= now, "{}", step.name);
            }
            assert!(with(world.clone().planned()) <= now, "{}", step.name);
        }
    }
}

/// What can be found on an element that makes it riskier.
fn riskier(target: &TargetRecord) -> Vec<TargetRecord> {
    let submission = || Some(form(HERE, FormMethod::Post));
    let mut worse = vec![
        TargetRecord { sensitivity: Sensitivity::Password, ..target.clone() },
        TargetRecord { sensitivity: Sensitivity::Payment, ..target.clone() },
        TargetRecord { name: format!("{} Delete", target.name), ..target.clone() },
        TargetRecord { role: "button".to_owned(), ..target.clone() },
    ];
    if target.origin == target.top {
        for document in [
            DocumentOrigin::ScriptBuilt,
            DocumentOrigin::Sandboxed(origin(HERE)),
            web("https://third.example"),
        ] {
            worse.push(framed(target.clone(), document));
        }
    }
    if target.submission.is_none() {
        worse.push(TargetRecord { submission: submission(), ..target.clone() });
    }
    if target.enter.is_none() {
        worse.push(TargetRecord { enter: submission(), ..target.clone() });
    }
    if let Some(link) = &target.link {
        let with = |link: Link| TargetRecord { link: Some(link), ..target.clone() };
        worse.push(with(Link { download: true, ..link.clone() }));
        worse.push(with(Link { url: "file:///etc/passwd".to_owned(), ..link.clone() }));
    }
    worse
}

fn replaced(action: &Action, target: TargetRecord) -> Action {
    let mut action = action.clone();
    match &mut action {
        Action::Pointer { target: old, .. }
        | Action::Type { target: old, .. }
        | Action::Select { target: old, .. }
        | Action::Check { target: old, .. }
        | Action::Upload { target: old, .. }
        | Action::Press { target: Some(old), .. }
        | Action::Scroll { target: Some(old), .. } => *old = target,
        Action::Drag { from, .. } => **from = target,
        _ => {}
    }
    action
}

/// More risk never asks less, whatever the step and the facts.
#[test]
fn more_risk_never_asks_less() {
    let steps = catalogue();
    for world in worlds().iter().step_by(7) {
        for step in &steps {
            let Some(target) = step.action.target() else { continue };
            let now = strictness(&decide(world, step));
            for worse in riskier(target) {
                let action = replaced(&step.action, worse.clone());
                let facts = world.facts_for(&action, step.tab.clone(), step.shown);
                let then = strictness(&evaluate(action.clone(), &facts));
                assert!(then >= now, "{}: {worse:?}\n{world:?}", step.name);
            }
        }
    }
}

/// in no world does a frame that a script built count as named, and no answer names it.
#[test]
fn r154_script_built_frames_are_never_named() {
    for world in worlds() {
        for step in catalogue().iter().filter(|step| step.name.contains("a script built")) {
            let is_typing = matches!(step.action, Action::Type { .. });
            let decision = decide(&world, step);
            if is_typing {
                assert!(strictness(&decision) >= Strictness::Ask, "{world:?}");
            }
            if let Some(pending) = pending(decision) {
                assert!(!is_typing || pending.card().always_offer.is_none(), "{world:?}");
            }
        }
    }
}

/// the offer stands only on cards about a site's name, and it settles the step.
#[test]
fn r161_an_offer_settles_the_step() {
    for world in worlds() {
        for step in &catalogue() {
            let Some(pending) = pending(decide(&world, step)) else { continue };
            let Some(site) = pending.card().always_offer.clone() else { continue };
            assert!(matches!(
                pending.card().risk,
                RiskKind::UnnamedSite | RiskKind::NewSite | RiskKind::CrossOrigin
            ));
            assert_ne!(world.level, Level::Ask);
            let mut settled = world.clone();
            settled.rules.set(site, Rule::Always);
            assert!(strictness(&decide(&settled, step)) < Strictness::Ask, "{}", step.name);
        }
    }
}

/// what was allowed stays allowed at dispatch, in its own moment and no other.
#[test]
fn r173_approvals_hold_for_their_moment_only() {
    for world in worlds().iter().step_by(5) {
        for step in &catalogue() {
            let facts = world.facts(step);
            let Decision::Allow(approved) = evaluate(step.action.clone(), &facts) else { continue };
            assert!(still_allowed(&approved, &facts).is_ok(), "{}", step.name);
            let Moment { turn, step: call, stops } = world.moment;
            for moment in [
                Moment { turn: reins_core::TurnId(turn.0 + 1), ..world.moment },
                Moment { step: reins_core::StepId(call.0 + 1), ..world.moment },
                Moment { stops: stops + 1, ..world.moment },
            ] {
                let later = World { moment, ..world.clone() };
                let refusal = still_allowed(&approved, &later.facts(step)).expect_err(step.name);
                assert_eq!(refusal.code, "approval_expired");
            }
        }
    }
}

/// A pinned session never asks, and holds every step to its app.
#[test]
fn a_pinned_session_is_held_to_its_app() {
    for world in worlds().into_iter().step_by(4) {
        let app = Policy::Pinned(vec![origin(HERE).into()]);
        let world = World { policy: app, ..world };
        for step in &catalogue() {
            match decide(&world, step) {
                Decision::Allow(approved) => {
                    assert!(matches!(approved.obligations().navigation, Navigation::App(_)));
                }
                Decision::Block(_) => {}
                other => panic!("{}: {other:?}", step.name),
            }
        }
    }
}

fn texts(card: &Card) -> Vec<&str> {
    let mut texts = vec![card.title.as_str(), card.detail.as_str()];
    texts.extend(card.sites.iter().map(String::as_str));
    texts.extend(card.note.as_deref());
    texts
}

fn check_plain(text: &str) {
    for c in text.chars() {
        assert!(!c.is_control(), "{text:?}");
        assert!(
            !matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200B}'..='\u{200F}'
                | '\u{FEFF}' | '\u{00AD}' | '\u{2028}' | '\u{2029}' | '\u{E0000}'..='\u{E007F}'),
            "{text:?}"
        );
    }
}

/// no card of any step in any world holds typed text or anything but plain text.
#[test]
fn r168_cards_never_hold_typed_text() {
    for world in worlds() {
        for step in &catalogue() {
            let Some(pending) = pending(decide(&world, step)) else { continue };
            for text in texts(pending.card()) {
                check_plain(text);
                for typed in TYPED.split(' ') {
                    assert!(!text.contains(typed), "{}: {text}", step.name);
                }
                assert!(!text.is_empty(), "{}", step.name);
            }
        }
    }
}

/// Texts as hostile pages write them.
fn hostile() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(vec![
        "\u{202E}",
        "\u{2066}",
        "\u{200B}",
        "\u{200D}",
        "\u{0}",
        "\n",
        "\r\n",
        "\t",
        "\u{1b}[2J",
        "\u{FEFF}",
        "\u{00AD}",
        "\u{2028}",
        "\u{E0041}",
        "“",
        "”",
        "\"",
        "<b>",
        "e\u{301}\u{301}\u{301}\u{301}",
        "\u{3164}",
        "buy",
        "Delete",
        " ",
        "🛒",
        "ж",
        "אב",
        "\u{A0}",
        "?",
        ". It sends the form to",
    ]);
    let piece = prop_oneof![nasty.prop_map(str::to_owned), ".{0,40}"];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn hostile_target() -> impl Strategy<Value = TargetRecord> {
    let address = || {
        prop_oneof![
            Just(format!("{HERE}/known")),
            Just(format!("{THERE}/known")),
            Just("javascript:x()".to_owned()),
            Just("https://xn--80ak6aa92e.com/".to_owned()),
            hostile(),
        ]
    };
    let document = || {
        prop_oneof![
            Just(here()),
            Just(web(THERE)),
            Just(DocumentOrigin::ScriptBuilt),
            Just(DocumentOrigin::Sandboxed(origin(HERE))),
        ]
    };
    let tag = prop::sample::select(vec!["a", "button", "input", "div", "select", "textarea"]);
    let kind = prop::option::of(prop::sample::select(vec![
        "text", "submit", "checkbox", "image", "password",
    ]));
    (
        (tag, kind, hostile(), hostile(), document(), document()),
        (prop::option::of(address()), prop::option::of(address()), any::<bool>(), any::<bool>()),
        prop::sample::select(vec![Sensitivity::None, Sensitivity::Password, Sensitivity::File]),
    )
        .prop_map(
            |(
                (tag, kind, role, name, origin, top),
                (to, action, editable, download),
                sensitivity,
            )| {
                let submission = action.map(|action| form(&action, FormMethod::Post));
                TargetRecord {
                    input_type: kind.map(str::to_owned),
                    origin,
                    top,
                    link: to.map(|url| Link { url, target: String::new(), download }),
                    enter: submission.clone(),
                    submission,
                    sensitivity,
                    editable,
                    ..element(tag, &role, &name)
                }
            },
        )
}

fn hostile_action() -> impl Strategy<Value = Action> {
    let gesture =
        Gesture::Click { button: MouseButton::Left, count: 1, modifiers: Modifiers::default() };
    (hostile_target(), hostile(), 0..6_u8, any::<bool>()).prop_map(
        move |(target, text, kind, flag)| match kind {
            0 => Action::Pointer { target, gesture },
            1 => crate::steps::typing(target, &format!("{TYPED}{text}"), flag, !flag),
            2 => Action::Select { target, options: vec![text] },
            3 => Action::Upload { target, files: vec![format!("/home/p/{text}").into()] },
            4 => Action::Navigate { tab: target.node.tab.clone(), url: text },
            _ => crate::steps::press(Some(target), if flag { "Enter" } else { "a" }),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_500) })]

    /// Whatever a page and a model write, cards are plain, bounded and free of typed text, and
    /// a decision is made.
    #[test]
    fn r203_cards_of_hostile_pages_are_plain_and_bounded(
        action in hostile_action(),
        level in prop::sample::select(Level::ALL.to_vec()),
        visible in any::<bool>(),
    ) {
        let world = World { user_message_visible: visible, ..World::guarded(level) };
        let facts = world.facts_for(&action, TabFacts::agents(here()), Shown::AsItIs);
        if let Some(pending) = pending(evaluate(action.clone(), &facts)) {
            for text in texts(pending.card()) {
                check_plain(text);
                prop_assert!(text.len() < 1_000, "{}", text);
                prop_assert!(!text.contains("Swordfish"));
            }
            // Quotes are ours: a caption cannot end its own.
            prop_assert!(pending.card().title.matches('“').count() <= 2);
        }
    }

    /// More risk never asks less, on hostile pages as well.
    #[test]
    fn more_risk_never_asks_less_on_hostile_pages(
        action in hostile_action(),
        level in prop::sample::select(Level::ALL.to_vec()),
    ) {
        let world = World::guarded(level).named(HERE).planned();
        let judge = |action: &Action| {
            let facts = world.facts_for(action, TabFacts::agents(here()), Shown::AsItIs);
            strictness(&evaluate(action.clone(), &facts))
        };
        if let Some(target) = action.target() {
            let now = judge(&action);
            for worse in riskier(target) {
                prop_assert!(judge(&replaced(&action, worse)) >= now);
            }
        }
    }

    /// Plain text stays as it is, and keeps what can be read.
    #[test]
    fn plain_text_is_plain_once_and_for_all(text in hostile()) {
        let plain = plain_text(&text);
        check_plain(&plain);
        prop_assert_eq!(plain_text(&plain), plain.clone());
        prop_assert!(!plain.starts_with(' ') && !plain.ends_with(' ') && !plain.contains("  "));
    }

    /// Both ends of a long text stay.
    #[test]
    fn long_texts_are_clipped_in_the_middle(text in ".{0,300}", max in 3..200_usize) {
        let clipped = clip_middle(&text, max);
        prop_assert!(clipped.len() <= max.max(text.len().min(max)));
        if text.len() > max {
            let (head, tail) = clipped.split_once('…').expect("a gap");
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
        } else {
            prop_assert_eq!(clipped, text);
        }
    }
}

/// A field is judged the same whoever asks and however often: the guard keeps nothing.
#[test]
fn decisions_depend_on_nothing_but_their_facts() {
    let target = sensitive("password", "Password", Sensitivity::Password);
    let action = crate::steps::click(target);
    let world = World::guarded(Level::Auto);
    let judge = || {
        let facts = world.facts_for(&action, TabFacts::agents(here()), Shown::AsItIs);
        format!("{:?}", evaluate(action.clone(), &facts))
    };
    let first = judge();
    let other = crate::steps::click(link("Buy", &format!("{HERE}/known")));
    let facts = world.facts_for(&other, TabFacts::agents(here()), Shown::AsItIs);
    drop(evaluate(other.clone(), &facts));
    assert_eq!(judge(), first);
}
