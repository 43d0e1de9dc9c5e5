//! R-143…R-148: what no level, rule or answer overrides.

use crate::steps::{
    HERE, Shown, THERE, World, back, click, element, form, input, link, navigate, origin, press,
    submit, type_into, web,
};
use reins_core::{Action, DocumentOrigin, FormMethod, TabId, TargetRecord};
use reins_guard::{Decision, Downloads, Level, Rule, TabFacts, evaluate, unknown_tool};

/// The code that a step is blocked with, if it is.
fn code(world: &World, action: &Action) -> Option<&'static str> {
    code_in(world, action, TabFacts::agents(web(HERE)), Shown::AsItIs)
}

fn code_in(world: &World, action: &Action, tab: TabFacts, shown: Shown) -> Option<&'static str> {
    match evaluate(action.clone(), &world.facts_for(action, tab, shown)) {
        Decision::Block(refusal) => {
            assert!(!refusal.message.is_empty() && !refusal.next.is_empty());
            Some(refusal.code)
        }
        _ => None,
    }
}

/// Worlds in which everything that can be allowed is allowed.
fn generous() -> Vec<World> {
    let mut worlds = vec![World::pinned()];
    for level in Level::ALL {
        worlds.push(
            World::guarded(level)
                .named(HERE)
                .named(THERE)
                .planned()
                .rule(HERE, Rule::Always)
                .rule(THERE, Rule::Always),
        );
    }
    let behind_mcp: Vec<World> = worlds.iter().cloned().map(World::behind_mcp).collect();
    worlds.extend(behind_mcp);
    worlds
}

///
#[test]
fn r143_an_unknown_tool_is_refused() {
    let refusal = unknown_tool("cl\u{202E}ick\n");
    assert_eq!(refusal.code, "unknown_tool");
    assert!(refusal.message.contains("'click'"), "{}", refusal.message);
}

///
#[test]
fn r144_only_the_agents_own_tabs_are_closed() {
    let close = Action::CloseTab { tab: TabId::new("T") };
    let click = click(input("checkbox", "A"));
    let unknown = TabFacts { opened_by_agent: false, ..TabFacts::agents(web(HERE)) };
    for world in generous() {
        let code = |action, tab| code_in(&world, action, tab, Shown::AsItIs);
        assert_eq!(code(&close, TabFacts::agents(web(HERE))), None);
        assert_eq!(code(&close, TabFacts::handed_over(web(HERE))), Some("user_tab"));
        assert_eq!(code(&close, unknown.clone()), Some("user_tab"));
        assert_eq!(code(&click, TabFacts::handed_over(web(HERE))), None);
        assert_eq!(code(&click, unknown.clone()), Some("not_your_tab"));
    }
}

/// also through Alt, which makes a download of any link, and also by a key.
#[test]
fn r145_downloads_are_refused_unless_the_session_allows_them() {
    let mut file = link("Report", &format!("{HERE}/known"));
    if let Some(link) = &mut file.link {
        link.download = true;
    }
    for world in generous() {
        for action in [click(file.clone()), press(Some(file.clone()), "Enter")] {
            assert_eq!(code(&world, &action), Some("download"));
            let allowed = World { downloads: Downloads::Allowed, ..world.clone() };
            assert_eq!(code(&allowed, &action), None);
        }
    }
}

