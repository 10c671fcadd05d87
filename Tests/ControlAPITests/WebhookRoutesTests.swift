import FootlightTesting
import Foundation
import FootlightModel
import Synchronization
import TestSupport
import Testing
import Viewership

@testable import ControlAPI
@testable import Stage
@testable import Webhooks

@Suite("Webhook routes", .enabled(if: TestRun.isFull))
struct WebhookRoutesTests {
    private static let good =
        #"{"url":"https://hooks.example/in","description":"billing","types":["room.*"],"room":"show"}"#

    private func make(_ server: ControlServer, _ body: String = good) async throws -> WebhookResource {
        let answer = try await server.ask("POST", "/v1/webhooks", body)
        #expect(answer.status == 201)
        return try answer.decode(WebhookResource.self)
    }

    @Test("The secret is returned once; afterwards a webhook is read, listed, changed, rotated and deleted without it")
    func life() async throws {
        try await ControlServer.run { (server) async throws in
            let made = try await make(server)
            #expect(
                WebhookSecret(made.secret) != nil && made.enabled && made.types == ["room.*"] && made.room == "show"
            )
            let read = try await server.ask("GET", "/v1/webhooks/\(made.id)").decode(WebhookResource.self)
            #expect(read.secret == "whsec_****" + made.secret.suffix(4) && read.description == "billing")
            let list = try await server.ask("GET", "/v1/webhooks")
            #expect(try list.decode(WebhookList.self).webhooks == [read] && !list.text.contains(made.secret))

            let change = #"{"types":[],"room":null,"enabled":false}"#
            let changed = try await server.ask("PATCH", "/v1/webhooks/\(made.id)", change).decode(WebhookResource.self)
            #expect(changed.types.isEmpty && changed.room == nil && changed.disabledReason == "operator")
            #expect(changed.url == made.url && changed.description == "billing" && changed.secret == read.secret)
            let kept = try await server.ask("PATCH", "/v1/webhooks/\(made.id)", #"{"enabled":true}"#)
            #expect(try kept.decode(WebhookResource.self).disabledReason == nil)

            let rotated = try await server.ask("POST", "/v1/webhooks/\(made.id)/rotate").decode(WebhookResource.self)
            #expect(WebhookSecret(rotated.secret) != nil && rotated.secret != made.secret)
            let until = try #require(rotated.formerSecretUntil)
            #expect(abs(until.seconds - Date().timeIntervalSince1970 - 86_400) < 60)

            #expect(try await server.ask("DELETE", "/v1/webhooks/\(made.id)").status == 204)
            for (method, path) in [
                ("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/test"), ("GET", "/deliveries"),
            ] {
                let body = method == "PATCH" ? "{}" : nil
                let answer = try await server.ask(method, "/v1/webhooks/\(made.id)\(path)", body)
                #expect(answer.refusal == "404/404" && answer.error?.name == "WebhookNotFoundError")
            }
            let lines = server.log.lines
            #expect(lines.contains { $0.metadata["webhook"] == made.id })
            #expect(!lines.contains { "\($0)".contains(made.secret) || "\($0)".contains("hooks.example") })
        }
    }

