//! Console, network and emulation on the street, in a real Chromium (A-005).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step must stop the test")]

mod support;

use reins_control::CardAnswer;
use reins_testing::{Page, Site};
use serde_json::{Value, json};
use std::time::Duration;
use support::{Desk, Person, find_ref};

/// Answers within this, or the page never does it.
const SOON: Duration = Duration::from_secs(60);

async fn inspecting(site: &Site) -> Desk {
    let app = [site.url(""), site.other_url("")].map(|url| url.parse().unwrap());
    Desk::new(Person::default(), |options| {
        options.app = app.to_vec();
        options.inspect = true;
    })
    .await
}

/// Calls a tool until its answer holds a text: what a page does by itself takes its time.
async fn until(desk: &Desk, tool: &str, arguments: Value, wanted: &[&str]) -> String {
    let end = std::time::Instant::now() + SOON;
    loop {
        let said = desk.ok(tool, arguments.clone()).await;
        if wanted.iter().all(|wanted| said.contains(wanted)) {
            return said;
        }
        assert!(std::time::Instant::now() < end, "no {wanted:?} in:\n{said}");
        desk.ok("wait_for", json!({"seconds": 0.3})).await;
    }
}

const APP: &str = r#"console.log("hi %s", "there", {a: 1, b: "x"}, [1, 2]);
console.warn("careful");
for (let i = 0; i < 3; i++) console.debug("again");
console.error("token", "password=hunter2x1");
function outer() { inner() }
function inner() { null.boom }
setTimeout(outer);
Promise.reject(new TypeError("rejected"));
new Worker("/worker.js");
"#;

