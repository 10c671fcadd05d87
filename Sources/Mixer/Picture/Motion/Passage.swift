/// The time in which one thing takes another's place, in samples of the program's counter.
struct Passage: Sendable, Hashable {
    var begin: Int64 = 0
    /// 0 is at once.
    var length: Int64 = 0

    func isUnderWay(at sample: Int64) -> Bool { sample < begin + length }

    /// How far things are at `sample`: 0 to 1, slow at both ends.
    func amount(at sample: Int64) -> Double {
        guard isUnderWay(at: sample) else { return 1 }
        let time = Double(max(sample - begin, 0)) / Double(length)
        return time * time * (3 - 2 * time)
    }
}
