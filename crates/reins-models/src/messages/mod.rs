//! Anthropic's Messages.

mod decode;
mod encode;

pub(crate) use decode::Decoder;
pub(crate) use encode::body;