fn pages() -> [(&'static str, Page); 4] {
    let html = r#"<meta http-equiv="Content-Security-Policy" content="img-src 'self'">
<img src="http://127.0.0.1:1/x.png"><script src="/app.js"></script><h1>Home</h1>
<script>const f=document.createElement('iframe');f.src='http://localhost:'+location.port+'/frame';document.body.append(f)</script>
<button onclick="console.info('clicked')">Log</button>"#;
    [
        ("/", Page::html(html)),
        ("/app.js", Page::raw("text/javascript", APP)),
        (
            "/worker.js",
            Page::raw("text/javascript", "console.warn('in the worker'); fetch('/from-worker')"),
        ),
        ("/frame", Page::html("<script>console.info('in the frame'); missing()</script>")),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a005_the_console_of_all_frames_and_workers_is_told() {
    let site = Site::start(pages()).await.unwrap();
    let desk = inspecting(&site).await;
    let page = desk.ok("navigate", json!({"url": site.url("/")})).await;
    let wanted = ["in the worker", "missing is not defined", "rejected", "null", "404"];
    let said = until(&desk, "console_messages", json!({"level": "debug"}), &wanted).await;
    for line in [
        "info: hi there {a: 1, b: \"x\"} [1, 2] (/app.js:1:9)",
        "warning: careful (/app.js:2:9)",
        "debug x3: again (/app.js:3:37)",
        "error: token password=[redacted] (/app.js:4:9)",
        "Uncaught TypeError: Cannot read properties of null (reading 'boom') (/app.js:6:25)",
        "  at inner (/app.js:6:25)",
        "  at outer (/app.js:5:20)",
        "Uncaught (in promise) TypeError: rejected (/app.js:8:16)",
        "warning in worker /worker.js: in the worker",
        "Content Security Policy",
        "status of 404 (Not Found) (/favicon.ico)",
    ] {
        assert!(said.contains(line), "no {line:?} in:\n{said}");
    }
    let frame = format!("in frame {}: in the frame", site.other_url("/frame"));
    assert!(said.contains(&frame), "{said}");
    assert!(said.contains("<page-") && said.trim_end().ends_with('>'), "{said}");
    assert!(!said.contains("hunter2x1"), "{said}");
    let errors = desk.ok("console_messages", json!({"level": "error"})).await;
    assert!(!errors.contains("careful") && errors.contains("boom"), "{errors}");
    desk.ok("click", json!({"ref": find_ref(&page, "button", "Log")})).await;
    let said = desk.ok("console_messages", json!({})).await;
    let last = said.lines().rev().find(|line| !line.starts_with("</page-")).unwrap();
    assert!(last.contains("clicked"), "newest last: {said}");
    // Another document begins with an empty list.
    site.set("/quiet", Page::html("<link rel=icon href='data:,'><h1>Quiet</h1>"));
    desk.ok("navigate", json!({"url": site.url("/quiet")})).await;
    let said = desk.ok("console_messages", json!({})).await;
    assert!(said.contains("nothing was logged"), "{said}");
    desk.control.close().await;
}

/// W-366: the console from a bounded buffer.
#[tokio::test(flavor = "multi_thread")]
async fn a005_a_page_that_floods_the_console_holds_nobody_up() {
    let flood = "<button onclick=\"for(let i=0;i<3000;i++)console.log('line '+i+' '+'y'.repeat(60),{i})\">Flood</button>\
        <button onclick=\"console.log('x'.repeat(1<<20));console.log('end')\">Large</button>";
    let site = Site::start([("/", Page::html(flood))]).await.unwrap();
    let desk = inspecting(&site).await;
    let page = desk.ok("navigate", json!({"url": site.url("/")})).await;
    desk.ok("click", json!({"ref": find_ref(&page, "button", "Flood")})).await;
    let said = until(&desk, "console_messages", json!({}), &["{i: 2999}"]).await;
    assert!(said.contains("were not kept"), "{said}");
    assert!(said.len() < 20_000, "{}", said.len());
    let uri = said.split("read_more ").nth(1).unwrap().split(')').next().unwrap();
    let older = desk.ok("read_more", json!({"uri": uri})).await;
    assert!(older.contains("line 27") && older.contains("<page-"), "{older}");
    desk.ok("click", json!({"ref": find_ref(&page, "button", "Large")})).await;
    let said = until(&desk, "console_messages", json!({}), &["info: end"]).await;
    assert!(said.contains("too large to keep"), "{said}");
    desk.control.close().await;
}

/// W-366: requests from a bounded buffer.
#[tokio::test(flavor = "multi_thread")]
async fn a005_requests_are_listed_and_told_in_full() {
    let html = r#"<link rel=icon href='data:,'><h1>Home</h1><script>
const read=(...a)=>fetch(...a).then(r=>r.text()).catch(()=>{});
read('/api?access_token=abc123',{method:'POST',headers:{authorization:'Bearer s3cret-value','content-type':'application/json'},body:JSON.stringify({name:'ada',password:'hunter2'})});
read('/missing'); read('/hop'); read('http://127.0.0.1:1/dead'); read('/slow');
new Worker('/worker.js')</script>"#;
    let long = format!("{{\"refreshToken\":\"r-e-f\",\"rows\":[{}0]}}", "12345,".repeat(4_000));
    let site = Site::start([
        ("/", Page::html(html).with_header("set-cookie", "sid=s3cr3t; Path=/; HttpOnly")),
        ("/api", Page::raw("application/json", long)),
        ("/hop", Page::redirect(302, "/landed")),
        ("/landed", Page::raw("text/plain", "LANDED")),
        ("/slow", Page::raw("text/plain", "").never_answering()),
        ("/worker.js", Page::raw("text/javascript", "fetch('/of-worker').then(r=>r.text())")),
        ("/of-worker", Page::raw("text/plain", "WORKER_BODY")),
        ("/image", Page::raw("image/png", "\u{0}\u{1}")),
    ])
    .await
    .unwrap();
    let desk = inspecting(&site).await;
    desk.ok("navigate", json!({"url": site.url("/")})).await;
    let wanted = [
        "/of-worker 200 fetch",
        "/landed 200 fetch",
        "/missing 404 fetch",
        "ERR_",
        "[redacted] 200 fetch",
    ];
    let said = until(&desk, "network_requests", json!({}), &wanted).await;
    let line = |said: &str, part: &str| {
        let found = said.lines().find(|line| line.starts_with('#') && line.contains(part));
        found.unwrap_or_else(|| panic!("no {part} in:\n{said}")).to_owned()
    };
    assert!(line(&said, "/hop").contains("/hop 302 fetch"), "{said}");
    assert!(line(&said, "/slow").contains("under way fetch"), "{said}");
    assert!(line(&said, "/missing").contains("by script /:"), "{said}");
    assert!(line(&said, "/dead").contains("failed (net::ERR_"), "{said}");
    assert!(
        line(&said, "/api").contains("?access_token=[redacted] 200 fetch application/json 24."),
        "{said}"
    );
    assert!(line(&said, " / ").contains(" 200 document text/html"), "{said}");
    let failed = desk.ok("network_requests", json!({"failed": true})).await;
    assert_eq!(failed.lines().filter(|line| line.starts_with('#')).count(), 2, "{failed}");
    let text = desk.ok("network_requests", json!({"text": "OF-WORKER", "type": "fetch"})).await;
    assert_eq!(text.lines().filter(|line| line.starts_with('#')).count(), 1, "{text}");
    let number = |line: &str| -> u32 { line[1..].split(' ').next().unwrap().parse().unwrap() };
    let full = |part: &str| {
        let number = number(&line(&said, part));
        let desk = &desk;
        async move { desk.ok("network_requests", json!({"number": number})).await }
    };
    let api = full("/api").await;
    for part in [
        "authorization: Bearer [redacted]",
        "with the fields name, password",
        "content-type: application/json",
        "\"refreshToken\":\"[redacted]\"",
        "Cookie: sid=[redacted]",
    ] {
        assert!(api.to_lowercase().contains(&part.to_lowercase()), "no {part} in:\n{api}");
    }
    let uri = api.split("read_more ").nth(1).unwrap().split(')').next().unwrap();
    let rest = desk.ok("read_more", json!({"uri": uri})).await;
    assert!(rest.contains("12345,0]}"), "{rest}");
    let home = full(" / ").await;
    assert!(home.contains("set-cookie: sid=[redacted]; Path=/; HttpOnly"), "{home}");
    assert!(home.contains("<h1>Home</h1>"), "{home}");
    assert!(full("/of-worker").await.contains("WORKER_BODY"));
    assert!(full("/landed").await.contains("LANDED"));
    let hop = full("/hop").await;
    assert!(hop.contains("location: /landed") && hop.contains("none was kept"), "{hop}");
    for said in [&said, &api, &home, &hop, &failed, &rest] {
        for secret in ["s3cr", "s3cret-value", "abc123", "hunter2", "r-e-f"] {
            assert!(!said.contains(secret), "{secret} in:\n{said}");
        }
    }
    assert_eq!(desk.code("network_requests", json!({"number": 999_999})).await, "wrong_argument");
    assert_eq!(
        desk.code("network_requests", json!({"number": 1, "failed": true})).await,
        "wrong_argument"
    );
    desk.control.close().await;
}

/// What the guard's containment refused is in the list, with the reason.
#[tokio::test(flavor = "multi_thread")]
async fn a005_refused_requests_are_listed_with_the_reason() {
    let html = "<link rel=icon href='data:,'><h1>Home</h1>\
        <button onclick=\"fetch('http://localhost:'+location.port+'/evil').catch(()=>{})\">Press</button>\
        <button onclick=\"location.href='http://localhost:'+location.port+'/away'\">Go</button>";
    let site = Site::start([("/", Page::html(html))]).await.unwrap();
    let person = Person::saying([CardAnswer::Allow, CardAnswer::Allow]);
    let desk = Desk::new(person, |options| {
        options.inspect = true;
        options.strict_clicks = true;
    })
    .await;
    desk.says(&format!("press everything on {}", site.url("/")));
    let page = desk.ok("navigate", json!({"url": site.url("/")})).await;
    for name in ["Press", "Go"] {
        drop(desk.call("click", json!({"ref": find_ref(&page, "button", name)})).await);
    }
    let wanted = ["/evil refused (", "/away refused ("];
    let said = until(&desk, "network_requests", json!({"failed": true}), &wanted).await;
    assert_eq!(site.requests("/evil") + site.requests("/away"), 0, "{said}");
    desk.control.close().await;
}

/// Where nobody inspects, nothing is kept, and the tools say how to change that.
#[tokio::test(flavor = "multi_thread")]
async fn a005_nothing_is_kept_unless_it_is_asked_for() {
    let site = Site::start(pages()).await.unwrap();
    let desk = Desk::pinned(&site).await;
    desk.ok("navigate", json!({"url": site.url("/")})).await;
    for tool in ["console_messages", "network_requests"] {
        let error = desk.call(tool, json!({})).await.unwrap_err();
        assert_eq!(error.code(), "not_kept");
        assert!(error.to_string().contains("--tools core,inspect"), "{error}");
    }
    desk.control.close().await;
}

/// What a page knows of where it is shown.
const MIRROR: &str = "<link rel=icon href='data:,'><meta name=viewport content='width=device-width'>\
    <h1>Mirror</h1><p id=o></p><button style='position:absolute;left:10px;top:200px' onclick=\"tell('clicked')\">Tell</button>\
    <script>const m=q=>matchMedia(q).matches;function tell(what=''){o.textContent=[what,innerWidth,innerHeight,devicePixelRatio,\
    m('(prefers-color-scheme: dark)')?'dark':'light',m('(prefers-reduced-motion: reduce)')?'still':'moving',\
    m('(pointer: coarse)')?'coarse':'fine',navigator.maxTouchPoints,navigator.language,\
    new Intl.NumberFormat().format(1234.5),Intl.DateTimeFormat().resolvedOptions().timeZone,navigator.onLine?'on':'off',\
    navigator.userAgent].join(' ')}tell();onresize=()=>tell()</script>";

#[tokio::test(flavor = "multi_thread")]
async fn a005_a_tab_is_shown_as_another_device_until_it_is_reset() {
    let site = Site::start([("/", Page::html(MIRROR))]).await.unwrap();
    let around = format!(
        "<h1>Around</h1><iframe width=300 height=300 src='{}'></iframe>",
        site.other_url("/")
    );
    site.set("/around", Page::html(&around));
    let desk = inspecting(&site).await;
    desk.ok("navigate", json!({"url": site.url("/")})).await;
    let plain = desk.ok("get_page_text", json!({})).await;
    let change = json!({"width": 390, "height": 844, "scale": 3, "mobile": true, "color_scheme": "dark",
        "reduced_motion": true, "locale": "de-DE", "timezone": "Asia/Tokyo", "user_agent": "Phone/1"});
    let said = desk.ok("emulate", change).await;
    assert!(said.contains("390 x 844 CSS pixels, scale 3, mobile, touch, dark colours"), "{said}");
    let page = desk.ok("reload", json!({})).await;
    desk.ok("click", json!({"ref": find_ref(&page, "button", "Tell")})).await;
    let text = desk.ok("get_page_text", json!({})).await;
    let seen = "clicked 390 844 3 dark still coarse 5 de-DE 1.234,5 Asia/Tokyo on Phone/1";
    assert!(text.contains(seen), "{text}");
    // What is not given stays, frames of another process follow, and so does what opens later.
    let said = desk.ok("emulate", json!({"color_scheme": "light", "user_agent": ""})).await;
    assert!(said.contains("scale 3, mobile, touch, light colours"), "{said}");
    desk.ok("navigate", json!({"url": site.url("/around")})).await;
    let text = until(&desk, "get_page_text", json!({}), &["light still coarse"]).await;
    assert!(text.contains("de-DE 1.234,5 Asia/Tokyo on Mozilla/"), "{text}");
    // Another tab has nothing of it.
    let other = desk.ok("open_tab", json!({"url": site.url("/")})).await;
    assert!(!other.contains("de-DE"), "{other}");
    desk.ok("close_tab", json!({})).await;
    let said = desk.ok("emulate", json!({"reset": true})).await;
    assert!(said.contains("as the browser has it"), "{said}");
    desk.ok("navigate", json!({"url": site.url("/")})).await;
    assert_eq!(words(&desk.ok("get_page_text", json!({})).await), words(&plain));
    desk.control.close().await;
}

/// The page's own text, without the wrapper that is new each time.
fn words(text: &str) -> String {
    text.lines().filter(|line| !line.contains("page-")).collect::<Vec<_>>().join("\n")
}

/// A page that was not made for phones is laid out wide and shown small; clicks still arrive.
#[tokio::test(flavor = "multi_thread")]
async fn a005_clicks_arrive_on_a_page_that_is_shown_small() {
    let html = "<h1>Wide</h1><div style='position:absolute;left:700px;top:1500px'><button onclick=\"hit('far')\">Far</button></div>";
    let site = Site::start([("/", Page::html(html))]).await.unwrap();
    let desk = inspecting(&site).await;
    desk.ok("navigate", json!({"url": site.url("/")})).await;
    desk.ok("emulate", json!({"width": 390, "height": 844, "scale": 2, "mobile": true})).await;
    let page = desk.ok("snapshot", json!({"full": true})).await;
    desk.ok("click", json!({"ref": find_ref(&page, "button", "Far")})).await;
    assert!(site.wait_hit("far", SOON).await);
    desk.control.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a005_a_network_that_is_gone_comes_back() {
    let html = "<h1>Net</h1><p id=o>-</p><button onclick=\"fetch('/data').then(r=>r.text(),()=>'FAILED').then(t=>o.textContent=t)\">Get</button>";
    let site = Site::start([("/", Page::html(html)), ("/data", Page::raw("text/plain", "DATA"))])
        .await
        .unwrap();
    let desk = inspecting(&site).await;
    let page = desk.ok("navigate", json!({"url": site.url("/")})).await;
    let get = find_ref(&page, "button", "Get");
    desk.ok("emulate", json!({"network": "offline", "cpu": 4})).await;
    desk.ok("click", json!({"ref": get})).await;
    until(&desk, "get_page_text", json!({}), &["FAILED"]).await;
    assert_eq!(site.requests("/data"), 0);
    let said = desk.ok("network_requests", json!({"failed": true})).await;
    assert!(said.contains("ERR_INTERNET_DISCONNECTED"), "{said}");
    let said = desk.ok("emulate", json!({"network": "online"})).await;
    assert!(said.contains("processor 4 times slower") && !said.contains("offline"), "{said}");
    desk.ok("click", json!({"ref": get})).await;
    until(&desk, "get_page_text", json!({}), &["DATA"]).await;
    desk.control.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a005_what_cannot_be_emulated_is_refused_with_the_reason() {
    let site = Site::start([("/", Page::html("<h1>Page</h1>"))]).await.unwrap();
    let desk = inspecting(&site).await;
    desk.ok("navigate", json!({"url": site.url("/")})).await;
    for (arguments, code) in [
        (json!({}), "wrong_argument"),
        (json!({"width": 390}), "wrong_argument"),
        (json!({"width": 0, "height": 844}), "wrong_argument"),
        (json!({"cpu": 1000}), "wrong_argument"),
        (json!({"scale": 0}), "wrong_argument"),
        (json!({"user_agent": "a\r\nX-Evil: 1"}), "wrong_argument"),
        (json!({"network": "5g"}), "wrong_argument"),
        (json!({"timezone": "Nope/Nowhere"}), "page"),
        (json!({"locale": "zz_bad_locale_x"}), "page"),
    ] {
        assert_eq!(desk.code("emulate", arguments.clone()).await, code, "{arguments}");
    }
    let said = desk.ok("emulate", json!({"reset": true})).await;
    assert!(said.contains("as the browser has it"), "{said}");
    desk.control.close().await;
}
