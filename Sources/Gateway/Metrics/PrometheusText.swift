import Viewership

/// Renders metrics in the Prometheus text exposition format 0.0.4 or in OpenMetrics 1.0.
enum PrometheusText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    static func render(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families {
            text += "# HELP \(family.name) \(escape(family.help, quotes: false))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples { write(sample, of: family, to: &text) }
        }
        return text
    }

    /// Returns OpenMetrics 1.0: counter families without `_total`, with units and an end marker.
    static func renderOpenMetrics(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families {
            let name = family.kind == .counter ? family.name.withoutSuffix("_total") : family.name
            text += "# HELP \(name) \(escape(family.help))\n"
            text += "# TYPE \(name) \(family.kind.rawValue)\n"
            if let unit = ["seconds", "bytes", "ratio"].first(where: { name.hasSuffix("_" + $0) }) {
                text += "# UNIT \(name) \(unit)\n"
            }
            for sample in family.samples { write(sample, of: family, to: &text) }
        }
        return text + "# EOF\n"
    }

    private static func write(_ sample: MetricFamily.Sample, of family: MetricFamily, to text: inout String) {
        text += family.name + sample.suffix
        if !sample.labels.isEmpty {
            text += "{" + sample.labels.map { "\($0.name)=\"\(escape($0.value))\"" }.joined(separator: ",") + "}"
        }
        text += " \(number(sample.value))\n"
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }

    private static func escape(_ text: String, quotes: Bool = true) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.append(character)
            }
        }
        return escaped
    }
}

extension String {
    fileprivate func withoutSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
