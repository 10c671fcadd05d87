/// A metric with all its samples in the Prometheus data model.
public struct MetricFamily: Sendable, Equatable {
    /// The Prometheus type: a gauge goes up and down, a counter only up.
    public enum Kind: String, Sendable, Equatable {
        case gauge
        case counter
        /// The samples have the suffixes `_bucket` (with the label `le`), `_sum` and `_count`.
        case histogram
    }

    /// A label of a sample.
    public struct Label: Sendable, Equatable {
        /// The name of the label, such as `room`.
        public var name: String
        /// The unescaped value; the renderer escapes it.
        public var value: String

        /// Creates a label.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A value with its labels.
    public struct Sample: Sendable, Equatable {
        /// The suffix of the family's name, such as `_bucket`; usually empty.
        public var suffix = ""
        /// The labels; empty for the whole process.
        public var labels: [Label]
        /// The value, in the unit that the metric's name ends in.
        public var value: Double

        /// Creates a sample.
        public init(labels: [Label], value: Double) {
            self.labels = labels
            self.value = value
        }
    }

    /// The full name; the name of a counter ends in `_total`.
    public var name: String
    /// The Prometheus type.
    public var kind: Kind
    /// The help text.
    public var help: String
    /// The samples, one for each combination of labels.
    public var samples: [Sample]

    /// Creates a family.
    public init(name: String, kind: Kind, help: String, samples: [Sample]) {
        self.name = name
        self.kind = kind
        self.help = help
        self.samples = samples
    }

    /// Creates a gauge with one sample for the whole process.
    public static func gauge(_ name: String, _ help: String, _ value: Double) -> MetricFamily {
        MetricFamily(name: name, kind: .gauge, help: help, samples: [Sample(labels: [], value: value)])
    }
}

extension MetricFamily {
    /// Adds the samples of one histogram.
    ///
    /// - Parameters:
    ///   - bounds: Upper bounds of the buckets, without infinity.
    ///   - counts: The number of values in each single bucket; one more than `bounds`.
    ///   - sum: The sum of all values.
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
