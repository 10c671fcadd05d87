import Media

/// How old host pictures were when the program showed them first, in milliseconds.
struct PictureAges {
    /// Since they were taken.
    private(set) var ages = Samples()
    /// Since the host had sent them, and the sound of the same moment.
    private(set) var added = Samples()
    /// Program pictures that showed a host's last picture again.
    private(set) var repeated = 0
    /// Tiles without a code that could be read.
    private(set) var unread = 0

    /// Counts one tile of one program picture.
    ///
    /// - Parameters:
    ///   - last: The code it showed before.
    ///   - sent: By code, when the host had sent the picture and the sound beside it.
    mutating func add(
        _ code: UInt32?,
        after last: inout UInt32,
        arrival: MonotonicTime,
        sent: [UInt32: MonotonicTime]
    ) {
        guard let code else {
            unread += 1
            return
        }
        guard code != last else {
            repeated += 1
            return
        }
        last = code
        // The code has whole milliseconds, rounded down: half a millisecond more on average.
        let micros = arrival.nanoseconds / 1000 - Int64(code) * 1000
        let wrapped = micros % (Int64(UInt32.max) * 1000 + 1000)
        ages.add(Double(wrapped) / 1000 - 0.5)
        if let sent = sent[code] { added.add(arrival.seconds(since: sent) * 1000) }
    }
}
