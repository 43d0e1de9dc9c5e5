//! The demo shop on loopback: static pages, three forms, and a count of what reached it.

use axum::extract::{Form, Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// One file of the shop with its type.
macro_rules! shop_file {
    (html $name:literal) => {
        shop_file!("text/html; charset=utf-8", $name)
    };
    (css $name:literal) => {
        shop_file!("text/css", $name)
    };
    (js $name:literal) => {
        shop_file!("text/javascript", $name)
    };
    (json $name:literal) => {
        shop_file!("application/json", $name)
    };
    (svg $name:literal) => {
        shop_file!("image/svg+xml", $name)
    };
    ($kind:literal, $name:literal) => {
        ($name, $kind, include_str!(concat!("../../../../demo/shop/", $name)))
    };
}

/// Name, type and content of each file.
const FILES: &[(&str, &str, &str)] = &[
    shop_file!(html "index.html"),
    shop_file!(html "cart.html"),
    shop_file!(html "checkout.html"),
    shop_file!(html "account.html"),
    shop_file!(html "thanks.html"),
    shop_file!(html "welcome.html"),
    shop_file!(html "ordered.html"),
    shop_file!(css "shop.css"),
    shop_file!(js "shop.js"),
    shop_file!(js "catalogue.js"),
    shop_file!(js "cart.js"),
    shop_file!(js "checkout.js"),
    shop_file!(js "ordered.js"),
    shop_file!(json "products.json"),
    shop_file!(svg "icon.svg"),
];

/// What really reached the shop. Passwords and card fields are only counted.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Log {
    newsletter: Vec<String>,
    sign_ins: u32,
    orders: u32,
}

/// The counts for the end of the demo.
pub(super) struct Counts {
    pub(super) newsletter: usize,
    pub(super) orders: u32,
}

/// A running shop. It ends with this value.
pub(super) struct Shop {
    address: String,
    log: Arc<Mutex<Log>>,
    task: JoinHandle<()>,
}

impl Drop for Shop {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shop {
    pub(super) async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = format!("http://{}", listener.local_addr()?);
        let log = Arc::new(Mutex::new(Log::default()));
        let router = Router::new()
            .route("/", get(|| async { page("index.html") }))
            .route("/{file}", get(|Path(file): Path<String>| async move { page(&file) }))
            .route("/newsletter", post(newsletter))
            .route("/sign-in", post(sign_in))
            .route("/order", post(order))
            .route(
                "/log",
                get(|State(log): State<Arc<Mutex<Log>>>| async move { Json(lock(&log).clone()) }),
            )
            .with_state(log.clone());
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::warn!(%error, "the demo shop ended");
            }
        });
        Ok(Self { address, log, task })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn log(&self) -> Counts {
        let log = lock(&self.log);
        Counts { newsletter: log.newsletter.len(), orders: log.orders }
    }
}

fn page(name: &str) -> Response {
    match FILES.iter().find(|(file, ..)| *file == name) {
        Some((_, kind, body)) => ([(header::CONTENT_TYPE, *kind)], *body).into_response(),
        None => (StatusCode::NOT_FOUND, "There is no such page in the demo shop.").into_response(),
    }
}

#[derive(Deserialize)]
struct Newsletter {
    email: String,
}

async fn newsletter(State(log): State<Arc<Mutex<Log>>>, Form(form): Form<Newsletter>) -> Redirect {
    lock(&log).newsletter.push(form.email);
    Redirect::to("/thanks.html")
}

async fn sign_in(State(log): State<Arc<Mutex<Log>>>) -> Redirect {
    lock(&log).sign_ins += 1;
    Redirect::to("/welcome.html")
}

async fn order(State(log): State<Arc<Mutex<Log>>>) -> Redirect {
    lock(&log).orders += 1;
    Redirect::to("/ordered.html")
}

fn lock(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}
