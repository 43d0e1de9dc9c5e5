//! R-170…R-179: approvals are bound to what was seen, and what the page is held to after them.

use crate::steps::{
    HERE, Shown, THERE, World, back, catalogue, click, click_with, element, form, framed, here,
    input, link, navigate, origin, press, submit, type_into, typing, web,
};
use reins_core::{
    Action, DocumentId, DocumentOrigin, FormMethod, FrameId, Link, Modifiers, MouseButton, NodeKey,
    NodeNumber, Origin, Rule, Sensitivity, Submission, TabId, TargetRecord,
};
use reins_guard::{
    Answer, ApprovedAction, Decision, Downloads, ExpectedRequest, FrameTarget, Level, Navigation,
    Obligations, Popups, RequestVerdict, TabFacts, evaluate, same_site, still_allowed,
};

/// The approval of a step, after the person allowed what had to be asked.
fn approve(world: &World, action: &Action) -> ApprovedAction {
    let facts = world.facts_for(action, TabFacts::agents(here()), Shown::AsItIs);
    match evaluate(action.clone(), &facts) {
        Decision::Allow(approved) => approved,
        Decision::Plan(card) | Decision::Confirm(card) => card
            .answer(Answer::Allow)
            .map(|consent| consent.approved)
            .unwrap_or_else(|refusal| panic!("{refusal:?}")),
        other => panic!("{action:?}: {other:?}"),
    }
}

fn obligations(action: &Action) -> Obligations {
    approve(&World::guarded(Level::Auto), action).obligations().clone()
}

fn expected(action: &Action) -> ExpectedRequest {
    match obligations(action).navigation {
        Navigation::Exact(request) => request,
        other => panic!("{action:?}: {other:?}"),
    }
}

/// An element with everything that can change on it.
fn full() -> TargetRecord {
    TargetRecord {
        link: link("A", &format!("{HERE}/known")).link,
        submission: Some(form(HERE, FormMethod::Post)),
        enter: Some(form(HERE, FormMethod::Post)),
        input_type: Some("submit".to_owned()),
        ..element("button", "button", "Go")
    }
}

/// Every single change that a page can make to an element between card and click.
fn changes() -> Vec<(&'static str, TargetRecord)> {
    let full = full;
    let node = |change: &dyn Fn(&mut NodeKey)| {
        let mut target = full();
        change(&mut target.node);
        target
    };
    let submission = |change: &dyn Fn(&mut Submission)| {
        let mut target = full();
        if let Some(submission) = &mut target.submission {
            change(submission);
        }
        target
    };
    let with_link = |change: &dyn Fn(&mut Link)| {
        let mut target = full();
        if let Some(link) = &mut target.link {
            change(link);
        }
        target
    };
    vec![
        ("tab", node(&|node| node.tab = TabId::new("other"))),
        ("frame", node(&|node| node.frame = FrameId::new("other"))),
        ("document", node(&|node| node.document = DocumentId::new("other"))),
        ("node", node(&|node| node.node = NodeNumber(2))),
        ("origin", TargetRecord { origin: web(THERE), ..full() }),
        ("top", TargetRecord { top: DocumentOrigin::ScriptBuilt, ..full() }),
        ("tag", TargetRecord { tag: "div".to_owned(), ..full() }),
        ("type", TargetRecord { input_type: Some("button".to_owned()), ..full() }),
        ("role", TargetRecord { role: "link".to_owned(), ..full() }),
        ("name", TargetRecord { name: "Pay".to_owned(), ..full() }),
        ("no link", TargetRecord { link: None, ..full() }),
        ("link address", with_link(&|link| link.url.push('?'))),
        ("link target", with_link(&|link| link.target = "_blank".to_owned())),
        ("link download", with_link(&|link| link.download = true)),
        ("no submission", TargetRecord { submission: None, ..full() }),
        ("action", submission(&|form| form.action = THERE.to_owned())),
        ("method", submission(&|form| form.method = FormMethod::Get)),
        ("form target", submission(&|form| form.target = "_blank".to_owned())),
        ("enctype", submission(&|form| form.enctype = "text/plain".to_owned())),
        ("submitter", submission(&|form| form.submitter = None)),
        ("implicit submitter", TargetRecord { enter: None, ..full() }),
        ("sensitivity", TargetRecord { sensitivity: Sensitivity::Payment, ..full() }),
        ("editable", TargetRecord { editable: true, ..full() }),
        ("disabled", TargetRecord { disabled: true, ..full() }),
        ("seal", TargetRecord { seal: "other".to_owned(), ..full() }),
    ]
}

