/// Where the program's thread puts finished pictures and sound: an encoder, or the queue to one.
protocol ProgramOutput: AnyObject {
    /// Pictures taken and not yet encoded.
    var pendingPictures: Int { get }

    /// Takes picture `index`, shown by canvas `canvas`, and one loan of that canvas.
    func takePicture(canvas: Int, index: Int64)

    /// Takes `count` samples, the first of which has position `firstSample`; copies them or is done with them on return.
    func takeSound(
        left: UnsafePointer<Float>,
        right: UnsafePointer<Float>,
        count: Int,
        firstSample: Int64
    )
}
