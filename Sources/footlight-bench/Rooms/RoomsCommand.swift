import ArgumentParser
import Foundation
import Media
import NIOCore
import NIOPosix
import TestSupport

struct RoomsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rooms",
        abstract: "Measures memory, processor time and event delay with many rooms, participants and event streams.",
        discussion: """
            Every participant is in the audience and reads its room's events with its own session, as an app does, and \
            sends heartbeats. No room has a host, so that no mixer runs.
            """
    )

    @Option(help: "Rooms.")
    var rooms = 200

    @Option(help: "Participants of each room, each with an event stream.")
    var participants = 10

    @Option(help: "Changes per second over all rooms; each is sent to every reader of its room.")
    var rate = 100

    @Option(help: "Seconds of the measurement.")
    var seconds = 20

    @OptionGroup var program: GatewayProgram

    func run() async throws {
        let gateway = try await program.start()
        defer { gateway.end() }
        let pid = gateway.endpoints.pid
        let bare = try unwrap(RunningProcess.residentBytes(of: pid))
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let token = try gateway.operatorToken
        let connections = try await RequestPipeline(port: gateway.endpoints.httpPort, token: token, group: group)
        let readers = EventReaders()
        for room in 0..<rooms {
            try await gateway.makeRoom("room-\(room)")
        }
        let empty = try unwrap(RunningProcess.residentBytes(of: pid))
        var members: [RoomMember] = []
        for room in 0..<rooms {
            for participant in 0..<participants {
                let member = try await join("p\(participant)", room: "room-\(room)", gateway)
                try await readers.open(member.eventsPath, port: gateway.endpoints.httpPort, token: token, group: group)
                members.append(member)
            }
        }
        let full = try unwrap(RunningProcess.residentBytes(of: pid))
        let heartbeats = Task { [members] in await sendHeartbeats(members, over: connections) }
        try await Task.sleep(for: .seconds(2))

        let before = try unwrap(RunningProcess.processorSeconds(of: pid))
        let start = MonotonicTime.now()
        readers.reset()
        let changes = try await change(members, over: connections)
        let elapsed = MonotonicTime.now().seconds(since: start)
        let used = try unwrap(RunningProcess.processorSeconds(of: pid)) - before
        // Wait for the events of the last changes.
        try await Task.sleep(for: .seconds(1))
        heartbeats.cancel()
        let figures = readers.figures
        guard connections.areOpen else { throw ToolFailure("the gateway closed a connection") }

        print("\(rooms) rooms of \(participants), \(members.count) readers, \(rate) changes a second\n")
        var table = Table("figure", "value")
        table.add(["memory of the bare gateway, MiB", mebibytes(bare)])
        table.add(["with rooms, MiB", mebibytes(empty)])
        table.add(["with participants and their readers, MiB", mebibytes(full)])
        table.add(["KiB a participant with its reader", (Double(full - empty) / 1024 / Double(members.count)).text(1)])
        table.add(["CPU ms a second", (used / elapsed * 1000).text(1)])
        table.add(["changes made", "\(changes)"])
        table.add(["events due and delivered", "\(changes * participants) and \(figures.delays.values.count)"])
        table.add(["delay of an event, median ms", figures.delays.median.text(2)])
        table.add(["delay of an event, 99 % ms", figures.delays.percentile(99).text(2)])
        table.add(["delay of an event, largest ms", figures.delays.largest.text(2)])
        table.add(["streams that ended, requests refused", "\(figures.ended) and \(connections.refused)"])
        table.printOut()
        print("\ndelay is from sending the change to reading the event, in one process; it includes the request")
        try await group.shutdownGracefully()
    }

    private func join(_ identity: String, room: String, _ gateway: GatewayProcess) async throws -> RoomMember {
        let reply = try await gateway.api(
            "POST",
            "/v1/rooms/\(room)/participants",
            ["identity": .string(identity), "mode": "RECV_ONLY"]
        )
        try expect(reply, "adding a participant")
        guard let session = reply.json["session_id"].string else {
            throw ToolFailure("a join without a session", log: reply.text)
        }
        return RoomMember(room: room, identity: identity, session: session)
    }

    /// Renames participants in turn at the given rate; the new name is the time at which it was sent.
    private func change(_ members: [RoomMember], over connections: RequestPipeline) async throws -> Int {
        let start = MonotonicTime.now()
        let total = rate * seconds
        for number in 0..<total {
            let due = start.advanced(milliseconds: Int64(number) * 1000 / Int64(rate))
            let wait = due.seconds(since: .now())
            if wait > 0 { try await Task.sleep(for: .seconds(wait)) }
            // A stride that no count of participants divides, so that consecutive changes are in different rooms.
            let member = members[number * 7919 % members.count]
            connections.send("PATCH", member.path, body: #"{"display_name":"\#(TimeStampedName.now)"}"#)
        }
        return total
    }

    /// Sends every participant's heartbeat every five seconds, evenly spread, until cancelled.
    private func sendHeartbeats(_ members: [RoomMember], over connections: RequestPipeline) async {
        let start = MonotonicTime.now()
        var number = 0
        while !Task.isCancelled {
            let member = members[number % members.count]
            connections.send("POST", member.path + "/heartbeat", body: #"{"session_id":"\#(member.session)"}"#)
            number += 1
            let wait = start.advanced(milliseconds: Int64(number) * 5_000 / Int64(members.count)).seconds(since: .now())
            if wait > 0 { try? await Task.sleep(for: .seconds(wait)) }
        }
    }

    private func unwrap<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw ToolFailure("the gateway is gone") }
        return value
    }

    private func mebibytes(_ bytes: Int) -> String {
        (Double(bytes) / 1_048_576).text(1)
    }
}

/// A display name that holds the time at which it was sent: `t`, nanoseconds of the monotonic clock, `n`.
enum TimeStampedName {
    static var now: String { "t\(MonotonicTime.now().nanoseconds)n" }

    /// Finds the times in `bytes`, which holds complete lines.
    ///
    /// - Parameter body: Called with each time.
    static func scan(_ bytes: ByteBufferView, _ body: (MonotonicTime) -> Void) {
        var index = bytes.startIndex
        while let quote = bytes[index...].firstIndex(of: UInt8(ascii: "\"")) {
            index = bytes.index(after: quote)
            guard index < bytes.endIndex, bytes[index] == UInt8(ascii: "t") else { continue }
            var value: Int64 = 0
            var end = bytes.index(after: index)
            while end < bytes.endIndex, case let digit = bytes[end] &- UInt8(ascii: "0"), digit <= 9, value < 1 << 59 {
                value = value * 10 + Int64(digit)
                end = bytes.index(after: end)
            }
            guard value > 0, end < bytes.endIndex, bytes[end] == UInt8(ascii: "n") else { continue }
            body(MonotonicTime(nanoseconds: value))
        }
    }
}
