/// Where the program's thread puts the sound that is meant for single hosts.
protocol ReturnOutput: AnyObject {
    /// Takes `count` samples of what `host` is to hear, the first of which has position `firstSample`; copies them or is
    /// done with them on return.
    func takeReturn(
        _ host: String,
        left: UnsafePointer<Float>,
        right: UnsafePointer<Float>,
        count: Int,
        firstSample: Int64
    )
}
