//! Whether the environment asks for spans, as OpenTelemetry's standard variables say.

/// Where spans go: all signals, and traces alone.
pub(crate) const ENDPOINTS: [&str; 2] =
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/// The value of a variable that is set, and not to nothing.
pub(crate) fn said(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// Whether the environment asks for spans.
pub(crate) fn is_asked_for() -> bool {
    let is_off = said("OTEL_SDK_DISABLED").is_some_and(|off| off.eq_ignore_ascii_case("true"));
    let exporters = said("OTEL_TRACES_EXPORTER");
    let is_named = exporters.is_none_or(|all| all.split(',').any(|one| one.trim() == "otlp"));
    !is_off && is_named && ENDPOINTS.into_iter().any(|name| said(name).is_some())
}
