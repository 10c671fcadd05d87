import ArgumentParser
import Foundation
import Media
import NIOCore
import NIOPosix
import TestSupport

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Measures the processor time of viewership.updated with many event streams of one room.",
        discussion: """
            One member of the audience joins again every second, in place of its last session, so that each reader \
            receives participant.left, participant.joined and viewership.updated.
            """
    )

    @Option(help: "Event streams of the room.")
    var readers = 2000

    @Option(help: "Seconds of the measurement.")
    var seconds = 60

    @OptionGroup var program: GatewayProgram

    func run() async throws {
        let gateway = try await program.start()
        defer { gateway.end() }
        let (pid, port) = (gateway.endpoints.pid, gateway.endpoints.httpPort)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let token = try gateway.operatorToken
        let connections = try await RequestPipeline(port: port, token: token, group: group)
        try await gateway.makeRoom("show")
        let streams = EventReaders(counting: "viewership.updated")
        for _ in 0..<readers {
            try await streams.open("/v1/rooms/show/events", port: port, token: token, group: group)
        }
        try await Task.sleep(for: .seconds(2))

        streams.reset()
        let before = RunningProcess.processorSeconds(of: pid)
        let start = MonotonicTime.now()
        for second in 1...max(seconds, 1) {
            let body = #"{"identity":"member","mode":"RECV_ONLY"}"#
            connections.send("POST", "/v1/rooms/show/participants", body: body)
            let wait = start.advanced(milliseconds: Int64(second) * 1000).seconds(since: .now())
            if wait > 0 { try await Task.sleep(for: .seconds(wait)) }
        }
        let elapsed = MonotonicTime.now().seconds(since: start)
        guard let before, let after = RunningProcess.processorSeconds(of: pid) else {
            throw ToolFailure("the gateway is gone")
        }
        let figures = streams.figures

        print("\(readers) readers of one room, \(elapsed.text(0)) s\n")
        var table = Table("figure", "value")
        table.add(["CPU seconds a minute", ((after - before) / elapsed * 60).text(2)])
        table.add(["viewership.updated delivered", "\(figures.counted)"])
        table.add(["of these for each reader", (Double(figures.counted) / Double(max(readers, 1))).text(2)])
        table.add(["streams that ended, requests refused", "\(figures.ended) and \(connections.refused)"])
        table.printOut()
        try await group.shutdownGracefully()
    }
}
