import Foundation
import NIOCore

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

extension CInt {
    /// What the system calls the error of this number.
    fileprivate var text: String { String(cString: strerror(self)) }
}
