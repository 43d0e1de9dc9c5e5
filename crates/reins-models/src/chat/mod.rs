//! OpenAI's Chat Completions, with the many ways in which servers deviate from it.

mod decode;
mod encode;

pub(crate) use decode::Decoder;
pub(crate) use encode::body;
