@testable import FanOut
import Foundation
import Media
import NIOCore
import Stage
import Viewership

extension FuzzTarget {
    /// Access log lines: nginx's over UDP, and a CDN's in JSON.
    static let log = FuzzTarget("log") { input in
        let keys = SessionKeys(current: SessionKey(version: 1, secret: Array(1...32)))
        let ledger = ViewershipLedger(keys: keys)
        ledger.roomBegan("show", sid: "RM_1")
        let own = ledger.makeSession(room: "show")
        for line in input.lines {
            // The id of an existing session, because a fuzzer cannot guess one.
            let line = line.replacing("SID", with: own)
            if let beat = AccessLogLine(line) {
                demand((0...1 << 40).contains(beat.bytes), "bytes are bounded")
                for _ in 0..<2 { _ = ledger.receive(beat) }
            }
            for usesDeviceIDs in [false, true] {
                guard let request = try? LoggedRequest(Data(line.utf8), usesDeviceIDs: usesDeviceIDs) else { continue }
                demand(!(request.date?.isNaN ?? false), "a date is a number")
                _ = ledger.admit(request.player, to: request.room)
            }
        }
        _ = ledger.report(room: "show")
        if case .success(let text) = Gzip.expand(input.rest, limit: 1 << 20) {
            demand(text.readableBytes <= 1 << 20, "what is expanded is bounded")
        }
    }
}
