//! A model at a provider.

use crate::dialect::Dialect;
use crate::error::ModelError;
use crate::event::{ModelEvent, Usage};
use crate::flow::Flow;
use crate::limits;
use crate::message::ChatRequest;
use crate::price::{self, Cost};
use crate::provider::Endpoint;
use crate::reply::{Reply, ReplyBuilder};
use crate::transport::{Http, Transport};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// An answer that is coming in. It ends after [`ModelEvent::Stop`] or an error. Dropping it ends the
/// request.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// Anything that answers requests: a provider's model, or a script in a demonstration.
pub trait Model: Send + Sync {
    /// Sends a request.
    fn stream(&self, request: ChatRequest) -> ModelStream;

    /// The model's name.
    fn name(&self) -> &str;

    /// What an answer cost; `None` if nobody knows.
    fn cost(&self, usage: &Usage) -> Option<Cost>;

    /// Whether it runs on this machine, so that it is free and most likely small.
    fn is_local(&self) -> bool {
        false
    }
}

/// How long to wait for what.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Until the first byte of an answer.
    pub first_byte: Duration,
    /// Between two pieces of an answer.
    pub stall: Duration,
    /// Before sending again for the first time; doubles each time.
    pub backoff: Duration,
    /// How often to send again.
    pub retries: u32,
    /// The longest wait a server may ask for.
    pub longest_wait: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            first_byte: limits::FIRST_BYTE,
            stall: limits::STALL,
            backoff: limits::BACKOFF,
            retries: limits::RETRIES,
            longest_wait: limits::LONGEST_WAIT,
        }
    }
}

/// One model at one provider. Clones share what was learned about the server.
#[derive(Clone)]
pub struct ModelClient {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) endpoint: Endpoint,
    pub(crate) model: String,
    pub(crate) timing: Timing,
    dialect: Arc<Mutex<Dialect>>,
}

impl std::fmt::Debug for ModelClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ModelClient({} at {})", self.model, self.endpoint.base)
    }
}

impl ModelClient {
    /// A model at an endpoint.
    pub fn new(http: &Http, endpoint: Endpoint, model: impl Into<String>) -> Self {
        let dialect = Arc::new(Mutex::new(Dialect::of(&endpoint)));
        Self {
            transport: http.0.clone(),
            endpoint,
            model: model.into(),
            timing: Timing::default(),
            dialect,
        }
    }

    /// The same with other waits.
    pub fn with_timing(mut self, timing: Timing) -> Self {
        self.timing = timing;
        self
    }

    /// Where it is.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(crate) fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn learn(&self, change: impl FnOnce(&mut Dialect)) {
        change(&mut self.dialect.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Model for ModelClient {
    fn stream(&self, request: ChatRequest) -> ModelStream {
        stream::unfold(Flow::new(self.clone(), request), |mut flow| async move {
            let item = flow.next().await?;
            Some((item, flow))
        })
        .boxed()
    }

    fn name(&self) -> &str {
        &self.model
    }

    fn cost(&self, usage: &Usage) -> Option<Cost> {
        price::cost(&self.endpoint, &self.model, usage)
    }

    fn is_local(&self) -> bool {
        self.endpoint.base.is_local()
    }
}

/// Waits for the whole answer to a request.
pub async fn reply(model: &dyn Model, request: ChatRequest) -> Result<Reply, ModelError> {
    let mut stream = model.stream(request);
    let mut builder = ReplyBuilder::default();
    while let Some(event) = stream.next().await {
        builder.push(&event?);
    }
    Ok(builder.finish("call"))
}
