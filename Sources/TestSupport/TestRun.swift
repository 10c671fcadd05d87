import Foundation

/// What a run of the tests includes.
public enum TestRun {
    /// Whether the run includes suites that follow the clock or start other programs, which take seconds each.
    ///
    /// `deploy/test --quick` sets `FOOTLIGHT_QUICK_TESTS` and leaves them out. A slow suite has the trait
    /// `.enabled(if: TestRun.isFull)`.
    public static var isFull: Bool { ProcessInfo.processInfo.environment["FOOTLIGHT_QUICK_TESTS"] == nil }
}
