import Foundation
import GatewayModel
import Stage
import Viewership

extension ViewershipResource {
    init(_ report: RoomViewership) {
        self.init(
            room: report.room,
            concurrentViewers: report.concurrent,
            devices: report.devices,
            peakConcurrentViewers: report.peak,
            peakAt: report.peakAt.map { Timestamp($0.timeIntervalSince1970) },
            joins: report.joins,
            watchTimeSeconds: report.watchTimeSeconds,
            asOf: Timestamp(report.asOf.timeIntervalSince1970),
            staleMs: report.staleMs,
            recovering: report.recovering,
            by: BreakdownResource(report.byProtocol)
        )
    }
}

extension BreakdownResource {
    init(_ counts: [PlaybackProtocol: Int]) {
        let pairs = PlaybackProtocol.allCases.map { ($0.rawValue, counts[$0] ?? 0) }
        self.init(byProtocol: Dictionary(uniqueKeysWithValues: pairs))
    }
}

extension ViewershipTotalsResource {
    init(_ totals: ViewershipTotals) {
        self.init(
            total: ViewershipResource(totals.total),
            rooms: totals.rooms.map { ViewershipResource($0) }
        )
    }
}
