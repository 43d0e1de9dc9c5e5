//! What pages log and load, and how a tab can be made to look.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::borrow::Cow;

reins_cdp::protocol! {
    /// Names of inspection and emulation.
    pub(crate) NAMES;

    command "Log.enable" LogEnable {};
    command "Runtime.releaseObjectGroup" ReleaseGroup<'a> { object_group: &'a str };
    command "Network.getResponseBody" GetResponseBody<'a> { request_id: &'a str }
        -> ResponseBody { body: String, base64_encoded: bool };
    command "Emulation.setDeviceMetricsOverride" SetScreen {
        width: u32, height: u32, device_scale_factor: f64, mobile: bool
    };
    command "Emulation.clearDeviceMetricsOverride" ClearScreen {};
    command "Emulation.setTouchEmulationEnabled" SetTouch { enabled: bool }
        optional { max_touch_points: u8 };
    command "Emulation.setEmulatedMedia" SetMedia<'a> { features: Vec<MediaFeature<'a>> };
    command "Emulation.setUserAgentOverride" SetUserAgent<'a> { user_agent: &'a str }
        optional { accept_language: &'a str };
    command "Emulation.setLocaleOverride" SetLocale<'a> {} optional { locale: &'a str };
    command "Emulation.setTimezoneOverride" SetTimezone<'a> { timezone_id: &'a str };
    command "Network.emulateNetworkConditions" SetNetwork {
        offline: bool, latency: f64, download_throughput: f64, upload_throughput: f64
    };
    command "Emulation.setCPUThrottlingRate" SetProcessor { rate: f64 };

    type "Runtime.RemoteObject" Logged {
        r#type: String, subtype: Option<String>, value: Option<Value>,
        unserializable_value: Option<String>, description: Option<String>,
        object_id: Option<IgnoredAny>, preview: Option<Preview>
    };
    type "Runtime.ObjectPreview" Preview {
        subtype: Option<String>, description: Option<String>, overflow: bool,
        properties: Vec<Property>, entries: Option<Vec<Entry>>
    };
    type "Runtime.PropertyPreview" Property { name: String, r#type: String, value: Option<String> };
    type "Runtime.EntryPreview" Entry { key: Option<Box<Preview>>, value: Box<Preview> };
    type "Runtime.StackTrace" Stack { call_frames: Vec<CallFrame> };
    type "Runtime.CallFrame" CallFrame {
        function_name: String, url: String, line_number: i64, column_number: i64
    };
    type "Runtime.ExceptionDetails" Thrown {
        exception_id: i64, text: String, line_number: i64, column_number: i64, url: Option<String>,
        stack_trace: Option<Stack>, exception: Option<Logged>, execution_context_id: Option<i64>
    };
    type "Log.LogEntry" LogEntry {
        source: String, level: String, text: String, url: Option<String>, line_number: Option<i64>,
        worker_id: Option<IgnoredAny>
    };
    type "Network.Request" Sent<'a> {
        #[serde(borrow)] url: Cow<'a, str>, method: String, headers: Map<String, Value>,
        #[serde(borrow)] post_data: Option<Cow<'a, str>>
    };
    type "Network.Response" Answered {
        status: u32, status_text: String, headers: Map<String, Value>, mime_type: String,
        from_disk_cache: Option<bool>, from_service_worker: Option<bool>,
        from_prefetch_cache: Option<bool>, encoded_data_length: f64, protocol: Option<String>
    };
    type "Network.WebSocketResponse" SocketAnswer { status: u32 };
    type "Network.Initiator" Initiator {
        r#type: String, stack: Option<Stack>, url: Option<String>, line_number: Option<f64>
    };
    type "Network.CorsErrorStatus" CorsError { cors_error: String };

    event "Runtime.consoleAPICalled" ConsoleCalled {
        r#type: String, args: Vec<Logged>, execution_context_id: i64, stack_trace: Option<Stack>
    };
    event "Runtime.exceptionThrown" ExceptionThrown { exception_details: Thrown };
    event "Runtime.exceptionRevoked" ExceptionRevoked { exception_id: i64 };
    event "Log.entryAdded" EntryAdded { entry: LogEntry };
    event "Network.requestWillBeSent" RequestBegan<'a> {
        request_id: String, loader_id: String, #[serde(borrow)] request: Sent<'a>, timestamp: f64,
        initiator: Initiator, redirect_response: Option<Answered>, r#type: Option<String>
    };
    event "Network.requestWillBeSentExtraInfo" RequestExtra {
        request_id: String, headers: Map<String, Value>
    };
    event "Network.responseReceivedExtraInfo" ResponseExtra {
        request_id: String, headers: Map<String, Value>
    };
    event "Network.responseReceived" ResponseBegan {
        request_id: String, r#type: String, response: Answered
    };
    event "Network.requestServedFromCache" ServedFromCache { request_id: String };
    event "Network.loadingFinished" RequestFinished {
        request_id: String, timestamp: f64, encoded_data_length: f64
    };
    event "Network.loadingFailed" RequestFailed {
        request_id: String, timestamp: f64, error_text: String, canceled: Option<bool>,
        blocked_reason: Option<String>, cors_error_status: Option<CorsError>
    };
    event "Network.webSocketCreated" SocketBegan {
        request_id: String, url: String, initiator: Option<Initiator>
    };
    event "Network.webSocketHandshakeResponseReceived" SocketOpened {
        request_id: String, response: SocketAnswer
    };
    event "Network.webSocketClosed" SocketClosed { request_id: String, timestamp: f64 };
    event "Network.webSocketFrameError" SocketFailed { request_id: String, error_message: String };
}

/// What a page may ask of the person's preferences.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct MediaFeature<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
}
