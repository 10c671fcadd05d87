@testable import Mixer

/// Takes what single hosts hear as it is, before any encoder.
final class RecordingReturns: ReturnOutput {
    struct Heard {
        var left: [Float] = []
        let firstSample: Int64
        var isContiguous = true
    }

    private(set) var heard: [String: Heard] = [:]

    func takeReturn(
        _ host: String,
        left: UnsafePointer<Float>,
        right: UnsafePointer<Float>,
        count: Int,
        firstSample: Int64
    ) {
        var present = heard[host] ?? Heard(firstSample: firstSample)
        if firstSample != present.firstSample + Int64(present.left.count) { present.isContiguous = false }
        present.left.append(contentsOf: UnsafeBufferPointer(start: left, count: count))
        heard[host] = present
    }

    /// What `host` heard from one program time to another, milliseconds.
    func sound(of host: String, from start: Int, to end: Int) -> ArraySlice<Float> {
        guard let heard = heard[host] else { return [] }
        func index(_ time: Int) -> Int { min(max(time * 48 - Int(heard.firstSample), 0), heard.left.count) }
        return heard.left[index(start)..<index(end)]
    }
}
