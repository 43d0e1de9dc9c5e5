//! Sandboxed browser sessions for teams: the HTTP API, the live view and the dashboard's door.

pub mod live;
