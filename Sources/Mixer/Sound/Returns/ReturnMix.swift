/// The sound that one host hears: all of the program but itself, limited by itself.
final class ReturnMix {
    let samples = StereoBuffer(capacity: ProgramTime.quantum)
    /// Nothing has come of it yet.
    var isFirst = true
    private var limiter = Limiter()

    /// Makes the next quantum.
    ///
    /// - Parameters:
    ///   - sum: Everything, before any limiter; is left as it is.
    ///   - host: Who is taken out of it; nil for one that is not there.
    func make(of sum: borrowing StereoBuffer, without host: ProgramHost?) {
        samples.left.update(from: sum.left, count: ProgramTime.quantum)
        samples.right.update(from: sum.right, count: ProgramTime.quantum)
        host?.sound.remove(from: samples)
        limiter.process(samples.left, samples.right, count: ProgramTime.quantum)
    }
}
