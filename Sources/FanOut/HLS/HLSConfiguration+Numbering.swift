public import HLS

extension HLSConfiguration {
    /// Seconds since 1970 from which runs are numbered: the first of January 2020.
    private static let numberingBegan = 1_577_836_800.0

    /// The number of the first segment of a run that begins at a moment.
    ///
    /// Players that stay over a restart know numbers of the run before, and one that falls is a broken playlist to them.
    /// So numbers follow the clock, twice as fast as segments can: none of a later run was ever given out before.
    ///
    /// - Parameter secondsSince1970: of the wall clock.
    public func firstNumber(at secondsSince1970: Double) -> Int {
        max(0, Int((secondsSince1970 - Self.numberingBegan) / (segmentDuration / 2)))
    }
}
