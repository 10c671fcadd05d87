import Media
import Stage

@testable import Viewership

extension FuzzTarget {
    /// Session ids, player reports (CMCD), and log lines: one per line.
    static let session = FuzzTarget("session") { input in
        let lines = input.lines
        let sid = lines[0]
        if let id = SessionID(sid) { demand(id.text == sid, "an id has one text") }
        let keys = SessionKeys(current: SessionKey(version: 1, secret: Array(1...32)))
        let ledger = ViewershipLedger(keys: keys)
        ledger.roomBegan("show", sid: "RM_1")
        let own = ledger.makeSession(room: "show")
        var player = PlayerRequest(sid: sid.isEmpty ? own : sid, userAgent: lines.count > 2 ? lines[2] : nil)
        player.cmcd = lines.count > 1 ? lines[1] : nil
        player.address = lines.count > 3 ? lines[3] : nil
        player.region = lines.count > 4 ? lines[4] : nil
        _ = ledger.admit(player, to: "show")
        for name in [sid, own] {
            _ = ledger.accepts(sid: name, room: "show")
            for _ in 0..<2 {
                var report = PlayerReport(CMCDItems(lines.count > 1 ? lines[1] : ""))
                report.sid = report.sid ?? name
                _ = ledger.receive(report, room: "show", from: player)
            }
        }
        _ = ledger.report(room: "show")
        _ = ledger.totals()
    }
}
