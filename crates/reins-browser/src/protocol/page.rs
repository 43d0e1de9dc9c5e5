//! Pages, frames, script worlds, the network, pictures.

use serde::Deserialize;

reins_cdp::protocol! {
    /// Names of pages, frames, script, network and pictures.
    pub(crate) NAMES;

    command "Page.enable" PageEnable {};
    command "Page.addScriptToEvaluateOnNewDocument" AddScript<'a> {
        source: &'a str, world_name: &'a str, run_immediately: bool
    };
    command "Page.setLifecycleEventsEnabled" SetLifecycleEvents { enabled: bool };
    command "Page.setInterceptFileChooserDialog" InterceptFileChooser { enabled: bool };
    command "Page.getFrameTree" GetFrameTree {} -> FrameTreeAnswer { frame_tree: FrameTree };
    command "Page.navigate" Navigate<'a> { url: &'a str } optional { transition_type: &'a str }
        -> Navigated { loader_id: Option<String>, error_text: Option<String>, is_download: Option<bool> };
    command "Page.reload" Reload {};
    command "Page.stopLoading" StopLoading {};
    command "Page.getNavigationHistory" GetHistory {}
        -> History { current_index: usize, entries: Vec<HistoryEntry> };
    command "Page.navigateToHistoryEntry" NavigateToEntry { entry_id: i64 };
    command "Page.handleJavaScriptDialog" HandleDialog<'a> { accept: bool }
        optional { prompt_text: &'a str };
    command "Page.getLayoutMetrics" GetLayoutMetrics {}
        -> LayoutMetrics { css_visual_viewport: VisualViewport, css_content_size: Rect };
    command "Page.captureScreenshot" CaptureScreenshot<'a> { format: &'a str, optimize_for_speed: bool }
        optional { quality: u8, clip: Clip, capture_beyond_viewport: bool }
        -> Screenshot { data: String };
    command "Page.startScreencast" StartScreencast<'a> { format: &'a str }
        optional { quality: u8, max_width: u32, max_height: u32 };
    command "Page.stopScreencast" StopScreencast {};
    command "Page.screencastFrameAck" AckScreencastFrame { session_id: i64 };
    command "Page.printToPDF" PrintToPdf { print_background: bool } -> Pdf { data: String };
    command "Emulation.setFocusEmulationEnabled" SetFocusEmulation { enabled: bool };
    command "Runtime.enable" RuntimeEnable {};
    command "Runtime.addBinding" AddBinding<'a> { name: &'a str, execution_context_name: &'a str };
    command "Runtime.removeBinding" RemoveBinding<'a> { name: &'a str };
    command "Runtime.runIfWaitingForDebugger" RunIfWaiting {};
    command "Runtime.terminateExecution" TerminateExecution {};
    command "Runtime.evaluate" Evaluate<'a> { expression: &'a str, return_by_value: bool }
        optional {
            unique_context_id: &'a str, await_promise: bool, serialization_options: serde_json::Value
        }
        -> Evaluated { result: RemoteObject, exception_details: Option<ExceptionDetails> };
    command "Runtime.callFunctionOn" CallFunctionOn<'a> {
        function_declaration: &'a str, object_id: &'a str, arguments: Vec<CallArgument<'a>>, return_by_value: bool
    } -> Called { result: RemoteObject, exception_details: Option<ExceptionDetails> };
    command "Runtime.releaseObject" ReleaseObject<'a> { object_id: &'a str };
    command "DOM.enable" DomEnable {};
    command "DOM.performSearch" PerformSearch<'a> { query: &'a str }
        -> Found { search_id: String, result_count: u32 };
    command "DOM.discardSearchResults" DiscardSearch<'a> { search_id: &'a str };
    command "Accessibility.getPartialAXTree" GetPartialAxTree<'a> { object_id: &'a str, fetch_relatives: bool }
        -> AxTree { nodes: Vec<AxNode> };
    command "DOM.getFrameOwner" GetFrameOwner<'a> { frame_id: &'a str }
        -> FrameOwner { backend_node_id: i64 };
    command "DOM.resolveNode" ResolveNode { backend_node_id: i64, execution_context_id: i64 }
        -> Resolved { object: RemoteObject };
    command "DOMSnapshot.captureSnapshot" CaptureDom<'a> { computed_styles: &'a [&'a str] };
    command "DOM.getContentQuads" GetContentQuads<'a> { object_id: &'a str }
        -> ContentQuads { quads: Vec<Vec<f64>> };
    command "DOM.setFileInputFiles" SetFiles<'a> { files: &'a [String] }
        optional { object_id: &'a str, backend_node_id: i64 };
    command "Network.enable" NetworkEnable { max_total_buffer_size: u32, max_resource_buffer_size: u32 };
    command "Network.emulateNetworkConditionsByRule" LimitConnections {
        matched_network_conditions: Vec<NetworkConditions>
    };
    command "Network.setBypassServiceWorker" BypassServiceWorker { bypass: bool };
    command "Fetch.enable" FetchEnable<'a> {
        patterns: Vec<RequestPattern<'a>>, handle_auth_requests: bool
    };
    command "Fetch.continueWithAuth" ContinueWithAuth<'a> {
        request_id: &'a str, auth_challenge_response: AuthAnswer<'a>
    };
    command "Fetch.continueRequest" ContinueRequest<'a> { request_id: &'a str }
        optional { intercept_response: bool };
    command "Fetch.getResponseBody" GetResponseBody<'a> { request_id: &'a str }
        -> ResponseBody { body: String, base64_encoded: bool };
    command "Fetch.failRequest" FailRequest<'a> { request_id: &'a str, error_reason: &'a str };

    type "Page.FrameTree" FrameTree { frame: Frame, child_frames: Option<Vec<FrameTree>> };
    type "Page.Frame" Frame {
        id: String, parent_id: Option<String>, loader_id: String, url: String, url_fragment: Option<String>,
        security_origin: String, unreachable_url: Option<String>
    };
    type "Page.NavigationEntry" HistoryEntry { id: i64, url: String };
    type "Page.VisualViewport" VisualViewport {
        page_x: f64, page_y: f64, client_width: f64, client_height: f64, scale: f64, zoom: Option<f64>
    };
    type "Page.ScreencastFrameMetadata" ScreencastMetadata {
        device_width: f64, device_height: f64, timestamp: Option<f64>
    };
    type "DOM.Rect" Rect { x: f64, y: f64, width: f64, height: f64 };
    type "Accessibility.AXNode" AxNode { role: Option<AxValue>, name: Option<AxValue> };
    type "Accessibility.AXValue" AxValue {
        value: Option<serde_json::Value>, sources: Option<Vec<AxSource>>
    };
    type "Accessibility.AXValueSource" AxSource { r#type: String, superseded: Option<bool> };
    type "Runtime.RemoteObject" RemoteObject {
        object_id: Option<String>, subtype: Option<String>, value: Option<serde_json::Value>
    };
    type "Runtime.ExceptionDetails" ExceptionDetails { text: String };
    type "Runtime.ExecutionContextDescription" ContextDescription {
        id: i64, unique_id: String, name: String, #[serde(default)] aux_data: AuxData
    };
    type "Network.Request" Request { url: String, method: String };
    type "Fetch.HeaderEntry" HeaderEntry { name: String, value: String };
    type "Network.Request" PausedRequest {
        url: String, method: String, #[serde(default)] headers: serde_json::Map<String, serde_json::Value>,
        post_data: Option<String>
    };
    type "Fetch.AuthChallenge" AuthChallenge { origin: String, realm: String, source: Option<String> };

    event "Page.frameAttached" FrameAttached { frame_id: String, parent_frame_id: String };
    event "Page.frameDetached" FrameDetached { frame_id: String, reason: Option<String> };
    event "Page.frameNavigated" FrameNavigated { frame: Frame };
    event "Page.navigatedWithinDocument" NavigatedWithin { frame_id: String, url: String };
    event "Page.frameStartedNavigating" StartedNavigating {
        frame_id: String, url: String, navigation_type: String
    };
    event "Page.frameRequestedNavigation" RequestedNavigation { frame_id: String, url: String };
    event "Page.frameScheduledNavigation" ScheduledNavigation { frame_id: String, url: String };
    event "Page.frameClearedScheduledNavigation" ClearedNavigation { frame_id: String };
    event "Page.frameStartedLoading" StartedLoading { frame_id: String };
    event "Page.frameStoppedLoading" StoppedLoading { frame_id: String };
    event "Page.lifecycleEvent" Lifecycle { frame_id: String, loader_id: String, name: String };
    event "Page.javascriptDialogOpening" DialogOpening {
        url: String, message: String, r#type: String, default_prompt: Option<String>
    };
    event "Page.javascriptDialogClosed" DialogClosed {};
    event "Page.windowOpen" WindowOpen { url: String };
    event "Page.fileChooserOpened" FileChooserOpened { backend_node_id: Option<i64>, mode: String };
    event "Page.screencastFrame" ScreencastFrame {
        data: String, metadata: ScreencastMetadata, session_id: i64
    };
    event "Runtime.executionContextCreated" ContextCreated { context: ContextDescription };
    event "Runtime.executionContextDestroyed" ContextDestroyed { execution_context_unique_id: String };
    event "Runtime.executionContextsCleared" ContextsCleared {};
    event "Runtime.bindingCalled" BindingCalled { name: String, payload: String };
    event "Network.requestWillBeSent" RequestWillBeSent {
        request_id: String, loader_id: String, frame_id: Option<String>, r#type: Option<String>,
        request: Request
    };
    event "Network.responseReceived" ResponseReceived { request_id: String, r#type: Option<String> };
    event "Network.loadingFinished" LoadingFinished { request_id: String };
    event "Network.loadingFailed" LoadingFailed { request_id: String };
    event "Fetch.requestPaused" RequestPaused {
        request_id: String, frame_id: String, request: PausedRequest, network_id: Option<String>,
        redirected_request_id: Option<String>, resource_type: String,
        response_status_code: Option<u16>, response_error_reason: Option<String>,
        response_headers: Option<Vec<HeaderEntry>>
    };
    event "Fetch.authRequired" AuthRequired { request_id: String, auth_challenge: AuthChallenge };
    event "Network.webSocketCreated" SocketCreated { url: String };
    event "Network.webTransportCreated" TransportCreated { url: String };
    event "Inspector.targetCrashed" TargetCrashed {};
}

/// What Chromium says of a script world. Not described in the protocol.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AuxData {
    pub(crate) frame_id: String,
}

