//! What a protocol session can do: list the tools and call them, nothing else.

use super::HttpLimits;
use crate::calls::SessionCalls;
use crate::content;
use crate::listing::{self, ToolChoice};
use crate::offer::{Names, Offered};
use crate::server::{INSTRUCTIONS, with_progress};
use reins_control::{ControlError, Reply};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ErrorData,
    Implementation, InitializeRequestParams, InitializeResult, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio_util::sync::{CancellationToken, DropGuard};

/// What all protocol sessions of one browser session share.
pub(super) struct Shared {
    calls: Arc<dyn SessionCalls>,
    choice: ToolChoice,
    names: Names,
    listed: Vec<Tool>,
    version: String,
    limits: HttpLimits,
    /// Cancelled when the browser ends.
    closed: CancellationToken,
}

impl Shared {
    pub(super) fn new(
        calls: Arc<dyn SessionCalls>,
        choice: ToolChoice,
        names: Names,
        version: String,
        limits: HttpLimits,
        closed: CancellationToken,
    ) -> Self {
        let listed = match names {
            Names::Playwright => names.list(&choice),
            Names::Reins => {
                let tools = calls.tools().into_iter().filter(|one| choice.has(one.tool));
                tools.map(|one| listing::form(one.tool, one.schema)).collect()
            }
        };
        Self { calls, choice, names, listed, version, limits, closed }
    }

    async fn answer(
        &self,
        offered: Offered,
        mut arguments: Map<String, Value>,
        cancel: CancellationToken,
    ) -> CallToolResult {
        // What a client hides beside the arguments reaches nothing.
        arguments.remove("_meta");
        let make = |tool: &'static reins_control::Tool, arguments: Value| {
            self.calls.call(tool, arguments, cancel.clone())
        };
        let answer = offered.call(arguments, &make).await;
        match answer {
            // There is a tool for reading on, and nothing else to read here.
            Ok(reply) => content::result(Reply { stored: Vec::new(), ..reply }),
            Err(error) => content::not_made(&error, self.names),
        }
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let Some(offered) = self.names.find(&self.choice, &request.name) else {
            return content::error(&ControlError::UnknownTool(request.name.into_owned()));
        };
        // A call that is dropped, whoever drops it, is a cancelled one.
        let cancel = context.ct.child_token();
        let _ends: DropGuard = cancel.clone().drop_guard();
        let call = self.answer(offered, request.arguments.unwrap_or_default(), cancel.clone());
        let limited = tokio::time::timeout(self.limits.request, with_progress(context, call));
        let ended = tokio::select! {
            ended = limited => ended,
            () = self.closed.cancelled() => {
                return content::failure(
                    "browser_stopping",
                    "the browser is stopping, so this call was given up; it may have happened. Look before trying again",
                );
            }
        };
        match ended {
            Ok(result) => content::within(result, self.limits.answer_bytes),
            Err(_) => content::failure(
                "too_slow",
                &format!(
                    "the call was not done within {} s and was given up; it may have happened. Look before trying again",
                    self.limits.request.as_secs()
                ),
            ),
        }
    }
}

/// One protocol session.
pub(super) struct SessionServer {
    shared: Arc<Shared>,
}

impl SessionServer {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

impl ServerHandler for SessionServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("reins", self.shared.version.clone()))
            .with_instructions(match self.shared.names {
                Names::Reins => INSTRUCTIONS.to_owned(),
                Names::Playwright => crate::playwright::in_their_words(INSTRUCTIONS),
            })
    }

    /// What a client says it can do is forgotten: nothing is ever asked of it (S-X10).
    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        request.capabilities = ClientCapabilities::default();
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.shared.listed.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = self.shared.call(request, &context).await;
        let client = context.client_info();
        if content::shows_one_part(client.as_ref().map(|client| client.name.as_str())) {
            return Ok(content::without_structure(result).into());
        }
        Ok(result.into())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.listed.iter().find(|tool| tool.name == name).cloned()
    }
}
