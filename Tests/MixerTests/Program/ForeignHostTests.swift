import Codecs
import Media
import Testing

@testable import Mixer

@Suite("Hosts as other encoders make them") struct ForeignHostTests {
    @Test("B-frames, 25 pictures a second, 4:3, and 44.1 kHz on one channel")
    func ordinary() throws {
        let packets = try FLVClip.make([
            "-f", "lavfi", "-i", "color=c=0xC81E1E:s=400x300:r=25:d=5",
            "-f", "lavfi", "-i", "sine=f=440:r=44100:d=5",
            "-vf", "drawbox=x=0:y=0:w=400:h=300:c=white:t=fill:enable='lt(mod(t,1),0.2)',format=yuv420p",
            "-af", "volume=volume='if(lt(mod(t,1),0.2),4,0.4)':eval=frame,asetnsamples=441",
            "-c:v", "libx264", "-preset", "veryfast", "-bf", "3", "-g", "50", "-x264-params", "b-adapt=0",
            "-c:a", "aac", "-ac", "1", "-ar", "44100", "-b:a", "96k",
        ])
        #expect(packets.contains { $0.compositionOffset > 0 })
        let rehearsal = try Rehearsal()
        rehearsal.show(["a"])
        rehearsal.feed("a", packets) { Double($0) + 30 }
        rehearsal.run(to: 5000)
        let host = rehearsal.host("a")
        #expect(host.decodeErrors == 0 && host.soundGaps == 0 && host.offsetSteps == 0)
        #expect(host.picturesDropped <= 2)
        #expect(TestTone.level(of: 440, in: rehearsal.output.sound(from: 1000, to: 4800)) > 0.03)
        // The middle is red or white, filled to the edges of a 16:9 tile.
        let pictures = rehearsal.output.pictures.filter { (1000..<4700).contains(rehearsal.time(of: $0.index)) }
        #expect(
            pictures.allSatisfy { isNear($0.colours[0], .red, within: 12) || isNear($0.colours[0], .white, within: 12) }
        )
        let flashes = zip(pictures, pictures.dropFirst()).compactMap { before, after in
            before.colours[0].y < 120 && after.colours[0].y > 200 ? rehearsal.time(of: after.index) : nil
        }
        #expect(flashes.count >= 3)
        for flash in flashes {
            // Loud begins within one of ffmpeg's own steps of 10 ms from the flash.
            let window = rehearsal.output.sound(from: Int(flash) - 150, to: Int(flash) + 150)
            let beep = window.firstIndex { abs($0) > 0.2 }.map { Double($0) / 48 }
            #expect(abs((beep ?? 1e9) - flash) < 40)
        }
    }
}
