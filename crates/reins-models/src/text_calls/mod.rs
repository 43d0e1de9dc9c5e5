//! Tool calls written as text: by small local models that answer in a fence or in tags although
//! tools were offered properly, and by models that take no tools at all.

mod gate;
mod parse;
mod protocol;

pub(crate) use gate::TextGate;
pub(crate) use protocol::without_tools;
