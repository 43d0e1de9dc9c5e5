//! The tools of one run of an installed agent, on a connection of its own.
//!
//! The run says which tools there are and makes the calls; this is the form that agents read.

use crate::content;
use crate::listing;
use crate::server::{INSTRUCTIONS, McpError, ended, with_progress};
use futures_util::future::BoxFuture;
use reins_control::{ControlError, Reply, Tool};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// One tool as a run shows it.
#[derive(Clone, Debug)]
pub struct RunTool {
    /// The tool.
    pub tool: &'static Tool,
    /// Its arguments, without what a run decides itself.
    pub schema: Map<String, Value>,
}

/// Makes the calls of a run.
pub trait Calls: Send + Sync + 'static {
    /// The tools there are.
    fn tools(&self) -> Vec<RunTool>;

    /// Walks the street with one call.
    fn call<'a>(
        &'a self,
        tool: &'static Tool,
        arguments: Value,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ControlError>>;
}

/// A tool's arguments where there is just one session.
pub(crate) fn one_session(tool: &Tool) -> Map<String, Value> {
    let mut schema = tool.input_schema();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.remove("session");
    }
    schema
}

/// Serves one connection of a run's agent until either side ends it.
///
/// # Errors
///
/// Fails if the handshake fails.
pub async fn serve_run<S>(stream: S, calls: Arc<dyn Calls>, version: &str) -> Result<(), McpError>
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (tools, version) = (calls.tools(), version.to_owned());
    ended(RunServer { calls, tools, version }, tokio::io::split(stream)).await
}

struct RunServer {
    calls: Arc<dyn Calls>,
    tools: Vec<RunTool>,
    version: String,
}

impl ServerHandler for RunServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("reins", self.version.clone()))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = self.tools.iter().map(|one| listing::form(one.tool, one.schema.clone()));
        Ok(ListToolsResult::with_all_items(listed.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(one) = self.tools.iter().find(|one| one.tool.name == request.name) else {
            let unknown = ControlError::UnknownTool(request.name.into_owned());
            return Ok(content::error(&unknown).into());
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let call = self.calls.call(one.tool, arguments, context.ct.clone());
        let result = match with_progress(&context, call).await {
            // A run's agent has no way to read resources; long results are paged by a tool.
            Ok(reply) => content::result(Reply { stored: Vec::new(), ..reply }),
            Err(error) => content::error(&error),
        };
        // Agents read words, and some would read nothing else if there were a structure as well.
        Ok(content::without_structure(result).into())
    }
}

/// The one tool of [`serve_echo`].
pub const ECHO: &str = "echo";

/// Serves one harmless tool that answers with what it is given: to try an agent without a browser
///
///
/// # Errors
///
/// Fails if the handshake fails.
pub async fn serve_echo<S>(
    stream: S,
    heard: tokio::sync::mpsc::Sender<String>,
) -> Result<(), McpError>
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    ended(EchoServer { heard }, tokio::io::split(stream)).await
}

struct EchoServer {
    heard: tokio::sync::mpsc::Sender<String>,
}

impl ServerHandler for EchoServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("reins-echo", "1"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        });
        let Value::Object(schema) = schema else { return Ok(ListToolsResult::default()) };
        let tool = rmcp::model::Tool::new(ECHO, "Answers with the same text.", Arc::new(schema));
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
        // Whoever waits for it may have heard enough.
        let _ = self.heard.send(text.clone()).await;
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}
