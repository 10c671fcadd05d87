import FanOut
import Stage
import Testing

@testable import Gateway

@Suite("What operators are told of renditions that stand still") struct RenditionWatchTests {
    private let name = RenditionFeedName(room: "show", rendition: "720p")

    @Test("Each output is told of once when its rendition stops, and once when it is made again")
    func once() {
        var watch = RenditionWatch()
        func look(_ still: [RenditionFeedName: Set<String>], exists: Bool = true) -> [String] {
            watch.look(at: still) { _ in exists }.map { room, warning in
                "\(room) \(warning.reason.rawValue) \(warning.output ?? "")"
            }
        }
        #expect(look([:]).isEmpty)
        // Nobody pushes it.
        #expect(look([name: []]).isEmpty)
        #expect(look([name: ["tube"]]) == ["show rendition_stopped tube"])
        #expect(look([name: ["tube"]]).isEmpty)
        #expect(look([name: ["tube", "face"]]) == ["show rendition_stopped face"])
        #expect(look([:]) == ["show rendition_resumed face", "show rendition_resumed tube"])
        #expect(look([:]).isEmpty)
        #expect(look([name: ["tube"]]) == ["show rendition_stopped tube"])
        #expect(look([:], exists: false).isEmpty)
    }
}
