//! The live view of a real browser, over a real socket.

use crate::stage::{Client, LONG, router, ticket};
use reins_browser::{Browser, LaunchOptions, TabInfo};
use reins_core::Secret;
use reins_serve::live::{Live, LiveEvent, LiveOptions, Mode};
use reins_testing::{Page, Site};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::MaybeTlsStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_util::sync::CancellationToken;

#[path = "../../../reins-browser/tests/support/mod.rs"]
mod support;

struct World {
    browser: Browser,
    tab: TabInfo,
    site: Site,
    live: Live,
    told: Arc<Mutex<Vec<LiveEvent>>>,
    address: String,
}

impl World {
    async fn start<'a>(pages: impl IntoIterator<Item = (&'a str, Page)>) -> Self {
        let site = Site::start(pages).await.unwrap();
        let options = LaunchOptions {
            headless: true,
            no_sandbox: std::env::var_os("REINS_NO_SANDBOX").is_some(),
            ..LaunchOptions::default()
        };
        let browser = Browser::launch(options).await.unwrap();
        let tab = browser.first_tab(LONG).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let told: Arc<Mutex<Vec<LiveEvent>>> = Arc::default();
        let live = Live::start(LiveOptions {
            session: "s1".into(),
            token: Secret::new("a token of thirty-two characters".into()),
            source: Arc::new(browser.clone()),
            origins: vec![format!("http://{address}")],
            hosts: vec![address.clone()],
            window: false,
            wait: Some(Duration::from_secs(1)),
            told: {
                let told = told.clone();
                Arc::new(move |event| told.lock().unwrap().push(event))
            },
            clock: Arc::new(SystemTime::now),
        });
        tokio::spawn(axum::serve(listener, router(live.clone())).into_future());
        let world = Self { browser, tab, site, live, told, address };
        world.open("/").await;
        world
    }

    async fn open(&self, path: &str) {
        support::open(&self.browser, &self.tab, &self.site.url(path)).await;
    }

    async fn enter(&self, who: &str, mode: Mode) -> Client<MaybeTlsStream<TcpStream>> {
        let mut request = format!("ws://{}/live/s1", self.address).into_client_request().unwrap();
        let origin = format!("http://{}", self.address);
        request.headers_mut().insert("origin", origin.parse().unwrap());
        let (socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        let mut client = Client { socket };
        client.show_ticket(&ticket(&self.live, who, mode)).await;
        client
    }
}

/// Reads frames until one shows this colour below its middle.
async fn sees(client: &mut Client<MaybeTlsStream<TcpStream>>, colour: [u8; 3]) {
    let seen = async {
        loop {
            let frame = client.frame().await;
            let picture = image::load_from_memory(&frame).unwrap().to_rgb8();
            let spot = picture.get_pixel(picture.width() / 2, picture.height() * 3 / 4).0;
            if spot.iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 24) {
                return;
            }
        }
    };
    timeout(LONG, seen).await.expect("a frame of that colour");
}

const RED: [u8; 3] = [255, 0, 0];
const GREEN: [u8; 3] = [0, 128, 0];
const BLUE: [u8; 3] = [0, 0, 255];

/// S-060, S-064, S-065, S-068: people watch the page, one takes over and uses it, and the agent waits meanwhile.
#[tokio::test]
async fn s060_s065_a_person_watches_a_real_page_and_uses_it() {
    let page = "<body style='margin:0;background:red'><button style='position:fixed;inset:0 50vw 50vh 0' onclick=\"hit('click');document.body.style.background='green'\">Go</button><input style='position:fixed;inset:0 0 50vh 50vw;font-size:40px' oninput=\"if(value=='Hé!')hit('typed')\">";
    let world = World::start([
        ("/", Page::html(page)),
        ("/blue", Page::html("<body style='background:blue'>")),
    ])
    .await;
    let mut bob = world.enter("bob", Mode::View).await;
    sees(&mut bob, RED).await;
    let mut ann = world.enter("ann", Mode::Control).await;
    let welcome = ann.text("welcome").await;
    assert_eq!(welcome["driver"]["you"], true, "{welcome}");
    assert_eq!(bob.text("driver").await["driver"]["name"], "ANN");
    sees(&mut ann, RED).await;
    for (x, y) in [(0.25, 0.25), (0.75, 0.25)] {
        for action in ["move", "down", "up"] {
            let buttons = u8::from(action == "down");
            ann.input(json!({"kind":"pointer","action":action,"x":x,"y":y,"button":"left","buttons":buttons,"clicks":1,"modifiers":0})).await;
        }
    }
    for action in ["down", "up"] {
        ann.input(json!({"kind":"key","action":action,"key":"H","code":"KeyH","modifiers":8}))
            .await;
    }
    ann.input(json!({"kind":"text","text":"é!"})).await;
    assert!(world.site.wait_hit("click", LONG).await);
    assert!(world.site.wait_hit("typed", LONG).await);
    sees(&mut bob, GREEN).await;
    sees(&mut ann, GREEN).await;
    // Select all of the field, and copy.
    for action in ["down", "up"] {
        ann.input(json!({"kind":"key","action":action,"key":"a","code":"KeyA","modifiers":2}))
            .await;
    }
    ann.say(json!({"type":"copy"})).await;
    assert_eq!(ann.text("copied").await["text"], "Hé!");
    // Who watches only is not relayed.
    bob.key("x").await;
    assert_eq!(bob.text("refused").await["what"], "input");
    let never = CancellationToken::new();
    assert!(world.live.gate().pass("navigate", &never).await.is_err());
    ann.say(json!({"type":"hand_back"})).await;
    let passage = world.live.gate().pass("navigate", &never).await.unwrap();
    world.open("/blue").await;
    drop(passage);
    sees(&mut bob, BLUE).await;
    let ((), a, b) = tokio::join!(world.live.stop(), ann.closed(), bob.closed());
    assert_eq!((a, b), (Some(1001), Some(1001)));
    assert_eq!(world.told.lock().unwrap().len(), 2);
    world.browser.close().await;
}

/// S-072: a browser that ends by itself ends its live view, also while the agent waits.
#[tokio::test]
async fn s072_a_browser_that_ends_takes_its_live_view_along() {
    let world = World::start([("/", Page::html("<body style='background:red'>"))]).await;
    let mut ann = world.enter("ann", Mode::Control).await;
    sees(&mut ann, RED).await;
    let gate = world.live.gate();
    let browser = world.browser.clone();
    let never = CancellationToken::new();
    let (passed, ()) = tokio::join!(gate.pass("click", &never), browser.close());
    assert_eq!(passed.unwrap_err().code(), "browser_stopped");
    assert_eq!(ann.closed().await, Some(1001));
}
