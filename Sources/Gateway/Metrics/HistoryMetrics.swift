import Viewership
import ViewershipStore

extension HistoryKeeper.Status {
    /// As Prometheus reads them.
    var families: [MetricFamily] {
        func family(_ name: String, _ help: String, _ value: Int) -> MetricFamily {
            MetricFamily(name: name, kind: .counter, help: help, samples: [.init(labels: [], value: Double(value))])
        }
        let errors = MetricFamily(
            name: "footlight_store_errors_total",
            kind: .counter,
            help: "Tries to write to disk that failed.",
            samples: [.init(labels: [.init(name: "op", value: "viewership")], value: Double(failures))]
        )
        let waiting = MetricFamily(
            name: "footlight_viewership_waiting_rows",
            kind: .gauge,
            help: "Rows that gather in memory because the last try to write failed.",
            samples: [.init(labels: [], value: Double(waiting))]
        )
        return [
            errors, waiting,
            family("footlight_viewership_writes_total", "Transactions of the audience's history.", writes),
            family("footlight_viewership_dropped_total", "Rows that found no space while tries failed.", dropped),
            family("footlight_viewership_asides_total", "Databases put aside because they were of no use.", asides),
        ]
    }
}
