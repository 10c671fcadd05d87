import FootlightTesting

/// hls.js, and what it is told.
struct HLSJS {
    /// Its text: a script that leaves `Hls`.
    let script: String
    /// The settings that differ from its own, as JavaScript.
    var settings = "{}"

    /// What keeps it near the live edge.
    ///
    /// By itself it never plays faster: the time that its beginning took, and each stall, stay for good. Allowed to, it
    /// makes up for them while it has more than a second in hand. And each stall moves the place that it wants a whole
    /// second away, up to a target duration, also for good; a quarter does.
    static let nearTheEdge = "{ maxLiveSyncPlaybackRate: 1.5, liveSyncOnStallIncrease: 0.25 }"

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
                    + `stalls ${hls.latencyController?.stallCount ?? '-'}, waited ${globalThis.waits} times`;
            })()
            """
        )
        return said.string ?? "nothing"
    }
}
