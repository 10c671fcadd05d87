import Foundation
import Testing

@testable import Mixer

@Suite("Whose media is being decoded, as seen from outside") final class WorkMarksTests {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).marks").path

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    @Test("A mark is there from its beginning to its end, and no other")
    func marked() throws {
        let marks = try #require(WorkMarks(path: path))
        let (first, second) = (try #require(marks.mark(for: "a")), try #require(marks.mark(for: "b.screen")))
        #expect(WorkMarks.marked(in: path) == [])
        second.begin()
        #expect(WorkMarks.marked(in: path) == ["b.screen"])
        first.begin()
        #expect(WorkMarks.marked(in: path) == ["a", "b.screen"])
        second.end()
        #expect(WorkMarks.marked(in: path) == ["a"])
    }

    @Test("A place is free again when its host is gone, however many come and go")
    func places() throws {
        let marks = try #require(WorkMarks(path: path))
        var held = (0..<64).map { marks.mark(for: "host \($0)") }
        #expect(held.allSatisfy { $0 != nil } && marks.mark(for: "one more") == nil)
        held[7]?.begin()
        held[7] = nil
        #expect(WorkMarks.marked(in: path) == [])
        let next = try #require(marks.mark(for: "next"))
        next.begin()
        #expect(WorkMarks.marked(in: path) == ["next"])
        #expect(marks.mark(for: String(repeating: "x", count: 63)) == nil)
    }

    @Test("Marks outlive whoever made them, and another mixer begins without any")
    func outlive() throws {
        var marks = WorkMarks(path: path)
        let mark = try #require(marks?.mark(for: "a"))
        mark.begin()
        marks = nil
        #expect(WorkMarks.marked(in: path) == ["a"])
        let next = try #require(WorkMarks(path: path))
        #expect(WorkMarks.marked(in: path) == [])
        withExtendedLifetime((mark, next)) {}
        #expect(WorkMarks.marked(in: path + ".none") == [])
        #expect(WorkMarks(path: "/nowhere/at/all") == nil)
    }
}
