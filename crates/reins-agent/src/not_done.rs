//! Why a call of one of the loop's own tools was not done.

/// A sentence for the model, which can go on with it: no error of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotDone(pub(crate) String);

impl From<&str> for NotDone {
    fn from(sentence: &str) -> Self {
        Self(sentence.to_owned())
    }
}

impl From<String> for NotDone {
    fn from(sentence: String) -> Self {
        Self(sentence)
    }
}
