import Media

extension SyntheticProgram {
    /// Pictures at any rate, with timestamps of whole milliseconds as a feed has them, and sound beside them.
    ///
    /// - Parameters:
    ///   - rate: Pictures a second.
    ///   - interval: Seconds from one key picture to the next.
    static func pictures(
        from start: Int64 = 0,
        rate: Double,
        seconds: Double,
        keyInterval interval: Double = 2
    ) -> [MediaPacket] {
        let group = max(1, Int((interval * rate).rounded()))
        var packets = (0..<Int(seconds * rate)).map { number in
            picture(start + Int64((Double(number) * 1000 / rate).rounded()), isKey: number % group == 0)
        }
        packets += sounds(from: start, seconds: seconds)
        packets = packets.enumerated().sorted { ($0.element.timestamp, $0.offset) < ($1.element.timestamp, $1.offset) }
            .map(\.element)
        return [videoConfiguration, audioConfiguration] + packets
    }
}
