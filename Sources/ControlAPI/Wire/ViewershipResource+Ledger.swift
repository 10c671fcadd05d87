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
            by: BreakdownResource(report)
        )
        leaves = report.leaves
        resumable = report.resumable
        unfilteredViewers = report.unfiltered
        excluded = Dictionary(uniqueKeysWithValues: report.excluded.map { ($0.key.rawValue, $0.value) })
        switches = report.switches
        stalledSeconds = report.stalledSeconds
        averageStartupSeconds = report.startups > 0 ? report.startupSeconds / Double(report.startups) : nil
        uniques = UniquesResource(report.uniques)
    }
}

extension BreakdownResource {
    init(_ report: RoomViewership) {
        let ways = PlaybackProtocol.allCases.map { ($0.rawValue, report.byProtocol[$0] ?? 0) }
        let players = ClientClass.allCases.map { ($0.rawValue, report.byClient[$0] ?? 0) }
        self.init(
            byProtocol: Dictionary(uniqueKeysWithValues: ways),
            byRendition: report.byRendition,
            byRegion: report.byRegion,
            byClient: Dictionary(uniqueKeysWithValues: players)
        )
    }
}

extension UniquesResource {
    init(_ viewers: UniqueViewers) {
        self.init(
            users: viewers.users,
            devices: viewers.devices,
            estimated: viewers.estimated,
            approximate: viewers.isApproximate
        )
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

extension ViewershipResource {
    /// The figures without the moment that they are of; as long as time goes on at all.
    var timeless: ViewershipResource {
        var figures = self
        figures.asOf = Timestamp(0)
        figures.staleMs = staleMs / 3000
        return figures
    }
}

extension ViewershipTotalsResource {
    /// The figures without the moment that they are of.
    var timeless: ViewershipTotalsResource {
        ViewershipTotalsResource(total: total.timeless, rooms: rooms.map(\.timeless))
    }
}
