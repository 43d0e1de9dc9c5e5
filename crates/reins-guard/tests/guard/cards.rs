//! R-164…: the words on cards.

use crate::steps::{
    HERE, Shown, THERE, World, back, click, element, form, framed, input, link, navigate, origin,
    press, sensitive, submit, type_into, web,
};
use reins_core::{
    Action, DocumentOrigin, FormMethod, Sensitivity, Submission, TabId, TargetRecord,
};
use reins_guard::{Answer, Card, Decision, DialogFacts, DialogKind, Level, TabFacts, evaluate};

fn card(world: &World, action: &Action) -> Card {
    card_in(world, action, TabFacts::agents(web(HERE)))
}

fn card_in(world: &World, action: &Action, tab: TabFacts) -> Card {
    match evaluate(action.clone(), &world.facts_for(action, tab, Shown::AsItIs)) {
        Decision::Plan(pending) | Decision::Confirm(pending) => pending.card().clone(),
        other => panic!("{action:?}: {other:?}"),
    }
}

fn check(cases: &[(Action, &str, &str)]) {
    let world = World::guarded(Level::Auto);
    for (action, title, detail) in cases {
        let card = card(&world, action);
        assert_eq!((card.title.as_str(), card.detail.as_str()), (*title, *detail));
    }
}

/// a risk word with the host, else the guard's reason, and where it leads.
#[test]
fn r166_the_line_below_the_title_tells_risk_and_place() {
    let known = format!("{HERE}/known");
    let pay = || submit("Place order", "https://pay.example/charge", FormMethod::Post);
    let plain = || submit("Continue", "https://pay.example:8443/next", FormMethod::Post);
    let file = sensitive("file", "Résumé", Sensitivity::File);
    check(&[
        (
            click(pay()),
            "Click the button “Place order”?",
            "This may buy, book, pay or transfer something on shop.example. It sends the form to pay.example:443 at /charge.",
        ),
        (
            click(plain()),
            "Click the button “Continue”?",
            "It sends the form to pay.example:8443 at /next.",
        ),
        (
            click(link("Delete account", &known)),
            "Click the link “Delete account”?",
            "This may delete or reset something on shop.example.",
        ),
        (
            click(link("Unsubscribe", &format!("{THERE}/known"))),
            "Click the link “Unsubscribe”?",
            "This may start or end a subscription on shop.example. It leads to other.example:443.",
        ),
        (
            click(element("div", "generic", "")),
            "Click the element without a name?",
            "Nothing tells what this does.",
        ),
        (
            type_into(sensitive("password", "Password", Sensitivity::Password)),
            "Type into the textbox “Password”?",
            "This may use a password, one-time code or payment field on shop.example.",
        ),
        (
            type_into(framed(
                sensitive("text", "Card number", Sensitivity::Payment),
                web("https://pay.example"),
            )),
            "Type into the textbox “Card number”?",
            "This may use a password, one-time code or payment field on pay.example, a frame of shop.example.",
        ),
        (
            // What Enter really does: a hidden first button, with an address of its own.
            press(
                Some(TargetRecord {
                    enter: Some(Submission {
                        submitter: Some("Remove".to_owned()),
                        ..form(&format!("{HERE}/delete-account"), FormMethod::Post)
                    }),
                    ..input("text", "Search")
                }),
                "Enter",
            ),
            "Press Enter in the textbox “Search”?",
            "This may delete or reset something on shop.example. It sends the form to shop.example:443 at /delete-account with the button “Remove”.",
        ),
        (
            press(Some(input("text", "Search")), "Enter"),
            "Press Enter in the textbox “Search”?",
            "Enter may submit something.",
        ),
        (press(None, "#"), "Press #?", "Nothing tells what this does."),
        (
            press(Some(input("text", "Search")), "Control+v"),
            "Press Control+v in the textbox “Search”?",
            "It uses your clipboard.",
        ),
        (
            back(Some(&known)),
            "Go back?",
            "It goes through the history of the tab. The address is https://shop.example/known.",
        ),
        (back(None), "Go back?", "It goes through the history of the tab."),
        (
            Action::Upload {
                target: file,
                files: vec!["/home/p/cv.pdf".into(), "/home/p/b.pdf".into()],
            },
            "Give “cv.pdf” and 1 more to the textbox “Résumé”?",
            "This may upload a file on shop.example.",
        ),
        (
            Action::Select {
                target: element("select", "combobox", "Action"),
                options: vec!["Delete".to_owned()],
            },
            "Choose “Delete” in the combobox “Action”?",
            "This may delete or reset something on shop.example.",
        ),
        (
            type_into(input("text", "Name")),
            "Type into the textbox “Name”?",
            "Nobody named shop.example. Allowing also covers other low-risk steps on shop.example in this session.",
        ),
        (
            type_into(framed(input("text", "Name"), DocumentOrigin::ScriptBuilt)),
            "Type into the textbox “Name”?",
            "Nobody named shop.example. Allowing also covers other low-risk steps on shop.example in this session.",
        ),
    ]);
}

