/// One metric with all its samples, as the Prometheus text format has it: a name, a kind, a line of help.
public struct MetricFamily: Sendable, Equatable {
    /// What the value does: a gauge goes up and down, a counter only up.
    public enum Kind: String, Sendable, Equatable {
        case gauge
        case counter
        /// Samples are of `_bucket` (with the label `le`), `_sum` and `_count`.
        case histogram
    }

    /// One dimension of a sample.
    public struct Label: Sendable, Equatable {
        /// The dimension, such as `room`.
        public var name: String
        /// Where in it, as it is; the renderer escapes.
        public var value: String

        /// Names a place in a dimension.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// One value.
    public struct Sample: Sendable, Equatable {
        /// What the family's name is followed by, as `_bucket` of a histogram; usually empty.
        public var suffix = ""
        /// What the value is of; empty for the whole process.
        public var labels: [Label]
        /// In the unit that the metric's name ends in.
        public var value: Double

        /// Makes a sample.
        public init(labels: [Label], value: Double) {
            self.labels = labels
            self.value = value
        }
    }

    /// The full name; that of a counter ends in `_total`.
    public var name: String
    /// The Prometheus type.
    public var kind: Kind
    /// One line for people.
    public var help: String
    /// Every combination of labels once.
    public var samples: [Sample]

    /// Makes a family from samples that are there already.
    public init(name: String, kind: Kind, help: String, samples: [Sample]) {
        self.name = name
        self.kind = kind
        self.help = help
        self.samples = samples
    }

    /// One value of the whole process, as it is now.
    public static func gauge(_ name: String, _ help: String, _ value: Double) -> MetricFamily {
        MetricFamily(name: name, kind: .gauge, help: help, samples: [Sample(labels: [], value: value)])
    }
}

extension MetricFamily {
    /// Adds one histogram.
    ///
    /// - Parameters:
    ///   - bounds: Upper bounds of the buckets, without the last.
    ///   - counts: What is in each bucket alone, one more than there are bounds.
    ///   - sum: Of all values.
    public mutating func addHistogram(bounds: [Double], counts: [Int], sum: Double, labels: [Label] = []) {
        func add(_ suffix: String, _ labels: [Label], _ value: Double) {
            var sample = Sample(labels: labels, value: value)
            sample.suffix = suffix
            samples.append(sample)
        }
        var total = 0
        for (bound, count) in zip(bounds + [.infinity], counts) {
            total += count
            add("_bucket", labels + [Label(name: "le", value: bound.isInfinite ? "+Inf" : "\(bound)")], Double(total))
        }
        add("_sum", labels, sum)
        add("_count", labels, Double(total))
    }

    init(_ name: String, _ kind: Kind, _ help: String) {
        self.init(name: name, kind: kind, help: help, samples: [])
    }

    mutating func add(_ value: Double, _ labels: (String, String)...) {
        samples.append(Sample(labels: labels.map { Label(name: $0.0, value: $0.1) }, value: value))
    }
}