/// R-146, for every way to an address.
#[test]
fn r146_only_http_and_https_are_opened() {
    for world in generous() {
        for url in [
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            " javascript:alert(1)",
            "java\tscript:alert(1)",
            "data:text/html,<p>",
            "file:///etc/passwd",
            "chrome://settings",
            "chrome-extension://abc/page.html",
            "about:blank",
            "blob:https://shop.example/1",
            "filesystem:https://shop.example/x",
            "view-source:https://shop.example/",
            "ftp://shop.example/",
            "mailto:a@b.example",
            "ws://shop.example/",
            "shop.example",
            "//shop.example/",
            "/relative",
            "",
            "http://",
            "https://[::1",
        ] {
            let bad = Some("blocked_url_scheme");
            let open = Action::OpenTab { url: Some(url.to_owned()) };
            let reload = Action::Reload { tab: TabId::new("T"), url: url.to_owned() };
            let linked = || link("More", url);
            assert_eq!(code(&world, &navigate(url)), bad, "{url}");
            assert_eq!(code(&world, &open), bad, "{url}");
            assert_eq!(code(&world, &back(Some(url))), bad, "{url}");
            assert_eq!(code(&world, &reload), bad, "{url}");
            assert_eq!(code(&world, &click(linked())), bad, "{url}");
            assert_eq!(code(&world, &press(Some(linked()), "Enter")), bad, "{url}");
            if url != "about:blank" {
                let submits = submit("Go", url, FormMethod::Post);
                let enter = TargetRecord {
                    enter: Some(form(url, FormMethod::Get)),
                    ..input("text", "Name")
                };
                assert_eq!(code(&world, &click(submits)), bad, "{url}");
                assert_eq!(code(&world, &press(Some(enter), "Enter")), bad, "{url}");
            }
        }
    }
}

/// A link that says it has no address opens nothing, so there is nothing to block.
#[test]
fn r146_a_link_without_an_address_is_judged_as_a_button() {
    for url in ["javascript:void(0)", "javascript:;", "javascript:", "javascript:void%200;"] {
        for world in generous() {
            assert_eq!(code(&world, &click(link("More", url))), None, "{url}");
        }
    }
}

/// exact, for both ways to give an address, and whatever is named.
#[test]
fn r147_an_address_must_come_from_the_person_or_from_a_shown_link() {
    for level in Level::ALL {
        let mut world = World::guarded(level).named(HERE).rule(HERE, Rule::Always).planned();
        world.turn.approve_url("https://shop.example/given?a=1#part");
        for (url, known) in [
            ("https://shop.example/known", true),
            ("https://SHOP.example:443/known", true),
            ("https://shop.example/given?a=1#part", true),
            ("https://shop.example/given?a=1", false),
            ("https://shop.example/given?a=2#part", false),
            ("https://shop.example/known/", false),
            ("https://shop.example/known?x=secret", false),
            ("http://shop.example/known", false),
            ("https://shop.example/", false),
            ("https://user@shop.example/known", false),
        ] {
            let expected = (!known).then_some("unknown_url");
            assert_eq!(code(&world, &navigate(url)), expected, "{url}");
            let open = Action::OpenTab { url: Some(url.to_owned()) };
            assert_eq!(code(&world, &open), expected, "{url}");
        }
    }
}

/// what is read afresh before the act decides, and a link counts as it was shown, not as it is now.
#[test]
fn r134_a_link_that_changed_since_it_was_shown_is_stale() {
    let tab = || TabFacts::agents(web(HERE));
    let world = World::guarded(Level::Auto).named(HERE).named(THERE);
    let known = click(link("A", &format!("{HERE}/known")));
    let unseen = click(link("A", &format!("{HERE}/unseen")));
    let form = click(submit("Go", HERE, FormMethod::Post));
    for (action, shown, expected) in [
        (&known, Shown::AsItIs, None),
        (&unseen, Shown::AsItIs, None),
        (&known, Shown::Changed, Some("stale_ref")),
        (&form, Shown::Changed, Some("stale_ref")),
        (&form, Shown::AsItIs, None),
        // Without a ref, as for the element that has the focus, the address itself must be known.
        (&known, Shown::Never, None),
        (&unseen, Shown::Never, Some("unknown_url")),
    ] {
        assert_eq!(code_in(&world, action, tab(), shown), expected, "{action:?} {shown:?}");
    }
}

