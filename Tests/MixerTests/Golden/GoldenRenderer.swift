import Codecs
import Media
import Stage

@testable import Mixer

/// Renders a program of up to twelve hosts with known frames, one layout after the other.
///
/// Each host's camera has its own colour in a white frame, so that cropping and bars are visible; screens are white in
/// a black frame, and 4:3.
final class GoldenRenderer {
    static let names = (0..<12).map { String(UnicodeScalar(UInt8(97 + $0))) }

    private let renderer: ProgramRenderer
    private var inputs: [(input: HostInput, packets: [MediaPacket])] = []
    private var now = 0.0
    private var fed: Int64 = 0
    let width: Int
    let height: Int

    init(width: Int, height: Int, cameras: [[MediaPacket]], screen: [MediaPacket]) throws {
        (self.width, self.height) = (width, height)
        let ring = try CanvasRing(width: width, height: height)
        renderer = ProgramRenderer(
            configuration: ProgramConfiguration(width: width, height: height, frameRate: FrameRate(15)),
            ring: ring,
            output: RecordingOutput(ring: ring)
        )
        for (name, packets) in zip(Self.names, cameras) {
            inputs.append((renderer.addHost(name), packets))
            inputs.append((renderer.addHost(name + ".screen"), screen))
        }
        advance(by: 3000)
    }

    /// Returns the packets of all cameras, and of a screen.
    static func clips() throws -> (cameras: [[MediaPacket]], screen: [MediaPacket]) {
        let cameras = try names.indices.map { index in
            try clip(width: 320, height: 180, colour(of: index), frame: .white)
        }
        return (cameras, try clip(width: 320, height: 240, .white, frame: .black))
    }

    static func colour(of index: Int) -> YUVColour {
        // Evenly distributed hues, in three steps of brightness.
        let hue = Double(index) / 12 * 6
        let light = [200.0, 150, 110][index % 3]
        func part(_ shift: Double) -> UInt8 {
            let position = (hue + shift).truncatingRemainder(dividingBy: 6)
            return UInt8(30 + light * min(max(abs(position - 3) - 1, 0), 1))
        }
        return YUVColour(red: part(0), green: part(4), blue: part(2))
    }

    private static func clip(
        width: Int,
        height: Int,
        _ colour: YUVColour,
        frame: YUVColour
    ) throws -> [MediaPacket] {
        let clip = try HostClip.make(
            width: width,
            height: height,
            frameRate: 5,
            paint: { canvas, _ in
                canvas.fill(canvas.bounds, frame)
                canvas.fill(PixelRectangle(x: 16, y: 16, width: width - 32, height: height - 32), colour)
            },
            sample: nil
        )
        return clip.packets(from: 0, to: HostClip.length)
    }

    /// Returns the canvas of `scene` after all transitions.
    func renderedCanvas(of scene: Scene) -> Canvas {
        var scene = scene
        scene.transition = 0
        renderer.apply(scene)
        advance(by: 400)
        return renderer.newestCanvas
    }

    private func advance(by length: Double) {
        let end = now + length
        while now < end {
            now += 50
            for (input, packets) in inputs {
                for packet in packets where packet.isConfiguration ? fed == 0 : Self.isDue(packet, from: fed, to: now) {
                    var packet = packet
                    packet.timestamp +=
                        (Int64(now) - packet.timestamp % HostClip.length) / HostClip.length * HostClip.length
                    input.receive(packet, arrival: TestProgram.moment(now))
                }
            }
            fed = Int64(now)
            renderer.advance(to: TestProgram.moment(now))
        }
    }

    /// Returns whether a repetition of the packet in the endless loop is after `from` and not after `to`.
    private static func isDue(_ packet: MediaPacket, from: Int64, to: Double) -> Bool {
        let phase = (Int64(to) - packet.timestamp % HostClip.length) / HostClip.length
        let time = packet.timestamp + phase * HostClip.length
        return time <= Int64(to) && time > from
    }
}
