@testable import ControlAPI
import Foundation
import FootlightModel
import NIOCore
import Stage

extension FuzzTarget {
    /// JSON request bodies: rooms, layouts, audio settings, participants, outputs, and mixer reports.
    static let api = FuzzTarget("api") { input in
        let json = Data(input.rest.readableBytesView)
        let directory = RoomDirectory(pepper: [1, 2, 3])
        if let body = try? WireJSON.decode(CreateRoomBody.self, from: json), let settings = try? RoomSettings(body) {
            _ = try? directory.create(settings)
        }
        if let body = try? WireJSON.decode(LayoutBody.self, from: json) {
            var layout = LayoutSettings()
            if (try? layout.apply(body)) != nil { _ = try? layout.validate() }
        }
        if let body = try? WireJSON.decode(JoinBody.self, from: json) { _ = try? CallSettings(body, limit: 5000) }
        if let body = try? WireJSON.decode(StartLivestreamBody.self, from: json) {
            _ = try? LivestreamOptions(body).validate()
        }
        if let body = try? WireJSON.decode(MixerReportBody.self, from: json) {
            _ = try? body.load.map { try MixerLoad($0) }
            if let frames = body.frames.flatMap({ MixerFrames($0) }) {
                demand(frames.counts.reduce(0, +) >= 0, "counts can be summed up")
            }
            _ = body.participants.compactMap { $0.sync.map { HostSync($0) } }
        }
    }
}
