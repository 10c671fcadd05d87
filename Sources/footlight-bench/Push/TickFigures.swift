/// How even a program came out of the mixer, in milliseconds.
struct TickFigures {
    /// How much later than the earliest one each picture came, against the even clock of its timestamp.
    var late = Samples()
    /// The latest the program's thread ever woke.
    var latestWake = 0.0
    /// Pictures that were left out or repeated because a thread was late.
    var missed: Int64 = 0
    /// Packets the stalled output had to drop.
    var dropped: UInt64 = 0
}
