import Foundation
import NIOCore
import ServiceLifecycle

/// A listener that could not be opened, and where it should have been.
struct ListenError: Error, CustomStringConvertible {
    let listener: String
    let host: String
    let port: Int
    let problem: String

    init(_ listener: String, host: String, port: Int, error: any Error) {
        self.listener = listener
        self.host = host
        self.port = port
        problem = (error as? IOError)?.errnoCode.text ?? String(describing: error)
    }

    var description: String { "\(listener) cannot listen on \(host):\(port): \(problem)" }
}

/// A service that listens; when it cannot, its error says where.
struct Listener<Server: Service>: Service {
    let name: String
    let host: String
    let port: Int
    let server: Server

    func run() async throws {
        do {
            try await server.run()
        } catch let error as IOError {
            throw ListenError(name, host: host, port: port, error: error)
        }
    }
}

extension CInt {
    /// What the system calls the error of this number.
    fileprivate var text: String { String(cString: strerror(self)) }
}
