import Foundation
import Media
import Testing

@testable import Mixer

@Suite("Decode markers") final class DecodeMarkersTests {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).marks").path

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    @Test("a marker is set from its begin to its end, and no other is")
    func markedNames() throws {
        let markers = try #require(DecodeMarkers(path: path))
        let (first, second) = (try #require(markers.marker(for: "a")), try #require(markers.marker(for: "b.screen")))
        #expect(DecodeMarkers.markedNames(in: path) == [])
        second.begin()
        #expect(DecodeMarkers.markedNames(in: path) == ["b.screen"])
        first.begin()
        #expect(DecodeMarkers.markedNames(in: path) == ["a", "b.screen"])
        second.end()
        #expect(DecodeMarkers.markedNames(in: path) == ["a"])
    }

    @Test("a slot is free again when its host is gone")
    func slots() throws {
        let markers = try #require(DecodeMarkers(path: path))
        var held = (0..<64).map { markers.marker(for: "host \($0)") }
        #expect(held.allSatisfy { $0 != nil } && markers.marker(for: "one more") == nil)
        held[7]?.begin()
        held[7] = nil
        #expect(DecodeMarkers.markedNames(in: path) == [])
        let next = try #require(markers.marker(for: "next"))
        next.begin()
        #expect(DecodeMarkers.markedNames(in: path) == ["next"])
        #expect(markers.marker(for: String(repeating: "x", count: 63)) == nil)
    }

    @Test("markers outlive their process, and a new mixer begins without any")
    func outlive() throws {
        var markers = DecodeMarkers(path: path)
        let marker = try #require(markers?.marker(for: "a"))
        marker.begin()
        markers = nil
        #expect(DecodeMarkers.markedNames(in: path) == ["a"])
        let next = try #require(DecodeMarkers(path: path))
        #expect(DecodeMarkers.markedNames(in: path) == [])
        withExtendedLifetime((marker, next)) {}
        #expect(DecodeMarkers.markedNames(in: path + ".none") == [])
        #expect(DecodeMarkers(path: "/nowhere/at/all") == nil)
    }
}

@Suite("Decode stall monitor")
struct DecodeStallMonitorTests {
    private let inputs = ["a", "b"].map { name in
        let anchor = ProgramAnchor(start: MonotonicTime(nanoseconds: 0), firstSample: 0)
        return HostInput(id: name, anchor: anchor, jitterTarget: 300)
    }

    private var counters: [(id: String, work: UInt64)] { inputs.map { ($0.id, $0.work) } }

    @Test("a thread is reported once, after ten checks in the same packet, and no other input is")
    func stalled() {
        var monitor = DecodeStallMonitor()
        inputs[0].beginWork()
        var found: [Int: String] = [:]
        for check in 1...30 {
            // The other input is decoding at each check too, but another packet.
            inputs[1].beginWork()
            if let id = monitor.check(counters) { found[check] = id }
            inputs[1].endWork()
        }
        #expect(found == [10: "a"])
    }

    @Test("a thread that finishes its packets is not reported")
    func slow() {
        var monitor = DecodeStallMonitor()
        for _ in 1...5 {
            inputs[0].beginWork()
            for _ in 1...9 { #expect(monitor.check(counters) == nil) }
            inputs[0].endWork()
            #expect(monitor.check(counters) == nil)
        }
    }
}