/// any difference between what was approved and what is there is `stale_ref`.
#[test]
fn r170_an_approval_is_bound_to_everything_that_was_seen() {
    let approved = approve(&World::guarded(Level::Auto).named(HERE), &click(full()));
    assert!(approved.confirm([&full()]).is_ok());
    for (what, changed) in changes() {
        let refusal = approved.confirm([&changed]).expect_err(what);
        assert_eq!(refusal.code, "stale_ref", "{what}");
    }
    assert_eq!(approved.confirm([]).expect_err("nothing was read").code, "stale_ref");
    let twice = [&full(), &full()];
    assert_eq!(approved.confirm(twice).expect_err("one too many").code, "stale_ref");
}

/// R-170 for a gesture with two elements.
#[test]
fn r170_both_ends_of_a_drag_are_bound() {
    let (from, to) = (element("div", "generic", "Card"), element("div", "generic", "Done"));
    let drag = Action::Drag { from: Box::new(from.clone()), to: Box::new(to.clone()) };
    let approved = approve(&World::guarded(Level::Auto), &drag);
    assert!(approved.confirm([&from, &to]).is_ok());
    for wrong in [[&from, &from], [&to, &from]] {
        assert_eq!(approved.confirm(wrong).expect_err("changed").code, "stale_ref");
    }
    assert!(approved.confirm([&from]).is_err());
}

/// a rule that was set while the person looked at the card still blocks.
#[test]
fn r141_blocks_are_evaluated_again_at_dispatch() {
    let world = World::guarded(Level::Auto);
    let action = click(submit("Go", HERE, FormMethod::Post));
    let approved = approve(&world, &action);
    let check = |world: &World| {
        let facts = world.facts_for(&action, TabFacts::agents(here()), Shown::AsItIs);
        still_allowed(&approved, &facts).map_err(|refusal| refusal.code)
    };
    assert_eq!(check(&world), Ok(()));
    assert_eq!(check(&world.clone().rule(HERE, Rule::Never)), Err("never_rule"));
    // Handed back meanwhile.
    let tab = TabFacts { opened_by_agent: false, ..TabFacts::agents(here()) };
    let facts = world.facts_for(&action, tab, Shown::AsItIs);
    assert_eq!(
        still_allowed(&approved, &facts).map_err(|refusal| refusal.code),
        Err("not_your_tab")
    );
}

/// stop, the next call and the next turn void an approval that the person gave.
#[test]
fn r173_a_consent_does_not_outlive_its_moment() {
    let world = World::guarded(Level::Auto);
    let action = click(submit("Buy", HERE, FormMethod::Post));
    let approved = approve(&world, &action);
    let mut stopped = world.clone();
    stopped.moment.stops += 1;
    let facts = stopped.facts_for(&action, TabFacts::agents(here()), Shown::AsItIs);
    let refusal = still_allowed(&approved, &facts).expect_err("stopped");
    assert_eq!(refusal.code, "approval_expired");
}

/// no and stop.
#[test]
fn r164_the_person_says_no() {
    let world = World::guarded(Level::Auto);
    let action = click(submit("Buy", HERE, FormMethod::Post));
    for (answer, code) in [
        (Answer::Refuse, "not_allowed"),
        (Answer::AllowAlways, "not_allowed"),
        (Answer::Stop, "stopped"),
    ] {
        let facts = world.facts_for(&action, TabFacts::agents(here()), Shown::AsItIs);
        let Decision::Confirm(card) = evaluate(action.clone(), &facts) else { panic!("no card") };
        assert_eq!(card.answer(answer).expect_err("refused").code, code);
    }
}

