import CFFmpeg
import CYUV

/// Where the three planes of a 4:2:0 frame lie, and how many bytes there are from one row to the next.
struct PicturePlanes {
    /// One plane of 8-bit samples.
    struct Plane {
        let start: UnsafeMutablePointer<UInt8>
        let stride: Int

        func at(x: Int, y: Int) -> UnsafeMutablePointer<UInt8> { start + y * stride + x }

        /// Asks for rows that will be read soon.
        func prefetch(width: Int, height: Int) {
            c_prefetch_rows(start, stride, Int32(width), Int32(height))
        }

        func moved(x: Int, y: Int) -> Plane { Plane(start: at(x: x, y: y), stride: stride) }

        func copy(to target: Plane, width: Int, height: Int) {
            c_copy_rows(start, stride, target.start, target.stride, Int32(width), Int32(height))
        }
    }

    let y: Plane
    let u: Plane
    let v: Plane

    init(y: Plane, u: Plane, v: Plane) {
        self.y = y
        self.u = u
        self.v = v
    }

    /// - Parameter frame: Has three planes with data.
    init(_ frame: UnsafeMutablePointer<AVFrame>) {
        let (data, strides) = (frame.pointee.data, frame.pointee.linesize)
        // Frames come here only after their format was checked or set, so the planes are there.
        guard let y = data.0, let u = data.1, let v = data.2 else { preconditionFailure("a frame without planes") }
        self.y = Plane(start: y, stride: Int(strides.0))
        self.u = Plane(start: u, stride: Int(strides.1))
        self.v = Plane(start: v, stride: Int(strides.2))
    }

    /// Asks for the first rows, which will be read soon.
    func prefetch(width: Int, height: Int) {
        y.prefetch(width: width, height: height)
        u.prefetch(width: width / 2, height: height / 2)
        v.prefetch(width: width / 2, height: height / 2)
    }

    /// The planes of the part that begins at the even position (`x`, `y`).
    func moved(x: Int, y: Int) -> PicturePlanes {
        PicturePlanes(
            y: self.y.moved(x: x, y: y),
            u: u.moved(x: x / 2, y: y / 2),
            v: v.moved(x: x / 2, y: y / 2)
        )
    }

    /// Copies `width` x `height` pixels, both even, to where `target` begins.
    func copy(to target: PicturePlanes, width: Int, height: Int) {
        y.copy(to: target.y, width: width, height: height)
        u.copy(to: target.u, width: width / 2, height: height / 2)
        v.copy(to: target.v, width: width / 2, height: height / 2)
    }
}
