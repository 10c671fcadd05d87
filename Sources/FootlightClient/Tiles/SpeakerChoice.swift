/// Who is shown large: the dominant speaker, else the last one if still there, else the first of the others, else
/// oneself.
public struct SpeakerChoice: Sendable, Equatable {
    private var previous: String?

    /// Begins with nobody having spoken.
    public init() {}

    /// Whom to show large now.
    ///
    /// - Parameters:
    ///   - dominant: Who has the floor; nil when nobody speaks.
    ///   - remote: The others, in join order.
    ///   - local: Oneself.
    public mutating func choose(dominant: String?, remote: [String], local: String) -> String {
        if let dominant, dominant == local || remote.contains(dominant) {
            previous = dominant
            return dominant
        }
        if let previous, previous == local || remote.contains(previous) { return previous }
        previous = nil
        return remote.first ?? local
    }
}
