/// How far everybody else is turned down while a host speaks under whom the others step back.
///
/// Follows the level of those hosts a quantum at a time: down within 11 ms of the first word, up again evenly over
/// 400 ms, so that the gaps between words are not filled with what lies under them.
struct Ducker: Sendable {
    /// Speech begins when the level reaches this, in dBFS.
    static let threshold = -40.0
    /// Speech goes on until the level falls below this, in dBFS.
    static let floor = -46.0
    /// Milliseconds from all the way down to not at all.
    static let release = 400.0

    /// 0 for not at all, 1 for all the way down.
    private(set) var depth = 0.0
    private var isSpeech = false

    /// Takes in how loud the hosts are under whom the others are ducked, over the next quantum.
    ///
    /// - Parameter level: Root mean square in dBFS of the loudest of them, as it is in the mix.
    mutating func advance(level: Double) {
        isSpeech = level >= (isSpeech ? Self.floor : Self.threshold)
        if isSpeech {
            // The gain itself moves over the quantum, which is the attack.
            depth = 1
        } else {
            let quantum = Double(ProgramTime.quantum) / 48
            depth = max(depth - quantum / Self.release, 0)
        }
    }
}
