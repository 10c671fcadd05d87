@testable import Stage

/// Plays scores of voices, a character for every tenth of a second: `#` voice, `_` silence, `.` no microphone.
struct Trace {
    /// When everything begins, in seconds since 1970: large, as in a running gateway.
    static let origin = 1_790_000_000.0

    var speaker = DominantSpeaker()
    /// How loud the voices are, in dBFS; -20 if not named.
    var levels: [String: Double] = [:]
    /// Where their faders are, in decibels; 0 if not named.
    var gains: [String: Double] = [:]
    private(set) var changes: [(at: Double, change: SpeakerChange)] = []
    /// Who began (+) and stopped (-) to speak, and when.
    private(set) var speaking: [String] = []
    private var tenths = 0

    init(levels: [String: Double] = [:], gains: [String: Double] = [:]) {
        self.levels = levels
        self.gains = gains
    }

    /// The changes as sentences.
    var story: [String] {
        changes.map { "\(time($0.at)) \($0.change.participantSID ?? "nobody") \($0.change.reason.rawValue)" }
    }

    mutating func play(_ scores: [String: String]) {
        let length = scores.values.map(\.count).max() ?? 0
        let characters = scores.mapValues(Array.init)
        for place in 0..<length {
            let heard = characters.keys.sorted().compactMap { sid -> AudioLevel? in
                guard let score = characters[sid], place < score.count else { return nil }
                let level: Double? =
                    switch score[place] {
                    case "#": levels[sid] ?? -20
                    case "_": AudioLevel.silence
                    default: nil
                    }
                return AudioLevel(participantSID: sid, level: level, gain: gains[sid] ?? 0)
            }
            tenths += 1
            note(speaker.hear(heard, at: Self.origin + Double(tenths) / 10))
        }
    }

    mutating func remove(_ sid: String) {
        note(speaker.remove(sid, at: Self.origin + Double(tenths) / 10))
    }

    private mutating func note(_ actions: [DominantSpeaker.Action]) {
        let now = Double(tenths) / 10
        for action in actions {
            switch action {
            case .dominant(let change): changes.append((now, change))
            case .speaking(let sid, let begins): speaking.append("\(time(now)) \(sid)\(begins ? "+" : "-")")
            }
        }
    }

    private func time(_ seconds: Double) -> String {
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
