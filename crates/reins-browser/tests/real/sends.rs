//! Where the person's rules let a touched page send to, told by what another site saw.

use crate::support::{Page, World, done};
use reins_core::{Action, Origin, Sends, Site};
use reins_guard::SiteRules;

/// A page that loads from another host on `Before`, and tells it something by every way on `Press`.
const PAGE: &str = "<h1>Page</h1><button onclick=\"go()\">Press</button><script>\
    const H='localhost:'+location.port;function go(){fetch('http://'+H+'/told?fetch',{mode:'no-cors'});\
    navigator.sendBeacon('http://'+H+'/told?beacon','x');new WebSocket('ws://'+H+'/told?socket');\
    new Worker(URL.createObjectURL(new Blob(['fetch(\"http://'+H+'/told?worker\",{mode:\"no-cors\"})'])))}</script>";

const WAYS: [&str; 4] = ["beacon", "fetch", "socket", "worker"];

fn home(world: &World) -> Action {
    Action::Navigate { tab: world.tab.clone(), url: world.site.url("/") }
}

fn site(url: &str) -> Site {
    Origin::parse(url).unwrap().site()
}

fn rules(from: &str, sends: Sends) -> SiteRules {
    let mut rules = SiteRules::default();
    rules.set_sends(Origin::parse(from).unwrap(), sends);
    rules
}

/// What arrived at the other host after one click.
async fn told(world: &World, page: &str, rules: &SiteRules) -> Vec<&'static str> {
    world.site.set("/", Page::html(page));
    done(&world.act_guarded(home(world)).await);
    let before = world.site.seen().len();
    done(&world.click_under("Press", rules).await);
    world.page_waits(400).await;
    let seen = world.site.seen().split_off(before);
    let arrived = |way: &&str| seen.iter().any(|seen| seen.path == format!("/told?{way}"));
    WAYS.into_iter().filter(arrived).collect()
}

/// a rule opens one site or all of them for the pages of exactly its origin, whatever they use.
#[tokio::test]
async fn r221_a_rule_lets_the_pages_of_a_site_send_elsewhere() {
    let world = World::start([("/told", Page::html("told"))]).await;
    let (own, other) = (world.site.url("/"), world.site.other_url("/"));
    let also = |url: &str| Sends::Also([site(url)].into());
    let nothing = Vec::<&str>::new();
    assert_eq!(told(&world, PAGE, &SiteRules::default()).await, nothing);
    assert_eq!(told(&world, PAGE, &rules(&own, also(&other))).await, WAYS);
    assert_eq!(told(&world, PAGE, &rules(&own, also("https://cdn.example"))).await, nothing);
    assert_eq!(told(&world, PAGE, &rules(&own, Sends::Anywhere)).await, WAYS);
    assert_eq!(told(&world, PAGE, &rules("https://shop.example", Sends::Anywhere)).await, nothing);
}

/// a rule also closes what a page knew before; its own site stays open.
#[tokio::test]
async fn r221_a_rule_keeps_the_pages_of_a_site_to_itself() {
    let world = World::start([
        ("/told", Page::html("told")),
        ("/own", Page::html("own")),
        ("/before", Page::raw("text/javascript", "")),
    ])
    .await;
    let (own, other) = (world.site.url("/"), world.site.other_url("/before"));
    let page = PAGE.replace("function go(){", "function go(){fetch('/own');");
    let page = format!("{page}<script src='{other}'></script>");
    assert_eq!(told(&world, &page, &SiteRules::default()).await, WAYS);
    let only = |sites: &[&str]| Sends::Only(sites.iter().map(|url| site(url)).collect());
    let before = world.arrived("/own").len();
    assert_eq!(told(&world, &page, &rules(&own, only(&[]))).await, Vec::<&str>::new());
    assert!(world.arrived("/own").len() > before);
    assert_eq!(told(&world, &page, &rules(&own, only(&[&other]))).await, WAYS);
    // The next page inherits it, and what it may reach.
    let next = "<script>fetch('http://localhost:'+location.port+'/told?fetch',{mode:'no-cors'})</script>next";
    world.site.set("/next", Page::html(next));
    let page = page.replace("function go(){", "function go(){location.href='/next';return;");
    assert_eq!(told(&world, &page, &rules(&own, only(&[]))).await, Vec::<&str>::new());
    assert_eq!(told(&world, &page, &rules(&own, Sends::Anywhere)).await, ["fetch"]);
}

/// what a page without an origin of its own may do, no wider rule of the page around it decides.
#[tokio::test]
async fn r221_a_frame_that_a_script_built_gets_no_wider_rule() {
    let world = World::start([("/told", Page::html("told"))]).await;
    let frame = PAGE.replace("H='localhost:'+location.port", "H='localhost:'+parent.location.port");
    let frame = frame.replace('&', "&amp;").replace('"', "&quot;");
    let page = format!("<h1>Shop</h1><iframe srcdoc=\"{frame}\"></iframe>");
    let own = world.site.url("/");
    assert_eq!(told(&world, &page, &rules(&own, Sends::Anywhere)).await, Vec::<&str>::new());
}
