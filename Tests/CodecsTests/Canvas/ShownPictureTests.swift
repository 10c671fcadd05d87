import Media
import Testing

@testable import Codecs

@Suite("A picture shown as it is") struct ShownPictureTests {
    private func video(_ size: String, _ options: String...) throws -> FlashVideo {
        try FlashVideo(
            options: [
                "-f", "lavfi", "-i", "testsrc2=s=\(size):r=30:d=0.4", "-c:v", "libx264", "-pix_fmt", "yuv420p",
                "-colorspace", "bt709",
            ] + options
        )
    }

    private func coded(_ pictures: [Picture], isShown: Bool) throws -> [MediaPacket] {
        let settings = VideoEncoderConfiguration(width: 640, height: 360, bitrate: 1_000_000)
        var encoder = try VideoEncoder(settings)
        let canvas = try Canvas(width: 640, height: 360)
        var packets: [MediaPacket] = []
        for (index, picture) in pictures.enumerated() {
            if isShown { #expect(canvas.show(picture)) } else { try canvas.draw(picture, in: canvas.bounds) }
            try encoder.encode(canvas, index: Int64(index), timestamp: Int64(index), forceKey: false) {
                packets.append($0)
            }
        }
        return packets
    }

    @Test("it is coded to the very bytes that its copy would be, and looks the same to whoever reads the canvas")
    func same() throws {
        let video = try video("640x360")
        let decoded = try pictures(of: video.pictures, configuration: video.videoConfiguration)
        let (shown, drawn) = (try coded(decoded, isShown: true), try coded(decoded, isShown: false))
        #expect(shown.map(\.body) == drawn.map(\.body) && shown.count == 12)
        let (one, other) = (try Canvas(width: 640, height: 360), try Canvas(width: 640, height: 360))
        #expect(one.show(decoded[3]))
        try other.draw(decoded[3], in: other.bounds)
        #expect(one.fingerprint == other.fingerprint)
        let (copy, smaller) = (try Canvas(width: 640, height: 360), try Canvas(width: 320, height: 180))
        copy.copy(copy.bounds, from: one)
        #expect(copy.fingerprint == other.fingerprint)
        try smaller.scale(from: one)
        #expect(try one.png() == other.png() && one.jpeg() == other.jpeg())
    }

    @Test("what is painted afterwards is painted on the canvas, and the picture is untouched")
    func painting() throws {
        let video = try video("640x360")
        let decoded = try pictures(of: video.pictures, configuration: video.videoConfiguration)
        let (canvas, other) = (try Canvas(width: 640, height: 360), try Canvas(width: 640, height: 360))
        #expect(canvas.show(decoded[0]))
        let before = canvas.fingerprint
        let red = YUVColour(red: 255, green: 0, blue: 0)
        canvas.fill(canvas.bounds, red)
        #expect(canvas.colour(x: 100, y: 100) == red)
        #expect(canvas.show(decoded[0]) && canvas.fingerprint == before)
        canvas.fade(canvas.bounds, to: red, amount: 0.5)
        #expect(canvas.show(decoded[0]) && canvas.fingerprint == before)
        try canvas.draw(decoded[1], in: canvas.bounds)
        try other.draw(decoded[1], in: other.bounds)
        #expect(canvas.fingerprint == other.fingerprint)
    }

    @Test("what is of another size, shape, matrix or range is not shown so")
    func others() throws {
        let canvas = try Canvas(width: 640, height: 360)
        let before = canvas.fingerprint
        let others = [
            try video("636x360"), try video("1280x720"), try video("640x360", "-vf", "setsar=4/3"),
            try video("640x360", "-color_range", "pc"), try video("640x360", "-colorspace", "bt470bg"),
        ]
        for video in others {
            let decoded = try pictures(of: video.pictures, configuration: video.videoConfiguration)
            #expect(!canvas.show(try #require(decoded.first)))
        }
        #expect(canvas.fingerprint == before)
    }
}
