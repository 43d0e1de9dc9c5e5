//! The sign-in of an app, read from one browser and given to the next.

use crate::world::{Other, World};
use reins_browser::{SignIn, SignInCookie};
use reins_core::{Origin, Secret};
use reins_testing::Page;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

/// S-028, S-029: a sign-in made inside is fetched and works in the next browser: cookies with all their
/// attributes, and local storage. Nothing of another host or port's origin is among it, and the
/// app's server is not asked for anything meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn s028_s029_a_sign_in_goes_from_one_browser_to_the_next() {
    let page = |_: &reins_testing::Site| {
        let body = "<title>App</title><script>\
            document.cookie='theme=dark; path=/; max-age=86400; samesite=strict';\
            localStorage.setItem('token','t0ken');hit('made')</script>";
        let show = "<title>Show</title><script>\
            hit('has-'+(localStorage.getItem('token')||'nothing')+'-'+document.cookie.includes('theme=dark'))</script>";
        vec![
            (
                "/".to_owned(),
                Page::html(body)
                    .with_header("set-cookie", "sid=s3cret; HttpOnly; SameSite=Lax; Path=/"),
            ),
            ("/show".to_owned(), Page::html(show)),
        ]
    };
    let first = World::start(page, Other::Open).await;
    let app = Origin::parse(&first.app.url("/")).unwrap();
    first.go("/").await;
    assert!(first.app.wait_hit("made", SOON).await);
    let tabs = first.browser.tabs().len();
    let saved = first.browser.sign_in(&app).await.unwrap();
    assert!(!first.app.seen().iter().any(|seen| seen.path.contains("reins-empty")));
    let named = |name: &str| saved.cookies.iter().find(|cookie| cookie.name == name).unwrap();
    let sid = named("sid");
    assert_eq!((sid.value.expose().as_str(), sid.http_only, sid.expires), ("s3cret", true, None));
    assert_eq!(sid.same_site.as_deref(), Some("Lax"));
    let theme = named("theme");
    assert!(theme.expires.is_some() && !theme.http_only);
    assert_eq!(theme.same_site.as_deref(), Some("Strict"));
    let items: Vec<(&str, &str)> =
        saved.local_storage.iter().map(|(k, v)| (k.as_str(), v.expose().as_str())).collect();
    assert_eq!(items, [("token", "t0ken")]);
    // Of another origin on the same host there is no local storage, and of another host nothing.
    let elsewhere = Origin::parse(&first.other.url("/")).unwrap();
    assert!(first.browser.sign_in(&elsewhere).await.unwrap().local_storage.is_empty());
    let foreign = Origin::parse("https://bank.example").unwrap();
    assert_eq!(first.browser.sign_in(&foreign).await.unwrap(), SignIn::default());
    assert_eq!(first.browser.tabs().len(), tabs);
    first.end().await;

    let second = World::start(page, Other::Open).await;
    let app = Origin::parse(&second.app.url("/")).unwrap();
    second.browser.set_sign_in(&app, &saved).await.unwrap();
    assert!(second.app.seen().is_empty());
    second.go("/show").await;
    assert!(second.app.wait_hit("has-t0ken-true", SOON).await);
    let again = second.browser.sign_in(&app).await.unwrap();
    assert!(again.cookies.contains(sid));
    assert_eq!(again.local_storage, saved.local_storage);
    second.end().await;
}

/// S-029: what is not the app's is not set; a partitioned cookie stays partitioned.
#[tokio::test(flavor = "multi_thread")]
async fn s029_only_the_apps_cookies_are_set_and_partitions_stay() {
    let world =
        World::start(|_| vec![("/".to_owned(), Page::html("<title>App</title>"))], Other::Closed)
            .await;
    let app = Origin::parse(&world.app.url("/")).unwrap();
    let cookie = |name: &str, domain: &str, partition: Option<(String, bool)>| SignInCookie {
        name: name.into(),
        value: Secret::new("v".into()),
        domain: domain.into(),
        path: "/".into(),
        expires: Some(4_000_000_000),
        http_only: true,
        secure: true,
        same_site: Some("None".into()),
        partition,
    };
    let foreign = SignIn { cookies: vec![cookie("a", "bank.example", None)], ..SignIn::default() };
    let refused = world.browser.set_sign_in(&app, &foreign).await.unwrap_err();
    assert_eq!(refused.code(), "sign_in");
    let site = format!("http://{}", app.site());
    let own = SignIn {
        cookies: vec![
            cookie("plain", app.host(), None),
            cookie("part", app.host(), Some((site.clone(), false))),
        ],
        ..SignIn::default()
    };
    world.browser.set_sign_in(&app, &own).await.unwrap();
    let read = world.browser.sign_in(&app).await.unwrap();
    let part = read.cookies.iter().find(|cookie| cookie.name == "part").unwrap();
    assert_eq!(part.partition, Some((site, false)));
    assert!(part.http_only && part.secure && part.same_site.as_deref() == Some("None"));
    assert!(read.cookies.iter().any(|cookie| cookie.name == "plain" && cookie.partition.is_none()));
    world.end().await;
}
