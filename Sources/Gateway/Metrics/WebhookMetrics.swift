import Viewership
import Webhooks

extension WebhookStatus {
    /// As Prometheus reads them; however many webhooks there are, so many series and no more.
    var families: [MetricFamily] {
        func family(_ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: Int) -> MetricFamily {
            MetricFamily(name: name, kind: kind, help: help, samples: [.init(labels: [], value: Double(value))])
        }
        return [
            MetricFamily(
                name: "footlight_webhook_endpoints",
                kind: .gauge,
                help: "Webhooks by how they are.",
                samples: [("healthy", healthy), ("failing", failing), ("disabled", disabled)].map {
                    .init(labels: [.init(name: "state", value: $0.0)], value: Double($0.1))
                }
            ),
            MetricFamily(
                name: "footlight_webhook_tries_total",
                kind: .counter,
                help: "Tries to deliver to a webhook by what came of them.",
                samples: DeliveryOutcome.Kind.allCases.map {
                    .init(labels: [.init(name: "outcome", value: $0.rawValue)], value: Double(tries[$0] ?? 0))
                }
            ),
            family("footlight_webhook_pending", .gauge, "Messages that wait for a webhook.", pending),
            family(
                "footlight_webhook_dropped_total",
                .counter,
                "Messages given up because too many waited or because they were too large.",
                dropped
            ),
            family(
                "footlight_webhook_store_failures_total",
                .counter,
                "Uses of the outbox that failed.",
                storeFailures
            ),
            family(
                "footlight_webhook_asides_total",
                .counter,
                "Outboxes put aside because they were of no use.",
                asides
            ),
        ]
    }
}
