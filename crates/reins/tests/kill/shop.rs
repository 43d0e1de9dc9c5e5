//! A page with a button for each parcel. What arrived is the server's own account, and the page shows it.

use crate::events::Events;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Html;
use axum::routing::{get, post};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

/// Parcels that may be sent.
pub const PARCELS: u32 = 6;

#[derive(Debug)]
pub struct Shop {
    pub address: String,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    sent: Mutex<BTreeMap<u32, u32>>,
    events: Arc<Events>,
}

impl Shop {
    pub async fn start(events: Arc<Events>) -> Self {
        let shared = Arc::new(Shared { sent: Mutex::default(), events });
        let router = Router::new()
            .route("/", get(page))
            .route("/send/{parcel}", post(send))
            .with_state(Arc::clone(&shared));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.unwrap();
        });
        Self { address, shared, task }
    }

    /// How often each parcel arrived.
    pub fn sent(&self) -> BTreeMap<u32, u32> {
        self.shared.sent.lock().unwrap().clone()
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn page(State(shared): State<Arc<Shared>>) -> Html<String> {
    let sent = shared.sent.lock().unwrap().clone();
    let mut html = String::from(
        "<!doctype html><meta charset=utf-8><title>Parcels</title><h1>Parcels</h1><script>
         function send(button, n) {
           fetch('/send/' + n, {method: 'POST', keepalive: true});
           const done = document.createElement('p');
           done.textContent = 'Parcel ' + n + ' is on its way';
           button.replaceWith(done);
         }</script>",
    );
    for parcel in 1..=PARCELS {
        if sent.contains_key(&parcel) {
            write!(html, "<p>Parcel {parcel} is on its way</p>").unwrap();
        } else {
            write!(html, "<button onclick='send(this, {parcel})'>Send parcel {parcel}</button>")
                .unwrap();
        }
    }
    Html(html)
}

async fn send(State(shared): State<Arc<Shared>>, Path(parcel): Path<u32>) -> &'static str {
    *shared.sent.lock().unwrap().entry(parcel).or_default() += 1;
    // It has arrived, and the program may be dead before it hears so.
    let events = Arc::clone(&shared.events);
    tokio::task::spawn_blocking(move || events.happened()).await.unwrap();
    "ok"
}
