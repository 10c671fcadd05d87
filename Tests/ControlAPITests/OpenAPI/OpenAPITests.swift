import Foundation
import FootlightModel
import Hummingbird
import Stage
import Testing

@testable import ControlAPI

@Suite("The OpenAPI description")
struct OpenAPITests {
    private static let methods: Set<String> = ["get", "head", "put", "post", "patch", "delete", "options"]

    /// Parsed once, because parsing is slow.
    private static let read = Result { try YAMLText(OpenAPIDocument.text) }

    private func document(_ server: ControlServer) async throws -> YAMLText {
        let answer = try await server.ask("GET", "/v1/openapi.yaml", as: .unauthenticated)
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"]?.hasPrefix("application/yaml") ?? false)
        #expect(answer.text == OpenAPIDocument.text)
        return try Self.read.get()
    }

    @Test("The description is public, and names exactly the paths and methods of the router")
    func routes() async throws {
        try await ControlServer.run { (server) async throws in
            let paths = try #require(try await document(server)["paths"])
            let described = paths.keys.flatMap { path in
                (paths[path]?.keys ?? []).intersection(Self.methods).map { "\($0.uppercased()) \(path)" }
            }
            let served = server.routes().openRouter().routes.map { "\($0.method.rawValue) \($0.path.braced)" }
            // The router answers HEAD wherever GET is.
            let routed = described.filter { !$0.hasPrefix("HEAD ") || !served.contains("GET \($0.dropFirst(5))") }
            #expect(Set(routed) == Set(served))
            #expect(described.count == Set(described).count)
        }
    }

    @Test("Every operation has a unique id, every reference a target, every {name} a parameter")
    func references() async throws {
        try await ControlServer.run { (server) async throws in
            let answer = try await server.ask("GET", "/v1/openapi.yaml", as: .unauthenticated).text
            let document = try YAMLText(answer)
            let ids = answer.matches(of: /operationId: (\w+)/).map { String($0.1) }
            #expect(Set(ids).count == ids.count && ids.count > 40)
            for match in answer.matches(of: /'#\/components\/(\w+)\/(\w+)'/) {
                #expect(document["components", String(match.1), String(match.2)] != nil, "\(match.0)")
            }
            let parameters = try #require(document["components", "parameters"])
            for path in document["paths"]?.keys ?? [] {
                for method in Self.methods {
                    guard let operation = document["paths", path, method] else { continue }
                    guard case .list(let given) = operation["parameters"] ?? .list([]) else {
                        Issue.record("\(path)")
                        continue
                    }
                    let names = given.compactMap { item -> String? in
                        guard case .word(let target)? = item["$ref"], let name = target.split(separator: "/").last,
                            parameters[String(name), "in"] == .word("path"),
                            case .word(let parameter)? = parameters[String(name), "name"]
                        else { return nil }
                        return parameter
                    }
                    let wanted = path.matches(of: /\{(\w+)\}/).map { String($0.1) }
                    #expect(names.sorted() == wanted.sorted(), "\(method) \(path)")
                }
            }
        }
    }

    @Test("The properties of every schema are the encoded fields", arguments: ModelSamples.all)
    func schemas(sample: ModelSamples.Sample) throws {
        let schemas = try #require(try Self.read.get()["components", "schemas"])
        let schema = try #require(schemas[sample.name])
        var properties = schema["properties"]?.keys ?? []
        if case .list(let parts) = schema["allOf"] ?? .list([]) {
            for case .word(let target)? in parts.map({ $0["$ref"] }) {
                let name = target.split(separator: "/").last.map(String.init) ?? target
                properties.formUnion(schemas[name]?["properties"]?.keys ?? [])
            }
        }
        #expect(properties == sample.keys, "\(sample.name)")
        let required = Set(schema["required"]?.words ?? [])
        #expect(required.isSubset(of: sample.keys))
    }

    @Test("The description names exactly the existing events")
    func events() throws {
        let event = try #require(try Self.read.get()["components", "schemas", "EventResource"])
        let names = event["properties"]?["type"]?["enum"]?.words ?? []
        #expect(names.sorted() == StageEvent.Name.allCases.map(\.rawValue).sorted())
    }

    @Test("Every schema has a sample")
    func complete() throws {
        let schemas = try #require(try Self.read.get()["components", "schemas"])
        #expect(schemas.keys == Set(ModelSamples.all.map(\.name)))
    }
}

extension RouterPath {
    /// The path with its parameters in braces.
    var braced: String {
        description.split(separator: "/").map { part in
            part.hasPrefix(":") ? "/{\(part.dropFirst())}" : "/\(part)"
        }.joined()
    }
}
