import FootlightTesting
import Media

/// When what was asked for, on this machine's clock.
struct ShowTimes {
    struct Window {
        let command: MonotonicTime
        let begin: MonotonicTime
        let end: MonotonicTime
    }

    private(set) var windows: [String: Window] = [:]

    /// How long a command may take until all who watch see it.
    static let patience = 1.0

    /// Called right after a command: lets it come on air, and then lasts so many seconds.
    mutating func window(_ name: String, of seconds: Double) async throws {
        let command = MonotonicTime.now()
        try await Task.sleep(for: .seconds(Self.patience))
        let begin = MonotonicTime.now()
        try await Task.sleep(for: .seconds(seconds))
        windows[name] = Window(command: command, begin: begin, end: .now())
    }
}

/// A recording whose moments can be found by the time at which its packets came.
struct RecordedShow {
    let recording: Recording
    let arrivals: [FLVTail.Arrival]
    let times: ShowTimes

    /// What was seen and heard during a window, in seconds of the recording.
    func range(of window: String) throws -> ClosedRange<Double> {
        let window = try found(window)
        return try position(window.begin)...position(window.end)
    }

    /// Where the recording was when a command was given.
    func command(_ window: String) throws -> Double {
        try position(try found(window).command)
    }

    private func found(_ name: String) throws -> ShowTimes.Window {
        guard let window = times.windows[name] else { throw ToolFailure("there is no window \(name)") }
        return window
    }

    /// The last picture that had come by then.
    private func position(_ time: MonotonicTime) throws -> Double {
        guard let arrival = arrivals.last(where: { $0.isPicture && $0.time <= time }) else {
            throw ToolFailure("nothing was recorded by then")
        }
        return Double(arrival.timestamp) / 1000 - recording.startTime
    }
}
