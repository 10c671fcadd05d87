import Codecs

/// Takes a program's raw pictures and sound only to remember what they were.
final class FingerprintOutput: ProgramOutput {
    private let ring: CanvasRing
    private(set) var fingerprint = ProgramFingerprint()
    private var nextSample: Int64?

    init(ring: CanvasRing) {
        self.ring = ring
    }

    var pendingPictures: Int { 0 }

    func takePicture(canvas: Int, index: Int64) {
        let picture = Self.mix(fingerprint.picture, UInt64(bitPattern: index))
        fingerprint.picture = Self.mix(picture, ring.canvases[canvas].fingerprint)
        fingerprint.pictures += 1
        ring.giveBack(canvas)
    }

    func takeSound(left: UnsafePointer<Float>, right: UnsafePointer<Float>, count: Int, firstSample: Int64) {
        var value = fingerprint.sound
        // How the sound is cut into calls does not matter; a leap of its time does.
        if firstSample != nextSample { value = Self.mix(value, UInt64(bitPattern: firstSample)) }
        for index in 0..<count {
            value = Self.mix(value, UInt64(left[index].bitPattern) << 32 | UInt64(right[index].bitPattern))
        }
        nextSample = firstSample + Int64(count)
        fingerprint.sound = value
        fingerprint.samples += Int64(count)
    }

    private static func mix(_ value: UInt64, _ word: UInt64) -> UInt64 {
        let product = (value ^ word ^ 0xCBF2_9CE4_8422_2325) &* 0x0000_0100_0000_01B3
        return product << 23 | product >> 41
    }
}
