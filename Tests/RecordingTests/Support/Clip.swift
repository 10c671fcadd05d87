import FootlightTesting
import Media

/// Programs of a few seconds that tests record, encoded once.
enum Clip {
    /// Seven seconds in red with a tone of 440 Hz, a key picture every two seconds.
    static let red = Task { try await make(Colour(red: 200, green: 20, blue: 20), width: 320, tone: 440) }
    /// As `red`, in another size: another decoder configuration.
    static let wide = Task { try await make(Colour(red: 20, green: 20, blue: 200), width: 480, tone: 880) }

    private static func make(_ colour: Colour, width: Int, tone: Double) async throws -> [MediaPacket] {
        var picture = HostPicture(colour)
        picture.width = width
        picture.height = 180
        picture.bitRate = 300
        let folder = try TemporaryFolder("clip")
        let script = HostScript(picture: picture, sound: .tone(tone))
        try await FFmpeg.encode(script, seconds: 7, to: folder.file("clip.flv"))
        return try FLVFile(path: folder.file("clip.flv")).packets
    }
}
