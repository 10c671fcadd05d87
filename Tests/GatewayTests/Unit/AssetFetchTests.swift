@testable import Gateway
import NIOCore
import NIOPosix
import Stage
import Testing

@Suite("Assets that are fetched by URL", .timeLimit(.minutes(1)))
struct AssetFetchTests {
    private let anywhere = AssetFetch(allowsPrivateAddresses: true)

    private func fetch(_ url: String, by fetcher: AssetFetch) async throws -> [UInt8] {
        let bytes = try await fetcher.fetch(url: url, on: MultiThreadedEventLoopGroup.singleton.next()).get()
        return Array(bytes.readableBytesView)
    }

    private func refusal(_ url: String, by fetcher: AssetFetch) async -> AssetError.Code? {
        let error = await #expect(throws: AssetError.self, "\(url)") { _ = try await fetch(url, by: fetcher) }
        return error?.code
    }

    @Test("A file comes as it is, also by way of a redirect, and by a name")
    func files() async throws {
        let face = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        let elsewhere = try await SmallWebServer(["/face": .unannounced(face)])
        let server = try await SmallWebServer([
            "/face.png?size=2": .file(face), "/near": .redirect("/face.png?size=2"),
            "/far": .redirect(elsewhere.url("/face")),
        ])
        #expect(try await fetch(server.url("/face.png?size=2"), by: anywhere) == face)
        #expect(try await fetch(server.url("/near"), by: anywhere) == face)
        #expect(try await fetch(server.url("/far"), by: anywhere) == face)
        // It may lead to an address on which nobody listens, too.
        #expect(try await fetch("http://localhost:\(server.port)/near", by: anywhere) == face)
        #expect(elsewhere.asked == ["/face"])
        #expect(await refusal(server.url("/none"), by: anywhere) == .refused)
    }

    @Test("What is too large, or goes round in a circle, is given up")
    func limits() async throws {
        let large = [UInt8](repeating: 7, count: 5 << 20)
        let server = try await SmallWebServer([
            "/largest": .unannounced(large), "/larger": .unannounced(large + [7]), "/announced": .file(large + [7]),
            "/circle": .redirect("/circle"), "/silent": .silence,
        ])
        #expect(try await fetch(server.url("/largest"), by: anywhere).count == large.count)
        #expect(await refusal(server.url("/larger"), by: anywhere) == .tooLarge)
        #expect(await refusal(server.url("/announced"), by: anywhere) == .tooLarge)
        #expect(await refusal(server.url("/circle"), by: anywhere) == .badAddress)
        #expect(server.asked.count { $0 == "/circle" } == 4)
        #expect(await refusal(server.url("/silent"), by: anywhere) == .unreachable)
    }

    @Test("Music may be as large as music that is uploaded")
    func music() async throws {
        let largest = [UInt8](repeating: 7, count: 20 << 20)
        let server = try await SmallWebServer(["/song": .file(largest), "/more": .unannounced(largest + [7])])
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let song = try await anywhere.fetch(url: server.url("/song"), .sound, on: loop).get()
        #expect(song.readableBytes == largest.count)
        let error = await #expect(throws: AssetError.self) {
            _ = try await anywhere.fetch(url: server.url("/more"), .sound, on: loop).get()
        }
        #expect(error?.code == .tooLarge)
    }

    @Test("The gateway's own ports are never asked, and private addresses only where that is allowed")
    func forbidden() async throws {
        let own = try await SmallWebServer(["/secret": .file([1])])
        let server = try await SmallWebServer(["/trap": .redirect(own.url("/secret"))])
        let allowed = AssetFetch(allowsPrivateAddresses: true, ownPorts: [UInt16(own.port)])
        #expect(await refusal(own.url("/secret"), by: allowed) == .forbiddenAddress)
        #expect(await refusal("http://localhost:\(own.port)/secret", by: allowed) == .forbiddenAddress)
        #expect(await refusal(server.url("/trap"), by: allowed) == .forbiddenAddress)
        #expect(server.asked == ["/trap"])
        #expect(await refusal(server.url("/trap"), by: AssetFetch()) == .forbiddenAddress)
        #expect(server.asked == ["/trap"] && own.asked.isEmpty)
    }
}
