import FootlightModel
import Foundation

/// How many viewers the network link carries beside the outputs, estimated from what both receive at present.
struct LinkEstimate: Equatable {
    /// The link that the sentence assumes if the operator names none, in Mb/s.
    private static let usualLink = 1000
    /// The megabits per second below which nothing is said of a rate.
    private static let leastRate = 0.01

    /// Megabits per second to all viewers.
    let rate: Double
    /// Megabits per second to all outputs.
    let outputRate: Double
    let viewers: Int
    /// The size of the link in Mb/s; nil if the operator names none.
    let link: Int?

    /// - Parameters:
    ///   - bytesPerSecond: What is sent to all viewers together.
    ///   - outputBytesPerSecond: What is sent to all outputs together.
    init(bytesPerSecond: Double, outputBytesPerSecond: Double = 0, viewers: Int, link: Int?) {
        rate = bytesPerSecond * 8 / 1e6
        outputRate = outputBytesPerSecond * 8 / 1e6
        self.viewers = viewers
        self.link = link
    }

    /// Megabits per second to each viewer; nil while nobody receives anything.
    private var each: Double? { viewers > 0 && rate >= Self.leastRate ? rate / Double(viewers) : nil }

    /// The used part of the link, from 0 on; nil if its size is unknown.
    var use: Double? { link.map { (rate + outputRate) / Double($0) } }

    /// How many more viewers the link carries; nil if its size is unknown, or while nobody receives anything.
    var moreViewers: Int? {
        guard let link, let each else { return nil }
        return Self.rounded((Double(link) - rate - outputRate) / each)
    }

    /// The estimate in a sentence.
    var sentence: String {
        let outputs = outputRate >= Self.leastRate ? "\(Self.text(outputRate)) to outputs" : nil
        guard viewers > 0 else { return ["No viewers at present", outputs].compactMap(\.self).joined(separator: ", ") }
        let who = viewers == 1 ? "1 viewer" : "\(viewers) viewers"
        let begin = [outputs, "\(Self.text(rate)) to \(who)"].compactMap(\.self).joined(separator: ", ")
        guard let each else { return begin }
        if let link, let more = moreViewers {
            return
                "\(begin), \(Self.text(each)) each: the link of \(Self.text(Double(link))) carries about \(more) more"
        }
        let usual = "\(Self.text(Double(Self.usualLink))) carries about \(usualViewers(each)) viewers"
        return "\(begin): at \(Self.text(each)) each, \(usual)"
    }

    /// The code of the sentence.
    var code: SystemMessageCode {
        let hasOutputs = outputRate >= Self.leastRate
        guard viewers > 0 else { return hasOutputs ? .networkIdleWithOutputs : .networkIdle }
        guard each != nil else { return hasOutputs ? .networkWithOutputs : .network }
        if link == nil { return hasOutputs ? .networkEstimateWithOutputs : .networkEstimate }
        return hasOutputs ? .networkOfLinkWithOutputs : .networkOfLink
    }

    /// What stands in the sentence.
    var values: [String: AnyJSON] {
        var values: [String: Double] = [:]
        if outputRate >= Self.leastRate { values["output_mbps"] = Self.tenths(outputRate) }
        guard viewers > 0 else { return values.mapValues { .number($0) } }
        values["rate_mbps"] = Self.tenths(rate)
        values["count"] = Double(viewers)
        if let each {
            values["each_mbps"] = Self.tenths(each)
            values["link_mbps"] = Double(link ?? Self.usualLink)
            values[link == nil ? "all" : "more"] = Double(moreViewers ?? usualViewers(each))
        }
        return values.mapValues { .number($0) }
    }

    /// Returns how many viewers the link carries that the sentence assumes.
    private func usualViewers(_ each: Double) -> Int {
        Self.rounded((Double(Self.usualLink) - outputRate) / each)
    }

    private static func tenths(_ number: Double) -> Double { (number * 10).rounded() / 10 }

    /// Rounds down to two digits, because it is an estimate.
    private static func rounded(_ number: Double) -> Int {
        guard number >= 1 else { return 0 }
        let step = pow(10, max(0, number.rounded(.down).exponentOfTen - 1))
        return Int((number / step).rounded(.down) * step)
    }

    private static func text(_ megabits: Double) -> String {
        megabits >= 1000
            ? "\((megabits / 100).rounded() / 10) Gb/s".replacingOccurrences(of: ".0 ", with: " ")
            : "\((megabits * 10).rounded() / 10) Mb/s"
    }
}

extension Double {
    /// The power of ten of the first digit of a number from 1 on.
    fileprivate var exponentOfTen: Double { self >= 1 ? log10(self).rounded(.down) : 0 }
}
