//! One event, one line of JSON: when, how grave, what, in which span of which trace, and the
//! fields of the event and of every span around it. A field of an inner span hides the same field
//! of an outer one; none can hide a name that every line has.

use std::{collections::BTreeMap, error::Error, fmt, sync::OnceLock};

use opentelemetry::trace::TraceContextExt;
use serde_json::Value;
use time::format_description::well_known::Rfc3339;
use tracing::{
    Dispatch, Event, Subscriber,
    dispatcher::WeakDispatch,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    Layer,
    layer::Context,
    registry::{LookupSpan, SpanRef},
};

use super::{error_chain, output::Output};
use crate::Clock;

/// The longest text of one field; the rest is cut off.
const TEXT_BYTES_MAX: usize = 8 * 1024;
/// The names that every line may have of its own.
const RESERVED: &[&str] = &[
    "timestamp",
    "level",
    "target",
    "message",
    "service",
    "trace_id",
    "span_id",
    "span",
];

/// Writes every event as a line of JSON.
pub(super) struct JsonLines {
    service: &'static str,
    clock: Clock,
    output: Output,
    dispatch: OnceLock<WeakDispatch>,
}

/// The fields of a span, kept with it.
#[derive(Default)]
struct Fields(BTreeMap<&'static str, Value>);

impl JsonLines {
    pub(super) fn new(service: &'static str, clock: Clock, output: Output) -> Self {
        Self {
            service,
            clock,
            output,
            dispatch: OnceLock::new(),
        }
    }

    /// The trace and span ids of a span. No extensions may be borrowed while this is called.
    fn ids<S>(&self, span: &SpanRef<'_, S>) -> Option<(String, String)>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let dispatch = self.dispatch.get()?.upgrade()?;
        let context = tracing_opentelemetry::get_otel_context(&span.id(), &dispatch)?;
        let span = context.span();
        let ids = span.span_context();
        ids.is_valid()
            .then(|| (ids.trace_id().to_string(), ids.span_id().to_string()))
    }
}

impl<S> Layer<S> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_register_dispatch(&self, subscriber: &Dispatch) {
        // A second registration would be of the same subscriber.
        let _ = self.dispatch.set(subscriber.downgrade());
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = BTreeMap::new();
        let mut own = Fields::default();
        event.record(&mut own);
        let message = own.0.remove("message").unwrap_or_else(|| Value::from(""));

        let mut line = Line::new();
        let now = self.clock.now().format(&Rfc3339).unwrap_or_default();
        line.put("timestamp", &Value::from(now));
        line.put("level", &Value::from(event.metadata().level().as_str()));
        line.put("target", &Value::from(event.metadata().target()));
        line.put("message", &message);
        line.put("service", &Value::from(self.service));
        if let Some(span) = context.event_span(event) {
            if let Some((trace_id, span_id)) = self.ids(&span) {
                line.put("trace_id", &Value::from(trace_id));
                line.put("span_id", &Value::from(span_id));
            }
            line.put("span", &Value::from(span.name()));
            for span in span.scope().from_root() {
                if let Some(outer) = span.extensions().get::<Fields>() {
                    fields.extend(outer.0.iter().map(|(name, value)| (*name, value.clone())));
                }
            }
        }
        fields.extend(own.0);
        for (name, value) in &fields {
            if RESERVED.contains(name) {
                line.put(&format!("field.{name}"), value);
            } else {
                line.put(name, value);
            }
        }
        self.output.push(line.end());
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), Value::from(cut(value)));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name(), Value::from(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name(), Value::from(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.insert(field.name(), Value::from(value));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.record_str(field, &error_chain(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        match u64::try_from(value) {
            Ok(value) => self.record_u64(field, value),
            Err(_) => self.record_str(field, &value.to_string()),
        }
    }
}

/// A JSON object on its way to being a line.
struct Line(String);

impl Line {
    fn new() -> Self {
        Self("{".to_owned())
    }

    fn put(&mut self, name: &str, value: &Value) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&Value::from(name).to_string());
        self.0.push(':');
        self.0.push_str(&value.to_string());
    }

    fn end(mut self) -> String {
        self.0.push_str("}\n");
        self.0
    }
}

fn cut(text: &str) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let kept = text.floor_char_boundary(TEXT_BYTES_MAX);
    format!("{}…", text.get(..kept).unwrap_or_default())
}
