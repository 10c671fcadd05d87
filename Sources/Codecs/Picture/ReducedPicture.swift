import CFFmpeg

/// A picture's copy in a smaller size, on its way or whole.
///
/// It lies in memory that the frame it belongs to refers to, so that it lives as long as that; first this, then the
/// planes.
struct ReducedPicture {
    /// From the beginning of the memory to the planes.
    private static let head = 256
    private static let alignment = 64

    /// The part of the picture that is in it.
    let crop: PictureFraming.Crop
    /// Pixels, even.
    let width: Int
    /// Pixels, even.
    let height: Int
    let way: ScalingWay
    /// Of the picture as it will come out of the decoder.
    let pictureWidth: Int
    /// Of the picture as it will come out of the decoder.
    let pictureHeight: Int
    /// Where the picture's luma begins.
    let source: UnsafeMutablePointer<UInt8>
    /// Rows of the picture that have come, from the top on.
    var sourceRows = 0
    /// Rows that are made.
    var rows = 0
    /// Rows came in another order, or not as those of whole pictures.
    var isBroken = false

    /// Bytes for one of so many pixels.
    static func size(width: Int, height: Int) -> Int {
        // Vector loads may read a little past the end of a row.
        head + stride(width) * height + stride(width / 2) * height + alignment
    }

    private static func stride(_ width: Int) -> Int { (width + alignment - 1) & ~(alignment - 1) }

    /// Where it lies.
    static func at(_ memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<ReducedPicture> {
        memory.assumingMemoryBound(to: ReducedPicture.self)
    }

    /// Its planes, when it lies at `memory`.
    func planes(_ memory: UnsafeMutableRawPointer) -> PicturePlanes {
        let start = memory.advanced(by: Self.head).assumingMemoryBound(to: UInt8.self)
        let (luma, chroma) = (Self.stride(width), Self.stride(width / 2))
        let u = start + luma * height
        return PicturePlanes(
            y: .init(start: start, stride: luma),
            u: .init(start: u, stride: chroma),
            v: .init(start: u + chroma * (height / 2), stride: chroma)
        )
    }

    /// Whether it is the copy of all that is seen of `frame`, which a decoder gave out.
    func isWhole(of frame: UnsafeMutablePointer<AVFrame>) -> Bool {
        // What was damaged may have been mended after its rows had come.
        !isBroken && rows == height && frame.pointee.data.0 == source && frame.pointee.decode_error_flags == 0
            && frame.pointee.flags & AV_FRAME_FLAG_CORRUPT == 0
            && (pictureWidth, pictureHeight) == (Int(frame.pointee.width), Int(frame.pointee.height))
    }
}
