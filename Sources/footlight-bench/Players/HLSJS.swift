import FootlightTesting

/// hls.js, and what it is told.
struct HLSJS {
    /// Its text: a script that leaves `Hls`.
    let script: String
    /// The settings that differ from its own, as JavaScript.
    var settings = "{}"

    /// It never makes up for the time that its beginning took, nor for a stall, unless it is allowed to play faster; and
    /// then it does so while it has more than a second in hand.
    static let catchingUp = "{ maxLiveSyncPlaybackRate: 1.5 }"

    /// What a player in a page thinks of its place, in one line.
    static func opinion(in browser: HeadlessBrowser) async throws -> String {
        let said = try await browser.evaluate(
            """
            (() => {
                const seconds = (value) => value === null || value === undefined ? '-' : value.toFixed(2) + ' s';
                const { holdBack, partHoldBack, partTarget } = hls.latestLevelDetails ?? {};
                return `behind the end ${seconds(hls.latency)}, wanted ${seconds(hls.targetLatency)}, `
                    + `PART-HOLD-BACK ${seconds(partHoldBack)}, HOLD-BACK ${seconds(holdBack)}, `
                    + `parts of ${seconds(partTarget)}, rate ${video.playbackRate.toFixed(2)}, `
                    + `stalls ${hls.latencyController?.stallCount ?? '-'}`;
            })()
            """
        )
        return said.string ?? "nothing"
    }
}
