//! A trace across processes, as the W3C `traceparent` text. A text that cannot be understood is
//! ignored: it came from outside, and losing a link is better than losing a message.

use opentelemetry::{
    Context,
    trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState},
};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// The current span as a `traceparent`, for the message or the request that it causes.
#[must_use]
pub fn trace_parent() -> Option<String> {
    let context = Span::current().context();
    let span = context.span();
    let ids = span.span_context();
    ids.is_valid().then(|| {
        format!(
            "00-{}-{}-{:02x}",
            ids.trace_id(),
            ids.span_id(),
            ids.trace_flags().to_u8()
        )
    })
}

/// Makes `span` a part of the trace that `trace_parent` names. Call it before anything is logged
/// in the span: from then on the ids of a span stand.
pub fn continue_trace(span: &Span, trace_parent: &str) {
    if let Some(parent) = parse(trace_parent) {
        // Refused only for a span that is filtered out or has begun: both leave it as it is.
        let _ = span.set_parent(Context::new().with_remote_span_context(parent));
    }
}

fn parse(text: &str) -> Option<SpanContext> {
    let mut parts = text.trim().split('-');
    let version = hexadecimal(parts.next()?, 2)?;
    let trace_id = TraceId::from_hex(hexadecimal(parts.next()?, 32)?).ok()?;
    let span_id = SpanId::from_hex(hexadecimal(parts.next()?, 16)?).ok()?;
    let flags = u8::from_str_radix(hexadecimal(parts.next()?, 2)?, 16).ok()?;
    // A later version may append parts; the first one has none, and `ff` is no version at all.
    if version == "ff" || (version == "00" && parts.next().is_some()) {
        return None;
    }
    let flags = TraceFlags::new(flags) & TraceFlags::SAMPLED;
    let parent = SpanContext::new(trace_id, span_id, flags, true, TraceState::default());
    parent.is_valid().then_some(parent)
}

fn hexadecimal(part: &str, digits: usize) -> Option<&str> {
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    (part.len() == digits && part.bytes().all(is_digit)).then_some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_well_formed_parents_are_understood() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let table = [
            (format!("00-{trace}-00f067aa0ba902b7-01"), true),
            (format!(" 00-{trace}-00f067aa0ba902b7-00 "), true),
            (format!("01-{trace}-00f067aa0ba902b7-01-more"), true),
            (format!("00-{trace}-00f067aa0ba902b7-01-more"), false),
            (format!("ff-{trace}-00f067aa0ba902b7-01"), false),
            (
                format!("00-{}-00f067aa0ba902b7-01", trace.to_uppercase()),
                false,
            ),
            (format!("00-{trace}-00f067aa0ba902b7"), false),
            (format!("00-{trace}-0000000000000000-01"), false),
            (format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)), false),
            (format!("00-{}-00f067aa0ba902b7-01", &trace[1..]), false),
            (String::new(), false),
            ("garbage".to_owned(), false),
        ];
        for (text, understood) in table {
            assert_eq!(parse(&text).is_some(), understood, "{text}");
        }
    }
}
