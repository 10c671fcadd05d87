import Media
import Testing

@testable import Mixer

@Suite("What waits for a rendition's encoder") struct RungQueueTests {
    @Test("pictures that find no room are left out and counted; the sound stays")
    func drops() {
        var queue = RungQueue(canvases: 3)
        for index in 0..<5 as Range<Int64> {
            if let canvas = queue.takeCanvas(index: index, isKey: false) {
                queue.append(.picture(canvas: canvas, index: index, isKey: false))
            }
            queue.append(.soundPromise(index))
        }
        #expect(queue.dropped == 2)
        var jobs: [RungQueue.Job] = []
        while let job = queue.next() { jobs.append(job) }
        #expect(jobs.count == 10)
        #expect(jobs.contains(.skipped(index: 3)) && jobs.contains(.skipped(index: 4)))
    }

    @Test("a key picture takes the place of the newest that waits, so that it stays on its moment")
    func keys() {
        var queue = RungQueue(canvases: 3)
        for index in 0..<3 as Range<Int64> {
            if let canvas = queue.takeCanvas(index: index, isKey: false) {
                queue.append(.picture(canvas: canvas, index: index, isKey: false))
            }
        }
        let canvas = queue.takeCanvas(index: 3, isKey: true)
        #expect(canvas != nil)
        if let canvas { queue.append(.picture(canvas: canvas, index: 3, isKey: true)) }
        var pictures: [Int64] = []
        while let job = queue.next() { if case .picture(_, let index, _) = job { pictures.append(index) } }
        #expect(pictures == [0, 1, 3])
        #expect(queue.dropped == 1)
    }

    @Test("a canvas that was given back is free again")
    func givingBack() {
        var queue = RungQueue(canvases: 1)
        #expect(queue.takeCanvas(index: 0, isKey: true) == 0)
        #expect(queue.takeCanvas(index: 1, isKey: false) == nil)
        queue.giveBack(0)
        #expect(queue.takeCanvas(index: 2, isKey: false) == 0)
    }
}
