import Stage

@testable import Viewership

/// One value for each way to watch, without a dictionary behind it.
struct PerProtocol<Value: Sendable>: Sendable {
    private var sdk: Value
    private var rtmp: Value
    private var flv: Value
    private var hls: Value
    private var llhls: Value

    init(repeating value: Value) {
        sdk = value
        rtmp = value
        flv = value
        hls = value
        llhls = value
    }

    subscript(playback: PlaybackProtocol) -> Value {
        get {
            switch playback {
            case .sdk: sdk
            case .rtmp: rtmp
            case .flv: flv
            case .hls: hls
            case .llhls: llhls
            }
        }
        set {
            switch playback {
            case .sdk: sdk = newValue
            case .rtmp: rtmp = newValue
            case .flv: flv = newValue
            case .hls: hls = newValue
            case .llhls: llhls = newValue
            }
        }
    }
}

extension PerProtocol: Equatable where Value: Equatable {}

extension PerProtocol where Value: AdditiveArithmetic {
    static var zero: PerProtocol { PerProtocol(repeating: .zero) }

    /// Over all the ways to watch.
    var sum: Value { PlaybackProtocol.allCases.reduce(.zero) { $0 + self[$1] } }

    static func += (left: inout PerProtocol, right: PerProtocol) {
        for playback in PlaybackProtocol.allCases { left[playback] += right[playback] }
    }

    static func - (left: PerProtocol, right: PerProtocol) -> PerProtocol {
        var difference = left
        for playback in PlaybackProtocol.allCases { difference[playback] -= right[playback] }
        return difference
    }
}
