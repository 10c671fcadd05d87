import Codecs

/// Chooses which of a host's pictures a program picture shows: the newest by the middle of its time, never waiting.
///
/// That border gives way by a 32nd of a program picture's length in the direction last taken: else, when both
/// rates are alike and the phases happen to meet, the rounding of timestamps to milliseconds would make pictures
/// repeat and drop in turns. More would cost: by so much more a picture may be off from the sound beside it, which at
/// 30 pictures a second is 18 ms at most.
struct PictureSelector: Sendable {
    private var bias = 0.0
    private(set) var dropped: Int64 = 0
    private(set) var repeated: Int64 = 0

    /// Takes what is due from `queue` and returns the newest of it; nil when nothing new is due.
    ///
    /// - Parameters:
    ///   - hostTime: The program picture's beginning in the host's time, milliseconds.
    ///   - interval: One program picture in milliseconds.
    mutating func select(from queue: inout Fifo<Picture>, hostTime: Double, interval: Double) -> Picture? {
        let half = interval / 2
        let border = hostTime + half + bias * half / 16
        var taken = 0
        var newest: Picture?
        while let next = queue.first, Double(next.presentationTimestamp) <= border {
            newest = queue.popFirst()
            taken += 1
        }
        switch taken {
        case 0:
            repeated += 1
            bias = -1
        case 1:
            break
        default:
            dropped += Int64(taken - 1)
            bias = 1
        }
        return newest
    }
}