/// for an approved link, form or address only this request, in this frame.
#[test]
fn r175_the_first_request_is_exact() {
    let known = format!("{HERE}/known");
    let request = expected(&click(link("A", &format!("{known}#part"))));
    assert_eq!(request.url, known);
    assert_eq!(request.frame, FrameTarget::Main);
    for (url, method, matches) in [
        (known.as_str(), "GET", true),
        ("https://shop.example/known#other", "GET", true),
        ("https://SHOP.example:443/known", "GET", true),
        (known.as_str(), "POST", false),
        ("https://shop.example/known/", "GET", false),
        ("https://shop.example/known?x=1", "GET", false),
        ("http://shop.example/known", "GET", false),
        ("https://other.example/known", "GET", false),
        ("javascript:1", "GET", false),
        ("", "GET", false),
    ] {
        assert_eq!(request.matches(url, method), matches, "{method} {url}");
    }

    let post = expected(&click(submit("Go", &format!("{HERE}/send?a=1"), FormMethod::Post)));
    assert!(post.matches("https://shop.example/send?a=1", "POST"));
    assert!(!post.matches("https://shop.example/send?a=2", "POST"));
    assert!(!post.matches("https://shop.example/send?a=1", "GET"));

    // A form that goes by GET puts its fields where the query was.
    let get = expected(&click(submit("Go", &format!("{HERE}/find?old"), FormMethod::Get)));
    assert!(get.matches("https://shop.example/find?q=words", "GET"));
    assert!(!get.matches("https://shop.example/other?q=words", "GET"));
}

/// the frame that was approved.
#[test]
fn r175_the_frame_is_the_approved_one() {
    let to = |target: &str| {
        let mut record = link("A", &format!("{HERE}/known"));
        if let Some(link) = &mut record.link {
            link.target = target.to_owned();
        }
        record
    };
    let framed = |target: &str| expected(&click(framed(to(target), web(THERE)))).frame;
    let main = |target: &str| expected(&click(to(target))).frame;
    let own = || FrameId::new("F");
    for (found, frame) in [
        (main(""), FrameTarget::Main),
        (main("_self"), FrameTarget::Main),
        (main("_TOP"), FrameTarget::Main),
        (main("_parent"), FrameTarget::Main),
        (main("_blank"), FrameTarget::NewTab),
        (main("help"), FrameTarget::Named("help".to_owned())),
        (framed(""), FrameTarget::Own(own())),
        (framed("_self"), FrameTarget::Own(own())),
        (framed("_parent"), FrameTarget::Parent(own())),
        (framed("_top"), FrameTarget::Main),
        (framed("_blank"), FrameTarget::NewTab),
    ] {
        assert_eq!(found, frame);
    }
    let held = |button, modifiers| expected(&click_with(to(""), button, modifiers)).frame;
    let control = Modifiers { control: true, ..Modifiers::default() };
    assert_eq!(held(MouseButton::Left, control), FrameTarget::NewTab);
    assert_eq!(held(MouseButton::Middle, Modifiers::default()), FrameTarget::NewTab);
    let open = Action::OpenTab { url: Some(format!("{HERE}/known")) };
    assert_eq!(expected(&open).frame, FrameTarget::NewTab);
    assert_eq!(expected(&back(Some(&format!("{HERE}/known")))).frame, FrameTarget::Main);
    let enter = TargetRecord { enter: Some(form(HERE, FormMethod::Get)), ..input("text", "Q") };
    for action in [press(Some(enter.clone()), "Enter"), typing(enter, "words", false, true)] {
        assert!(expected(&action).matches("https://shop.example/?q=words", "GET"));
    }
}