/// An argument of a call.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallArgument<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) object_id: Option<&'a str>,
}

/// Part of a page, in CSS pixels of the document.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(crate) struct Clip {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) scale: f64,
}

/// What a site or a proxy is told that asks for a name and a password. It is never printed.
#[derive(Clone, Default, serde::Serialize)]
pub(crate) struct AuthAnswer<'a> {
    pub(crate) response: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) username: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) password: Option<&'a str>,
}

impl std::fmt::Debug for AuthAnswer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuthAnswer").field("response", &self.response).finish_non_exhaustive()
    }
}

/// Which requests are held.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestPattern<'a> {
    /// `None`: of every kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resource_type: Option<&'a str>,
}

impl NetworkEnable {
    /// The browser keeps copies of bodies for us otherwise; we never ask for them.
    pub(crate) fn without_bodies() -> Self {
        Self { max_total_buffer_size: 0, max_resource_buffer_size: 0 }
    }
}

/// What becomes of connections to addresses that a pattern fits. The first that fits counts.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NetworkConditions {
    pub(crate) url_pattern: String,
    pub(crate) offline: bool,
    pub(crate) latency: f64,
    pub(crate) download_throughput: f64,
    pub(crate) upload_throughput: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A context of a worker has no frame.
    #[test]
    fn a_world_without_frame_is_readable() {
        let created: ContextCreated = serde_json::from_str(
            r#"{"context":{"id":1,"uniqueId":"a.b","name":"","origin":"","extra":1}}"#,
        )
        .unwrap();
        assert_eq!(created.context.aux_data.frame_id, "");
    }
}