/// a frame that can't be named is told as such.
#[test]
fn a_frame_that_cannot_be_named_says_so() {
    let world = World::guarded(Level::Auto).named(HERE);
    let typing = type_into(framed(input("text", "Name"), DocumentOrigin::ScriptBuilt));
    assert_eq!(
        card(&world, &typing).detail,
        "A frame that a script built belongs to no site that could be named."
    );
    let password = sensitive("password", "Password", Sensitivity::Password);
    let sandboxed = DocumentOrigin::Sandboxed(origin(HERE));
    assert_eq!(
        card(&world, &type_into(framed(password, sandboxed))).detail,
        "This may use a password, one-time code or payment field on a sandboxed page of shop.example."
    );
}

/// The exact address, without what only looks like a host, and with imitating hosts marked.
#[test]
fn addresses_are_shown_as_they_are() {
    let world = World::guarded(Level::Auto).behind_mcp().named("https://paypal.com");
    for (url, detail) in [
        (
            "https://paypal.com@evil.example/pay?x=1",
            "Nobody named evil.example. The address is https://evil.example/pay?x=1. Allowing also covers other low-risk steps on evil.example in this session.",
        ),
        (
            "https://evil.example/delete?id=1",
            "This may delete or reset something on evil.example. The address is https://evil.example/delete?id=1.",
        ),
        (
            "https://раураӏ.com/",
            "Nobody named xn--80aa0aa9ek67a.com (not paypal.com, but looks like it).",
        ),
    ] {
        let card = card(&world, &navigate(url));
        let marked = |text: &str| text.split_once("(not").map(|(_, tail)| tail.to_owned());
        if url.is_ascii() {
            assert_eq!(card.detail, detail);
        } else {
            assert!(card.detail.contains("xn--"), "{}", card.detail);
            assert!(marked(&card.detail).is_some_and(|tail| tail.starts_with(" paypal.com, but")));
            assert!(!card.detail.contains("раураӏ"));
        }
    }
    let long = format!("https://shop.example/{}?end=here", "a/".repeat(300));
    let card = card(&World::guarded(Level::Auto).behind_mcp(), &navigate(&long));
    assert!(card.detail.contains("https://shop.example/a/a/"), "{}", card.detail);
    assert!(card.detail.contains("?end=here"), "{}", card.detail);
    assert!(card.detail.len() < 400);
}

/// captions can't pass for words of ours.
#[test]
fn r203_captions_stay_within_their_quotes() {
    let world = World::guarded(Level::Auto);
    for (name, title) in [
        (
            "OK”? It sends the form to bank.example:443. “",
            "Click the button “OK'? It sends the form to bank.example:443. '”?",
        ),
        ("Cancel\u{202E}yaP", "Click the button “CancelyaP”?"),
        ("Line\none\r\n\ttwo", "Click the button “Line one two”?"),
        ("\u{200B}\u{2060}", "Click the button without a name?"),
        ("<b>Bold</b>", "Click the button “<b>Bold</b>”?"),
    ] {
        assert_eq!(card(&world, &click(element("button", "button", name))).title, title);
    }
    let role = TargetRecord {
        role: "button “Cancel” of the browser".to_owned(),
        ..element("div", "", "Pay")
    };
    assert_eq!(card(&world, &click(role)).title, "Click the element “Pay”?");
    let long = element("button", "button", &format!("Begin {} end", "x".repeat(500)));
    let title = card(&world, &click(long)).title;
    assert!(
        title.starts_with("Click the button “Begin xxx") && title.ends_with("xxx end”?"),
        "{title}"
    );
    assert!(title.contains('…') && title.len() < 120, "{title}");
}

/// The page's own dialog is quoted, and its words count.
#[test]
fn dialogs_are_quoted() {
    let dialog = |message: &str| TabFacts {
        dialog: Some(DialogFacts { kind: DialogKind::Confirm, message: message.to_owned() }),
        ..TabFacts::agents(web(HERE))
    };
    let accept = Action::AnswerDialog { tab: TabId::new("T"), accept: true, text: None };
    let world = World::guarded(Level::Auto).named(HERE);
    let card = card_in(&world, &accept, dialog("Delete all 3 files?"));
    assert_eq!(card.title, "Accept the page's dialog “Delete all 3 files?”?");
    assert_eq!(card.detail, "This may delete or reset something on shop.example.");
    let card = card_in(&world, &accept, dialog("Go on?"));
    assert_eq!(card.detail, "The page asked a question, and this answers it.");
}

/// what a plan covers, and that it covers no risk.
#[test]
fn r163_a_plan_says_what_it_covers() {
    let world = World::guarded(Level::Careful);
    let card = card(&world, &type_into(input("text", "Name")));
    assert_eq!(
        card.detail,
        "It can change something. Allowing also covers later low-risk steps on shop.example for this request; risky ones still ask."
    );
}

/// two spellings of answers, and nothing else.
#[test]
fn r209_answers_have_two_spellings() {
    for (word, answer) in [
        ("allow", Answer::Allow),
        ("confirm", Answer::Allow),
        ("allow_once", Answer::Allow),
        ("skip", Answer::Refuse),
        ("deny", Answer::Refuse),
        ("always", Answer::AllowAlways),
        ("stop", Answer::Stop),
    ] {
        assert_eq!(word.parse(), Ok(answer));
    }
    for word in ["", "yes", "Allow", "allow ", "ok", "true", "allow_always"] {
        assert!(word.parse::<Answer>().is_err(), "{word}");
    }
}
