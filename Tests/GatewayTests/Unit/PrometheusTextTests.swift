@testable import Gateway
import Testing
import Viewership

@Suite("Prometheus text format")
struct PrometheusTextTests {
    @Test("renders families, labels and values")
    func page() {
        let families = [
            MetricFamily(
                name: "footlight_viewers",
                kind: .gauge,
                help: "Viewers \\ now\nper room.",
                samples: [
                    .init(labels: [.init(name: "room", value: "a \"b\" \\ c\nd")], value: 12),
                    .init(
                        labels: [.init(name: "room", value: "e"), .init(name: "protocol", value: "hls")],
                        value: 0.25
                    ),
                ]
            ),
            MetricFamily(
                name: "footlight_joins_total",
                kind: .counter,
                help: "Joins.",
                samples: [.init(labels: [], value: 3_000_000_000)]
            ),
            MetricFamily(name: "footlight_empty", kind: .gauge, help: "\"Nothing\".", samples: []),
        ]
        #expect(
            PrometheusText.render(families) == #"""
                # HELP footlight_viewers Viewers \\ now\nper room.
                # TYPE footlight_viewers gauge
                footlight_viewers{room="a \"b\" \\ c\nd"} 12
                footlight_viewers{room="e",protocol="hls"} 0.25
                # HELP footlight_joins_total Joins.
                # TYPE footlight_joins_total counter
                footlight_joins_total 3000000000
                # HELP footlight_empty "Nothing".
                # TYPE footlight_empty gauge

                """#
        )
    }

    @Test("renders non-finite and large numbers")
    func numbers() {
        let values = [Double.nan, .infinity, -.infinity, 1e18, -5, 0]
        let family = MetricFamily(
            name: "x",
            kind: .gauge,
            help: "h",
            samples: values.map { .init(labels: [], value: $0) }
        )
        let lines = PrometheusText.render([family]).split(separator: "\n").dropFirst(2)
        #expect(lines.map(String.init) == ["x NaN", "x +Inf", "x -Inf", "x 1e+18", "x -5", "x 0"])
    }
}
