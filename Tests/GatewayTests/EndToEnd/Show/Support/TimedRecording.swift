import Media
import TestSupport

/// The times of commands on this machine's clock.
struct CommandTimeline {
    struct Window {
        let command: MonotonicTime
        let begin: MonotonicTime
        let end: MonotonicTime
    }

    private(set) var windows: [String: Window] = [:]

    /// Seconds until a command must be visible.
    static let propagationSeconds = 1.0

    /// Records a window after a command: waits until it is visible, then for `seconds`.
    mutating func window(_ name: String, of seconds: Double) async throws {
        let command = MonotonicTime.now()
        try await Task.sleep(for: .seconds(Self.propagationSeconds))
        let begin = MonotonicTime.now()
        try await Task.sleep(for: .seconds(seconds))
        windows[name] = Window(command: command, begin: begin, end: .now())
    }
}

/// A recording whose positions are found by the arrival times of its packets.
struct TimedRecording {
    let recording: Recording
    let arrivals: [FLVFollower.Arrival]
    let times: CommandTimeline

    /// Returns a window's range in seconds of the recording.
    func range(of window: String) throws -> ClosedRange<Double> {
        let window = try found(window)
        return try position(window.begin)...position(window.end)
    }

    /// Returns a command's position in the recording.
    func command(_ window: String) throws -> Double {
        try position(try found(window).command)
    }

    private func found(_ name: String) throws -> CommandTimeline.Window {
        guard let window = times.windows[name] else { throw ToolFailure("there is no window \(name)") }
        return window
    }

    /// Returns the position of the last frame that had arrived.
    private func position(_ time: MonotonicTime) throws -> Double {
        guard let arrival = arrivals.last(where: { $0.isVideo && $0.time <= time }) else {
            throw ToolFailure("nothing was recorded by then")
        }
        return Double(arrival.timestamp) / 1000 - recording.startTime
    }
}