/// a step that leads nowhere itself lets the page move only within what was approved.
#[test]
fn r175_a_step_without_a_destination_stays_within_the_approved_origins() {
    let button = click(element("button", "button", "Show more"));
    let world = World::guarded(Level::Auto).named("https://named.example");
    let approved = approve(&world, &button);
    let request = |url: &str| approved.obligations().first_request(url, "GET");
    for (url, verdict) in [
        ("https://shop.example/anything", RequestVerdict::Pass),
        ("https://named.example/anything", RequestVerdict::Pass),
        ("https://www.shop.example/", RequestVerdict::Refuse),
        ("https://shop.example:444/", RequestVerdict::Refuse),
        ("http://shop.example/", RequestVerdict::Refuse),
        ("https://other.example/", RequestVerdict::Refuse),
        ("data:text/html,x", RequestVerdict::Refuse),
    ] {
        assert_eq!(request(url), verdict, "{url}");
    }
    // A name does not help against a "never" rule.
    let never = world.rule("https://named.example", Rule::Never);
    let approved = approve(&never, &button);
    assert_eq!(
        approved.obligations().first_request("https://named.example/", "GET"),
        RequestVerdict::Refuse
    );
}

/// R-177…R-179: redirects are judged by site.
#[test]
fn r177_redirects_stay_within_the_approved_sites() {
    let held = obligations(&click(submit("Go", "http://shop.example.com/send", FormMethod::Post)));
    for (url, verdict) in [
        ("https://shop.example.com/thanks", RequestVerdict::Pass),
        ("https://www.example.com/thanks?id=1", RequestVerdict::Pass),
        ("https://shop.example/back-to-the-page", RequestVerdict::Pass),
        ("https://example.org/", RequestVerdict::Refuse),
        ("https://example.com.evil.test/", RequestVerdict::Refuse),
        ("file:///etc/passwd", RequestVerdict::Refuse),
    ] {
        assert_eq!(held.redirect(url), verdict, "{url}");
    }
    assert!(!same_site(&origin("https://a.example"), &origin("http://a.example")));
}

/// popups, downloads and files are refused, but for the one that was approved.
#[test]
fn r176_popups_downloads_and_files_are_refused() {
    let mut world = World::guarded(Level::Auto).named(HERE);
    for step in &catalogue() {
        let decision = evaluate(step.action.clone(), &world.facts(step));
        let Decision::Allow(approved) = decision else { continue };
        let held = approved.obligations();
        assert_eq!(held.downloads, Downloads::Refused, "{}", step.name);
        assert!(!held.files, "{}", step.name);
        let opens = matches!(step.action, Action::OpenTab { url: Some(_) });
        assert_eq!(held.popups == Popups::One, opens, "{}", step.name);
    }
    world.downloads = Downloads::Allowed;
    let upload = Action::Upload {
        target: TargetRecord { sensitivity: Sensitivity::File, ..input("file", "Photo") },
        files: vec!["/a".into()],
    };
    assert!(approve(&world, &upload).obligations().files);
}

/// A receipt is needed for whatever may change something outside.
#[test]
fn steps_that_may_change_something_need_a_receipt() {
    let world = World::guarded(Level::Auto).named(HERE);
    for step in &catalogue() {
        let facts = world.facts(step);
        let approved = match evaluate(step.action.clone(), &facts) {
            Decision::Allow(approved) => approved,
            Decision::Confirm(card) => match card.answer(Answer::Allow) {
                Ok(consent) => consent.approved,
                Err(refusal) => panic!("{refusal:?}"),
            },
            _ => continue,
        };
        let is_dialog = matches!(step.action, Action::AnswerDialog { .. });
        let looks = step.group == crate::steps::Group::Look && !is_dialog;
        assert_eq!(approved.needs_receipt(), !looks, "{}", step.name);
    }
    let typed = approve(&world, &type_into(input("text", "A")));
    assert!(typed.needs_receipt());
    assert!(approve(&world, &navigate(&format!("{HERE}/known"))).needs_receipt());
}

/// What may be reached is told apart for every origin that was approved.
#[test]
fn origins_are_listed_once() {
    let world = World::guarded(Level::Auto).named(HERE).rule(HERE, Rule::Always);
    let approved = approve(&world, &type_into(input("text", "A")));
    let Navigation::Within(origins) = &approved.obligations().navigation else { panic!("exact") };
    let here: Vec<Origin> = vec![origin(HERE)];
    assert_eq!(*origins, here);
}
