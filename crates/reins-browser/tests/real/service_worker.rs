//! A page with a service worker: its answers are kept, judged like the network's, and no way around what a touched page is
//! held to. Told by what the servers saw.

use crate::support::{LONG, Page, World, done};
use reins_core::Action;

/// Answers `/inside` with a page that loads from E, `/moved` with a redirect to E, and nothing else.
const WORKER: &str = "oninstall=()=>skipWaiting();onactivate=e=>e.waitUntil(clients.claim());\
    onfetch=e=>{const path=new URL(e.request.url).pathname;\
    if(path==='/inside')e.respondWith(new Response('<h1>Inside</h1><img src=\"E/seen\">',\
    {headers:{'content-type':'text/html'}}));\
    if(path==='/moved')e.respondWith(Response.redirect('E/seen'))}";

/// A page that its service worker controls.
async fn world(to_itself: bool) -> World {
    let world = World::start([("/seen", Page::html("<h1>Seen</h1>"))]).await;
    let to = if to_itself { world.site.url("") } else { world.site.other_url("") };
    let worker = WORKER.replace('E', to.trim_end_matches('/'));
    world.site.set("/worker.js", Page::raw("text/javascript", &worker));
    let page = "<h1>Page</h1><a href=/moved>Moved</a> <a href=/inside>Inside</a>\
        <button type=button onclick=\"location='/inside'\">Press</button>\
        <button type=button>More</button>";
    world.site.set("/", Page::html(page));
    open(&world).await;
    let controls = "navigator.serviceWorker.register('/worker.js').then(()=>new Promise(done=>{\
        const seen=()=>navigator.serviceWorker.controller&&done(1);\
        navigator.serviceWorker.addEventListener('controllerchange',seen);seen()}))";
    world.eval(controls).await;
    open(&world).await;
    world
}

async fn open(world: &World) {
    let url = world.site.url("/");
    done(&world.act_guarded(Action::Navigate { tab: world.tab.clone(), url }).await);
}

/// what a service worker answers an approved link with is shown, also when it leads on within the site.
#[tokio::test]
async fn r177_a_service_worker_answers_what_was_approved() {
    let world = world(true).await;
    for (link, heading) in [("Moved", "Seen"), ("Inside", "Inside")] {
        // Input first, so that the page is held when the link is followed.
        done(&world.click_guarded("More").await);
        let acted = world.click_guarded(link).await;
        assert_eq!(done(&acted).refused, Vec::<String>::new(), "{link}");
        assert!(world.text().await.contains(heading), "{link}: {}", world.text().await);
        open(&world).await;
    }
}

/// a redirect that a service worker makes up leads no further than one of the server.
#[tokio::test]
async fn r177_a_service_worker_leads_to_no_other_site() {
    let world = world(false).await;
    let acted = world.click_guarded("Moved").await;
    world.page_waits(300).await;
    assert_eq!(world.site.requests("/seen"), 0, "{acted:?}");
    assert!(world.info().unwrap().url.starts_with(&world.site.url("/")), "{:?}", world.info());
}

/// a page that a service worker makes up inherits what the touched page before it is held to.
#[tokio::test]
async fn r221_a_page_that_a_service_worker_makes_up_inherits() {
    for to_itself in [true, false] {
        let world = world(to_itself).await;
        done(&world.click_guarded("Press").await);
        assert!(world.text().await.contains("Inside"), "{}", world.text().await);
        if to_itself {
            assert!(world.site.wait_for(LONG, |seen| seen.path == "/seen").await);
        } else {
            world.page_waits(300).await;
            assert_eq!(world.site.requests("/seen"), 0);
        }
    }
}