    @Test(
        "Rejects invalid values, naming the field",
        arguments: [
            (#"{"types":["room.*"]}"#, "url"), (#"{"url":"http://hooks.example"}"#, "url"),
            (#"{"url":"https://a@b.example"}"#, "url"),
            (#"{"url":"https://a.example","types":["room.*","none"]}"#, "none"),
            (#"{"url":"https://a.example","types":["viewership.updated"]}"#, "viewership.updated"),
            (#"{"url":"https://a.example","room":""}"#, "room"),
        ]
    )
    func refused(body: String, word: String) async throws {
        try await ControlServer.run { (server) async throws in
            let answer = try await server.ask("POST", "/v1/webhooks", body)
            #expect(answer.status == 400 && answer.error?.message.contains(word) == true)
            #expect(server.webhooks.endpoints().isEmpty)
        }
    }

    @Test("Only operators manage webhooks, up to the maximum number")
    func rights() async throws {
        try await ControlServer.run { (server) async throws in
            let made = try await make(server)
            let token = try await server.tokens.issue(identity: "eve", room: "show", mode: .receiveOnly, expiresIn: 60)
            for (method, path) in [
                ("GET", ""), ("POST", ""), ("GET", "/\(made.id)"), ("PATCH", "/\(made.id)"), ("DELETE", "/\(made.id)"),
                ("POST", "/\(made.id)/test"), ("POST", "/\(made.id)/rotate"), ("GET", "/\(made.id)/deliveries"),
            ] {
                let body = method == "POST" || method == "PATCH" ? Self.good : nil
                #expect(
                    try await server.ask(method, "/v1/webhooks\(path)", body, as: .token(token)).refusal == "403/20106"
                )
                #expect(
                    try await server.ask(method, "/v1/webhooks\(path)", body, as: .unauthenticated).refusal
                        == "401/20101"
                )
            }
            _ = try await make(server)
            _ = try await make(server)
            #expect(try await server.ask("POST", "/v1/webhooks", Self.good).refusal == "409/409")
        }
    }

    @Test("Room events are queued for their subscribers in the format of the event stream, and listed by pages")
    func deliveries() async throws {
        try await ControlServer.run { (server) async throws in
            let made = try await make(server)
            let routes = server.routes()
            let observation = server.directory.observe { event in
                if let news = routes.webhookEvents.webhookEvent(of: event) { server.webhooks.post(news) }
            }
            try await server.makeRoom()
            try await server.makeRoom("other")
            _ = try await server.join("show", "ann")
            _ = try await server.ask("POST", "/v1/rooms/show", #"{"status":"completed"}"#)
            let path = "/v1/webhooks/\(made.id)/deliveries"
            func list(_ query: String = "") async throws -> WebhookDeliveryList {
                try await server.ask("GET", path + query).decode(WebhookDeliveryList.self)
            }
            let isThere = try await eventually {
                try await list().deliveries.contains { $0.type == "room.ended" }
            }
            let all = try await list().deliveries
            #expect(
                isThere && all.last?.type == "room.created" && all.allSatisfy { $0.type.rawValue.hasPrefix("room.") }
            )
            #expect(
                all.allSatisfy { $0.room == "show" && $0.state == "pending" && $0.tries == 0 && $0.attempts.isEmpty }
            )
            let first = try await list("?page_size=1")
            let token = try #require(first.meta.nextPageToken)
            let second = try await list("?page_size=1&page_token=\(token)")
            #expect(first.deliveries.count == 1 && second.deliveries.count == 1)
            #expect((first.deliveries.first?.seq ?? 0) > (second.deliveries.first?.seq ?? .max))
            #expect(try await server.ask("GET", path + "?page_size=0").refusal == "400/3073")
            #expect(try await server.ask("GET", path + "?page_token=x").refusal == "400/3073")
            let now = try await server.ask("GET", "/v1/webhooks/\(made.id)").decode(WebhookResource.self)
            #expect(now.pending >= all.count)
            observation.cancel()
        }
    }

    @Test("A webhook of a show receives the events of its rooms only, is not copied, and is removed with the show")
    func ofShow() async throws {
        try await ControlServer.run { (server) async throws in
            let routes = server.routes()
            let observation = server.directory.observe { event in
                if let news = routes.webhookEvents.webhookEvent(of: event) { server.webhooks.post(news) }
            }
            let show = try await server.ask("POST", "/v1/shows", #"{"name":"weekly"}"#).decode(ShowResource.self)
            let all = try await make(server, #"{"url":"https://hooks.example/all"}"#)
            let body = #"{"url":"https://hooks.example/weekly","show":"\#(show.id)"}"#
            let made = try await make(server, body)
            #expect(made.show == "weekly" && made.room == nil && all.show == nil)

            func list(_ name: String) async throws -> [WebhookResource] {
                try await server.ask("GET", "/v1/shows/\(name)/webhooks").decode(WebhookList.self).webhooks
            }
            let listed = try await list("weekly")
            #expect(listed.map(\.id) == [made.id] && listed.first?.secret == "whsec_****" + made.secret.suffix(4))
            #expect(try await server.ask("GET", "/v1/shows/none/webhooks").refusal == "404/53420")
            let token = try await server.tokens.issue(identity: "eve", room: "show", mode: .receiveOnly, expiresIn: 60)
            #expect(try await server.ask("GET", "/v1/shows/weekly/webhooks", as: .token(token)).refusal == "403/20106")

            try await server.makeRoom("other")
            _ = try await server.ask("POST", "/v1/shows/weekly/episodes", "{}")
            _ = try await server.ask("POST", "/v1/shows/weekly/episodes/current/open")
            _ = try await server.ask("POST", "/v1/shows/weekly/episodes/current/end")
            func rooms(_ webhook: WebhookResource) async throws -> Set<String> {
                let answer = try await server.ask("GET", "/v1/webhooks/\(webhook.id)/deliveries")
                return Set(try answer.decode(WebhookDeliveryList.self).deliveries.map(\.room))
            }
            #expect(try await eventually { try await rooms(all) == ["other", "weekly"] })
            #expect(try await eventually { try await rooms(made) == ["weekly"] })
            observation.cancel()

            _ = try await server.ask("POST", "/v1/shows/weekly/copy", #"{"name":"daily"}"#)
            #expect(try await list("daily").isEmpty)
            #expect(try await server.ask("DELETE", "/v1/shows/weekly").status == 204)
            #expect(try await server.ask("GET", "/v1/webhooks/\(made.id)").refusal == "404/404")
            // Nor does it come back with the database.
            #expect(try server.webhooks.outbox.store.endpoints().map(\.endpoint.id) == [all.id])
        }
    }

    @Test("A webhook of a show has no room, and needs a show that exists")
    func refusedOfShow() async throws {
        try await ControlServer.run { (server) async throws in
            _ = try await server.ask("POST", "/v1/shows", #"{"name":"weekly"}"#)
            let none = #"{"url":"https://hooks.example","show":"none"}"#
            #expect(try await server.ask("POST", "/v1/webhooks", none).refusal == "404/53420")
            let both = #"{"url":"https://hooks.example","show":"weekly","room":"other"}"#
            #expect(try await server.ask("POST", "/v1/webhooks", both).refusal == "400/3073")
            let made = try await make(server, #"{"url":"https://hooks.example","show":"weekly"}"#)
            let path = "/v1/webhooks/\(made.id)"
            #expect(try await server.ask("PATCH", path, #"{"room":"other"}"#).refusal == "400/3073")
            let changed = try await server.ask("PATCH", path, #"{"room":null,"description":"billing"}"#)
            #expect(try changed.decode(WebhookResource.self).show == "weekly")
        }
    }

    @Test("A test returns its result")
    func test() async throws {
        try await ControlServer.run { (server) async throws in
            let made = try await make(server)
            let attempt = try await server.ask("POST", "/v1/webhooks/\(made.id)/test").decode(
                WebhookAttemptResource.self
            )
            #expect(attempt.outcome == "forbidden" && attempt.status == nil && attempt.number == 1)
        }
    }

    @Test("Delivered events equal those of the stream and the reports; events for a single reader are not delivered")
    func vocabulary() async throws {
        let all = WebhookEventType.subscribable.map(\.rawValue)
        #expect(all.contains("participant.joined") && all.contains("broadcast.summary"))
        #expect(all.contains("host.joined") && Set(all).count == all.count)
        for name in ["room.snapshot", "heartbeat", "session.disconnected", "viewership.updated", "webhook.test"] {
            #expect(!all.contains(name))
        }
        try await ControlServer.run { (server) async throws in
            let routes = server.routes()
            let room = try await server.makeRoom()
            func event(_ payload: StageEvent.Payload) -> StageEvent {
                StageEvent(roomSID: room.sid, roomName: "show", revision: 3, payload: payload, at: 1)
            }
            let pin = PinChange(participantSID: "PA1", pin: nil, viewerSID: nil)
            let received = try #require(routes.webhookEvents.webhookEvent(of: event(.pinChanged(pin))))
            #expect(
                received.type == .stream(.pinChanged) && received.room == .init(sid: room.sid, name: "show")
                    && received.at == 1
            )
            let data = try WireJSON.decode(EventResource.self, from: received.data())
            #expect(data.type == "pin.changed" && data.rev == 3 && data.participantSID == "PA1")
            let named = try #require(routes.webhookEvents.webhookEvent(of: event(.pinChanged(pin)), as: .hostJoined))
            #expect(named.type == .webhook(.hostJoined))
            #expect(try named.data() == received.data())
            let own = PinChange(participantSID: "PA1", pin: nil, viewerSID: "PA2")
            #expect(routes.webhookEvents.webhookEvent(of: event(.pinChanged(own))) == nil)
            let figures = RoomViewership(room: "show", concurrent: 4, peak: 12, asOf: 60)
            let update = AudienceUpdate(counts: RoomCounts()) { figures }
            #expect(routes.webhookEvents.webhookEvent(of: event(.viewershipUpdated(update))) == nil)

            let minute = try WireJSON.decode(
                ViewershipResource.self,
                from: routes.webhookEvents.minuteEvent(of: figures).data()
            )
            #expect(minute.concurrentViewers == 4 && minute.peakConcurrentViewers == 12)
            let threshold = routes.webhookEvents.thresholdEvent(10, of: figures)
            #expect(
                threshold.type == .webhook(.viewershipThreshold) && threshold.room?.sid == room.sid
                    && threshold.at == 60
            )
            #expect(try WireJSON.decode(ThresholdResource.self, from: threshold.data()).threshold == 10)
        }
    }

    @Test("The summary of a broadcast equals its report, and is not read without subscribers")
    func summary() async throws {
        try await ControlServer.run { (server) async throws in
            let routes = server.routes()
            let broadcast = BroadcastRow(
                epoch: 5,
                room: "show",
                roomSID: "RM1",
                began: 60_000,
                ended: 120_000,
                onAir: 60_000,
                peak: 9
            )
            server.history.rows.withLock {
                $0.broadcasts = [broadcast]
                $0.peaks = [nil: SettledPeak(viewers: 7, at: 70_000)]
            }
            let event = try await routes.webhookEvents.summaryEvent(of: broadcast, in: server.history, mark: ("m", 1)) {
                _ in true
            }
            #expect(event.type == .webhook(.broadcastSummary) && event.at == 120 && event.mark?.value == 1)
            let summary = try WireJSON.decode(ViewershipSummary.self, from: event.data())
            #expect(
                summary.peakViewers == 7 && summary.livePeakViewers == 9 && summary.settled
                    && summary.onAirSeconds == 60
            )
            server.history.rows.withLock { $0.isUnavailable = true }
            let unwanted = try await routes.webhookEvents.summaryEvent(
                of: broadcast,
                in: server.history,
                mark: ("m", 1)
            ) { _ in false
            }
            #expect(unwanted.mark?.value == 1)
        }
    }
}