/// any scheme, any port, everything below the host, and every way there.
#[test]
fn r159_never_is_never() {
    let tab = |origin: DocumentOrigin| TabFacts::agents(origin);
    for world in generous() {
        let world = world.rule("https://bank.example", Rule::Never);
        let code = |action: &Action| code(&world, action);
        for site in [
            "https://bank.example",
            "http://bank.example",
            "https://bank.example:8443",
            "https://www.bank.example",
            "https://login.bank.example",
            "https://bank.example.",
            "https://BANK.example",
        ] {
            let never = Some("never_rule");
            let page = format!("{site}/known");
            let there =
                |target: TargetRecord| TargetRecord { origin: web(site), top: web(site), ..target };
            let framed = |target: TargetRecord| TargetRecord { origin: web(site), ..target };
            assert_eq!(code(&navigate(&page)), never, "{site}");
            assert_eq!(code(&Action::OpenTab { url: Some(page.clone()) }), never, "{site}");
            assert_eq!(code(&back(Some(&page))), never, "{site}");
            assert_eq!(code(&click(link("A", &page))), never, "{site}");
            assert_eq!(code(&click(submit("A", &page, FormMethod::Post))), never, "{site}");
            assert_eq!(code(&click(there(input("checkbox", "A")))), never, "{site}");
            assert_eq!(code(&click(framed(input("checkbox", "A")))), never, "{site}");
            assert_eq!(code(&type_into(framed(input("text", "A")))), never, "{site}");
            for action in [press(None, "Tab"), navigate(&format!("{HERE}/known")), back(None)] {
                let found = code_in(&world, &action, tab(web(site)), Shown::AsItIs);
                assert_eq!(found, never, "{site} {action:?}");
            }
            let sandboxed = DocumentOrigin::Sandboxed(origin(site));
            let found = code_in(&world, &press(None, "Tab"), tab(sandboxed), Shown::AsItIs);
            assert_eq!(found, never, "{site}");
            // Leaving is not acting there.
            for action in [
                Action::SwitchTab { tab: TabId::new("T") },
                Action::CloseTab { tab: TabId::new("T") },
            ] {
                assert_eq!(code_in(&world, &action, tab(web(site)), Shown::AsItIs), None);
            }
        }
        for site in ["https://notbank.example", "https://bank.example.evil.test", "https://example"]
        {
            let found = code_in(&world, &press(None, "Tab"), tab(web(site)), Shown::AsItIs);
            assert_eq!(found, None, "{site}");
        }
    }
}

/// A pinned session opens its app at the top level and nothing else, by any way.
#[test]
fn a_pinned_session_opens_only_its_app() {
    let world = World::pinned();
    let outside = Some("outside_app");
    let there = format!("{THERE}/known");
    let open = |url: &str| Action::OpenTab { url: Some(url.to_owned()) };
    for action in [
        navigate(&there),
        open(&there),
        back(Some(&there)),
        click(link("A", &there)),
        click(submit("A", &there, FormMethod::Get)),
        navigate("http://shop.example/"),
        navigate("https://shop.example:444/"),
        navigate("https://www.shop.example/"),
        navigate("https://shop.example@other.example/"),
        navigate("https://shop.example.other.example/"),
    ] {
        assert_eq!(code(&world, &action), outside, "{action:?}");
    }
    for action in [
        navigate(&format!("{HERE}/any/address")),
        open(&format!("{HERE}/any?x=1")),
        click(link("A", &format!("{HERE}/unseen"))),
    ] {
        assert_eq!(code(&world, &action), None, "{action:?}");
    }
    // A frame's own link moves just the frame; one that names the top does not.
    let in_frame = |target: &str| {
        let mut inner = crate::steps::framed(link("A", &there), web(THERE));
        if let Some(link) = &mut inner.link {
            link.target = target.to_owned();
        }
        click(inner)
    };
    assert_eq!(code(&world, &in_frame("")), None);
    assert_eq!(code(&world, &in_frame("_SELF")), None);
    for target in ["_top", "_parent", "_blank", "name"] {
        assert_eq!(code(&world, &in_frame(target)), outside, "{target}");
    }
}

/// Pages of the browser itself are never acted on, but left.
#[test]
fn pages_of_the_browser_are_left_alone() {
    let tab = TabFacts::agents(DocumentOrigin::Browser);
    for world in generous() {
        let code = |action: &Action| code_in(&world, action, tab.clone(), Shown::AsItIs);
        assert_eq!(code(&press(None, "Tab")), Some("browser_page"));
        let button = TargetRecord {
            origin: DocumentOrigin::Browser,
            top: DocumentOrigin::Browser,
            ..element("button", "button", "Reset settings")
        };
        assert_eq!(code(&click(button)), Some("browser_page"));
        assert_eq!(code(&navigate(&format!("{HERE}/known"))), None);
    }
}
