import FanOut
import Stage
import Testing

@testable import Gateway

@Suite("Viewers' demands for programs") struct PendingProgramsTests {
    @Test("reports each present demand every time, and each former one once")
    func update() {
        var pending = PendingPrograms()
        func update(_ entries: Set<PendingPrograms.Entry>) -> Set<String> {
            Set(pending.update(to: entries).map { "\($0.entry.room) \($0.entry.demand) \($0.isOn)" })
        }
        let a = PendingPrograms.Entry(room: "a", demand: .viewers)
        let early = PendingPrograms.Entry(room: "a", demand: .opening)
        let b = PendingPrograms.Entry(room: "b", demand: .viewers)
        #expect(update([]) == [])
        #expect(update([a, early, b]) == ["a viewers true", "a opening true", "b viewers true"])
        #expect(update([a]) == ["a viewers true", "a opening false", "b viewers false"])
        #expect(update([a]) == ["a viewers true"])
        #expect(update([]) == ["a viewers false"])
        #expect(update([]) == [])
    }
}

@Suite("Warnings about stalled renditions") struct RenditionMonitorTests {
    private let name = RenditionFeedName(room: "show", rendition: "720p")

    @Test("warns once per output when its rendition stops, and once when it resumes")
    func renditionWarnings() {
        var monitor = RenditionMonitor()
        func update(_ stalled: [RenditionFeedName: Set<String>], exists: Bool = true) -> [String] {
            monitor.update(stalled: stalled) { _ in exists }.map { room, warning in
                "\(room) \(warning.reason.rawValue) \(warning.output ?? "")"
            }
        }
        #expect(update([:]).isEmpty)
        // No output pushes the rendition.
        #expect(update([name: []]).isEmpty)
        #expect(update([name: ["tube"]]) == ["show rendition_stopped tube"])
        #expect(update([name: ["tube"]]).isEmpty)
        #expect(update([name: ["tube", "face"]]) == ["show rendition_stopped face"])
        #expect(update([:]) == ["show rendition_resumed face", "show rendition_resumed tube"])
        #expect(update([:]).isEmpty)
        #expect(update([name: ["tube"]]) == ["show rendition_stopped tube"])
        #expect(update([:], exists: false).isEmpty)
    }
}
