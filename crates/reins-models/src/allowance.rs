//! What a person lets a run cost, kept at the one place that all requests of the run pass (W-272).

use crate::client::{Model, ModelStream};
use crate::error::ModelError;
use crate::event::{ModelEvent, Notice, Usage};
use crate::message::ChatRequest;
use crate::price::Cost;
use futures_util::StreamExt;
use futures_util::stream;
use std::sync::{Arc, Mutex, PoisonError};

/// A model whose requests together may cost so much and no more: those of the loop, the planner, the
/// safety check and every question alike, as long as all of them go through clones of this one.
///
/// The answer that reaches the allowance is still given, with a notice (W-328); the next request is
/// refused before anything is sent. A request whose cost nobody knows ends the run too: an allowance
/// that is not counted is none.
#[derive(Clone)]
pub struct Metered {
    model: Arc<dyn Model>,
    purse: Arc<Purse>,
}

struct Purse {
    allowed: Cost,
    /// `None` once something was used that has no known price.
    spent: Mutex<Option<Cost>>,
}

impl std::fmt::Debug for Metered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Metered({}, up to {})", self.model.name(), self.purse.allowed)
    }
}

impl Metered {
    /// A model with an allowance.
    ///
    /// # Errors
    ///
    /// [`ModelError::NoPrice`] if nobody knows what this model costs.
    pub fn new(model: Arc<dyn Model>, allowed: Cost) -> Result<Self, ModelError> {
        if model.cost(&Usage::default()).is_none() {
            return Err(ModelError::NoPrice { model: model.name().to_owned() });
        }
        let purse = Arc::new(Purse { allowed, spent: Mutex::new(Some(Cost(0))) });
        Ok(Self { model, purse })
    }

    /// Another model that spends from the same allowance, such as the one for small questions.
    ///
    /// # Errors
    ///
    /// [`ModelError::NoPrice`] if nobody knows what that model costs.
    pub fn also(&self, model: Arc<dyn Model>) -> Result<Self, ModelError> {
        if model.cost(&Usage::default()).is_none() {
            return Err(ModelError::NoPrice { model: model.name().to_owned() });
        }
        Ok(Self { model, purse: Arc::clone(&self.purse) })
    }

    /// What was spent so far; `None` once something had no known price.
    pub fn spent(&self) -> Option<Cost> {
        self.purse.spent()
    }

    fn refusal(&self) -> Option<ModelError> {
        match self.spent() {
            None => Some(ModelError::NoPrice { model: self.model.name().to_owned() }),
            Some(spent) if spent >= self.purse.allowed => {
                Some(ModelError::AllowanceUsedUp { spent, allowed: self.purse.allowed })
            }
            Some(_) => None,
        }
    }
}

impl Purse {
    fn spent(&self) -> Option<Cost> {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the cost of an answer. True if that reached the allowance.
    fn pay(&self, cost: Option<Cost>) -> bool {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *spent;
        *spent = match (before, cost) {
            (Some(Cost(before)), Some(Cost(more))) => Some(Cost(before.saturating_add(more))),
            _ => None,
        };
        before.is_some_and(|before| before < self.allowed)
            && spent.is_none_or(|spent| spent >= self.allowed)
    }
}

impl Model for Metered {
    fn stream(&self, request: ChatRequest) -> ModelStream {
        if let Some(error) = self.refusal() {
            return stream::once(async { Err(error) }).boxed();
        }
        let this = self.clone();
        self.model
            .stream(request)
            .flat_map(move |item| {
                let mut items = vec![item];
                if let Some(Ok(ModelEvent::Usage(usage))) = items.first()
                    && this.purse.pay(this.model.cost(usage))
                {
                    let allowed = this.purse.allowed;
                    items.push(Ok(ModelEvent::Notice(Notice::AllowanceReached { allowed })));
                }
                stream::iter(items)
            })
            .boxed()
    }

    fn name(&self) -> &str {
        self.model.name()
    }

    fn cost(&self, usage: &Usage) -> Option<Cost> {
        self.model.cost(usage)
    }

    fn is_local(&self) -> bool {
        self.model.is_local()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::reply;
    use crate::event::StopReason;

    /// Answers at ten dollars a million tokens, up to a size that has a price.
    struct Priced(u64);

    impl Model for Priced {
        fn stream(&self, _: ChatRequest) -> ModelStream {
            let usage = Usage { input: self.0, ..Usage::default() };
            let events = [
                ModelEvent::Text("yes".to_owned()),
                ModelEvent::Usage(usage),
                ModelEvent::Stop(StopReason::End),
            ];
            stream::iter(events.map(Ok)).boxed()
        }

        fn name(&self) -> &str {
            "priced"
        }

        fn cost(&self, usage: &Usage) -> Option<Cost> {
            (usage.input <= 1000).then_some(Cost(usage.input * 10))
        }
    }

    async fn events(model: &Metered) -> Vec<Result<ModelEvent, ModelError>> {
        model.stream(ChatRequest::default()).collect().await
    }

    /// W-272, W-328: the answer that reaches the allowance is given with a notice, the next is refused.
    #[tokio::test]
    async fn w272_w328_the_allowance_ends_requests_not_answers() {
        let model = Metered::new(Arc::new(Priced(100)), Cost(1500)).expect("priced");
        let other = model.clone();
        assert_eq!(events(&model).await.len(), 3);
        let second = events(&other).await;
        let reached = ModelEvent::Notice(Notice::AllowanceReached { allowed: Cost(1500) });
        assert!(second.iter().any(|event| event.as_ref().is_ok_and(|event| *event == reached)));
        assert!(matches!(second.last(), Some(Ok(ModelEvent::Stop(_)))), "the answer is whole");
        let refused = reply(&model, ChatRequest::default()).await.expect_err("used up");
        assert_eq!(refused.code(), "allowance_used_up");
        assert_eq!(model.spent(), Some(Cost(2000)));
    }

    /// W-272: two models, one allowance; what one of them used up the other one has not.
    /// W-784: what would break the allowance is not asked.
    #[tokio::test]
    async fn w272_the_decision_model_spends_from_the_same_allowance() {
        let model = Metered::new(Arc::new(Priced(100)), Cost(1500)).expect("priced");
        let decision = model.also(Arc::new(Priced(60))).expect("priced");
        assert!(reply(&decision, ChatRequest::default()).await.is_ok());
        assert!(reply(&model, ChatRequest::default()).await.is_ok());
        assert_eq!((model.spent(), decision.spent()), (Some(Cost(1600)), Some(Cost(1600))));
        let refused = reply(&decision, ChatRequest::default()).await.expect_err("used up");
        assert_eq!(refused.code(), "allowance_used_up");
    }

    #[tokio::test]
    async fn what_has_no_price_is_not_counted_as_free() {
        struct Unpriced;
        impl Model for Unpriced {
            fn stream(&self, _: ChatRequest) -> ModelStream {
                stream::empty().boxed()
            }
            fn name(&self) -> &str {
                "unpriced"
            }
            fn cost(&self, _: &Usage) -> Option<Cost> {
                None
            }
        }
        let refused = Metered::new(Arc::new(Unpriced), Cost(1)).expect_err("no price");
        assert_eq!(refused.code(), "no_price");
        let model = Metered::new(Arc::new(Priced(2000)), Cost(1_000_000)).expect("priced");
        assert!(reply(&model, ChatRequest::default()).await.is_ok(), "what was sent is answered");
        let refused = reply(&model, ChatRequest::default()).await.expect_err("beyond its prices");
        assert_eq!(refused.code(), "no_price");
    }
}
